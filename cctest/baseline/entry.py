"""Entries of a baseline, and how they stand after a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from cctest.verdict import Check, Result


@dataclass(frozen=True, slots=True)
class Entry:
    """One known result that isn't a pass.

    `cell` narrows it to the cells that hold these values; without one it covers every cell of the check.
    It holds up to and including the day `expires`. `where` names file, line and column.
    """

    check: str
    result: Result
    reason: str
    link: str
    expires: date
    cell: Mapping[str, str] = field(default_factory=dict)
    where: str = ""

    def covers(self, check: Check) -> bool:
        """Whether the entry speaks of this check in this cell, whatever its result."""
        return check.id == self.check and self.cell.items() <= check.cell.items()


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with an entry, in words."""

    entry: Entry
    why: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How a baseline stands after a run.

    `known` are the checks that an entry expected to end as they did. An entry is in `stale` if its check
    came out otherwise or wasn't run where everything was, in `unknown` if there is no such check or cell, in
    `expired` if its day is over.
    """

    file: str
    known: tuple[tuple[Check, Entry], ...] = ()
    stale: tuple[Flaw, ...] = ()
    unknown: tuple[Flaw, ...] = ()
    expired: tuple[Flaw, ...] = ()

    @property
    def flaws(self) -> tuple[Flaw, ...]:
        """Every entry that fails the run."""
        return (*self.stale, *self.unknown, *self.expired)

    def entry_for(self, check: Check) -> Entry | None:
        """The entry by which this very check was known."""
        return next((entry for known, entry in self.known if known is check or known == check), None)

    def remaining(self, checks: Sequence[Check]) -> tuple[Check, ...]:
        """The checks that nobody knew of."""
        known = {_key(check) for check, _ in self.known}
        return tuple(check for check in checks if _key(check) not in known)


def _key(check: Check) -> tuple[str, frozenset[tuple[str, str]]]:
    return check.id, frozenset(check.cell.items())
