"""What a fault and a conforming variant are, as data."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType
from typing import TypeAlias

from cctest.verdict import Result

Patch: TypeAlias = Callable[[], None]


class Word(StrEnum):
    """What the faulty implementation says in its `cache_status` about the fault."""

    HONEST = "honest"
    """The status tells what really happened."""
    LIES = "lies"
    """The status tells something else than what happened."""
    SILENT = "silent"
    """There is nothing that the status would have to say."""


class Backend(StrEnum):
    """What the gateway stands in front of; the values are those of its option."""

    EMBEDDED = "embedded"
    FORWARDING = "vllm"
    """An instrumented engine, whose record the probe reads."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One broken rule in one place.

    `wrong` says in a sentence what is broken. Each of `checks` (`case#expectation`) must come to `result` in
    every cell that agrees with one of `cells`, and in no other; without `cells` it must in all of them. A
    check of level SHOULD comes to a warning, whatever `result` says. `rules` are those that the fault breaks:
    nothing may fail that rests on none of them. `public` is the number of the fault in the public collection,
    where it really happened.
    """

    id: str
    wrong: str
    rules: tuple[str, ...]
    checks: tuple[str, ...]
    status: Word
    patch: Patch
    cells: tuple[Mapping[str, str], ...] = ()
    public: str | None = None
    result: Result = Result.FAIL
    backend: Backend = Backend.EMBEDDED

    def shows_in(self, cell: Mapping[str, str]) -> bool:
        """Whether the fault must show in this cell."""
        return not self.cells or any(shown.items() <= cell.items() for shown in self.cells)


@dataclass(frozen=True, slots=True)
class Variant:
    """A conforming implementation that differs from ours. `readings` are those that it takes otherwise.

    `reuses` is false where no isolation check can pass plainly, since no reuse ever shows.
    `jobs` is how many exchanges the probe may have under way. Its patch fits all of `backends`.
    """

    id: str
    differs: str
    patch: Patch
    readings: tuple[str, ...] = ()
    reuses: bool = True
    jobs: int = 4
    backends: tuple[Backend, ...] = (Backend.EMBEDDED,)


def fault(
    *,
    rules: Iterable[str],
    checks: Iterable[str],
    status: Word = Word.HONEST,
    cells: Iterable[Mapping[str, str]] = (),
    public: str | None = None,
    result: Result = Result.FAIL,
    backend: Backend = Backend.EMBEDDED,
) -> Callable[[Patch], Fault]:
    """Make a fault of the patch that follows: named after it, explained by its docstring."""

    def declare(patch: Patch) -> Fault:
        return Fault(
            id=_named(patch),
            wrong=_explained(patch),
            rules=tuple(rules),
            checks=tuple(checks),
            status=status,
            patch=patch,
            cells=tuple(cells),
            public=public,
            result=result,
            backend=backend,
        )

    return declare


def conforming(
    *,
    readings: Iterable[str] = (),
    reuses: bool = True,
    jobs: int = 4,
    backends: Iterable[Backend] = (Backend.EMBEDDED,),
) -> Callable[[Patch], Variant]:
    """Make a conforming variant of the patch that follows."""

    def declare(patch: Patch) -> Variant:
        return Variant(
            _named(patch), _explained(patch), patch, tuple(readings), reuses, jobs, tuple(backends)
        )

    return declare


def faults_of(module: ModuleType) -> list[Fault]:
    """Give the faults that a module declares, in its order."""
    return [value for value in vars(module).values() if isinstance(value, Fault)]


def variants_of(module: ModuleType) -> list[Variant]:
    """Give the conforming variants that a module declares, in its order."""
    return [value for value in vars(module).values() if isinstance(value, Variant)]


def _named(patch: Patch) -> str:
    return patch.__name__.replace("_", "-")


def _explained(patch: Patch) -> str:
    if not patch.__doc__:
        raise ValueError(f"{patch.__name__} doesn't say in a docstring what it changes")
    return " ".join(patch.__doc__.split())
