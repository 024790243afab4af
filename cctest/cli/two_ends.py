"""The options that put an instrumented engine behind the target, whose record is evidence."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from cctest.instrument.client import running_engine

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Ends:
    """The engines in hand: `record` is the URL of an instrumented one, `bundled` the bundled gateway's."""

    record: str | None = None
    bundled: str | None = None


@dataclass(frozen=True, slots=True)
class ChosenEngine:
    """What the command line says about the engine.

    `record` is the URL of an instrumented engine that runs, `start` the address at which to start one. With
    `backend` vllm the bundled gateway forwards to `behind`, or else to an instrumented engine of the run's.
    """

    record: str | None
    start: tuple[str, int] | None
    backend: str
    behind: str | None

    def check(self, *, bundled: bool) -> None:
        """Refuse what doesn't go together. Raises click's UsageError."""
        if self.record is not None and self.start is not None:
            raise click.UsageError("--engine and --start-engine exclude each other")
        if not bundled and (self.backend != "embedded" or self.behind is not None):
            raise click.UsageError("--backend and --engine-url go with --bundled")
        if bundled and self.backend == "embedded" and (self.record or self.start or self.behind):
            raise click.UsageError("the embedded backend has no engine behind it: give --backend vllm")

    @property
    def two_ended(self) -> bool:
        """Whether an instrumented engine will be attached."""
        return self.record is not None or self.start is not None or self._own

    @property
    def _own(self) -> bool:
        return self.backend == "vllm" and self.behind is None

    @contextmanager
    def opened(self) -> Iterator[Ends]:
        """Give the engines of a run, started if need be."""
        if self.start is not None:
            host, port = self.start
            with running_engine(host=host, port=port) as url:
                yield Ends(url, self._forwarded_to(url))
        elif self._own and self.record is None:
            with running_engine() as url:
                yield Ends(url, url)
        else:
            yield Ends(self.record, self._forwarded_to(self.record))

    def _forwarded_to(self, record: str | None) -> str | None:
        return (self.behind or record) if self.backend == "vllm" else None


def _address(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, int] | None:
    if value is None:
        return None
    host, _colon, port = value.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise click.BadParameter("must be HOST:PORT, for example 127.0.0.1:9000")
    return host.strip("[]"), int(port)


def engine_options(command: _F) -> Callable[..., Any]:
    """Add --engine, --start-engine, --backend and --engine-url to a command, which gets `engine`."""

    @functools.wraps(command)
    def gathered(
        *,
        record: str | None,
        start: tuple[str, int] | None,
        backend: str,
        behind: str | None,
        **others: Any,
    ) -> Any:
        return command(engine=ChosenEngine(record, start, backend, behind), **others)

    wrapped: Callable[..., Any] = gathered
    for option in (
        click.option("--engine-url", "behind", metavar="URL", help="With --backend vllm: the engine behind."),
        click.option(
            "--backend",
            type=click.Choice(["embedded", "vllm"]),
            default="embedded",
            help="With --bundled: the gateway's backend; vllm forwards, to a `cctest engine` by default.",
        ),
        click.option(
            "--start-engine",
            "start",
            metavar="HOST:PORT",
            callback=_address,
            help="Start an instrumented engine there for the run; the target must forward to it.",
        ),
        click.option(
            "--engine",
            "record",
            metavar="URL",
            help="A `cctest engine` that runs behind the target; its record is evidence.",
        ),
    ):
        wrapped = option(wrapped)
    return wrapped
