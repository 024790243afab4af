"""The options that put an instrumented engine behind the target, whose record is evidence."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from cctest.instrument.client import running_engine
from cctest.instrument.settings import Settings
from cctest.probe.bundled import BACKENDS, BY_ITSELF, EMBEDDED, FORWARDING, Bundled

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Ends:
    """What is in hand: `record` is an instrumented engine's URL, `gateway` how to run the bundled one."""

    record: str | None = None
    gateway: Bundled = BY_ITSELF


@dataclass(frozen=True, slots=True)
class ChosenEngine:
    """What the command line says about the engine.

    `record` is the URL of an instrumented engine that runs, `start` the address at which to start one. With
    `backend` vllm the bundled gateway forwards to `behind`, or else to an instrumented engine of the run's.
    `options` are more options of the bundled gateway's. `regions` tells that the run's engine has them.
    """

    record: str | None
    start: tuple[str, int] | None
    backend: str
    behind: str | None
    options: tuple[str, ...] = ()
    regions: bool = False

    def check(self, *, bundled: bool) -> None:
        """Refuse what doesn't go together. Raises click's UsageError."""
        if self.record is not None and self.start is not None:
            raise click.UsageError("--engine and --start-engine exclude each other")
        if not bundled and (self.backend != EMBEDDED or self.behind is not None or self.options):
            raise click.UsageError("--backend, --engine-url and --serve-option go with --bundled")
        if bundled and self.backend != FORWARDING and (self.record or self.start or self.behind):
            raise click.UsageError(f"the {self.backend} backend has no engine behind it: give --backend vllm")

        if self.regions and self.start is None and not (self._own and self.record is None):
            raise click.UsageError("--engine-regions is about an engine that the run starts itself")

    @property
    def two_ended(self) -> bool:
        """Whether an instrumented engine will be attached."""
        return self.record is not None or self.start is not None or self._own

    @property
    def _own(self) -> bool:
        return self.backend == FORWARDING and self.behind is None

    @contextmanager
    def opened(self) -> Iterator[Ends]:
        """Give the engines of a run, started if need be."""
        settings = Settings(regions=self.regions)
        if self.start is not None:
            host, port = self.start
            with running_engine(settings, host=host, port=port) as url:
                yield Ends(url, self._gateway(url))
        elif self._own and self.record is None:
            with running_engine(settings) as url:
                yield Ends(url, self._gateway(url))
        else:
            yield Ends(self.record, self._gateway(self.record))

    def _gateway(self, record: str | None) -> Bundled:
        engine = (self.behind or record) if self.backend == FORWARDING else None
        return Bundled(self.backend, engine, self.options)


def _address(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, int] | None:
    if value is None:
        return None
    host, _colon, port = value.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise click.BadParameter("must be HOST:PORT, for example 127.0.0.1:9000")
    return host.strip("[]"), int(port)


def engine_options(command: _F) -> Callable[..., Any]:
    """Add --engine, --start-engine, --backend and what belongs to them to a command, which gets `engine`."""

    @functools.wraps(command)
    def gathered(
        *,
        record: str | None,
        start: tuple[str, int] | None,
        backend: str,
        behind: str | None,
        options: tuple[str, ...],
        regions: bool,
        **others: Any,
    ) -> Any:
        return command(engine=ChosenEngine(record, start, backend, behind, options, regions), **others)

    wrapped: Callable[..., Any] = gathered
    for option in (
        click.option(
            "--serve-option",
            "options",
            metavar="OPTION",
            multiple=True,
            help="With --bundled: one more option for reference-gateway serve, such as"
            " --serve-option=--on-unenforceable=reject; as often as needed.",
        ),
        click.option("--engine-url", "behind", metavar="URL", help="With --backend vllm: the engine behind."),
        click.option(
            "--backend",
            type=click.Choice(BACKENDS),
            default=EMBEDDED,
            help="With --bundled: the gateway's backend; vllm forwards, to a `cctest engine` by default.",
        ),
        click.option(
            "--engine-regions",
            "regions",
            is_flag=True,
            help="The engine that is started for the run takes several salts in one request.",
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
