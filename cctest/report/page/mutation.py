"""The result of `cctest mutate` as the page shows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cctest import datafile
from cctest.problem import UsageProblem

KILLED: Final = "killed"
GENERATED: Final = "generated"
"""The family of mutants that no catalogue names; those that were killed are only counted."""

_WHAT: Final = "result of `cctest mutate`"
_HINT: Final = "`cctest mutate --json FILE` writes one"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change made on purpose. `caught_by` is the check that is to fail, if one is named; `failed` did.

    `argument` says why a survivor need not be killed.
    """

    id: str
    family: str
    rules: tuple[str, ...]
    inverts: str
    where: str
    status: str
    caught_by: str
    failed: tuple[str, ...]
    argument: str


@dataclass(frozen=True, slots=True)
class Figures:
    """How many mutants of a family there are, by status, and the part that was killed, from 0 to 1."""

    family: str
    total: int
    score: float | None
    statuses: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A mutation run. `passed` counts the checks that held without any mutant, by setup."""

    passed: Mapping[str, int]
    notes: tuple[str, ...]
    figures: tuple[Figures, ...]
    mutants: tuple[Mutant, ...]

    @property
    def left(self) -> tuple[Mutant, ...]:
        """The mutants that weren't killed by the check that they are for."""
        return tuple(mutant for mutant in self.mutants if mutant.status != KILLED)

    @property
    def named(self) -> tuple[Mutant, ...]:
        """The mutants of the catalogue."""
        return tuple(mutant for mutant in self.mutants if mutant.family != GENERATED)


def load_mutation(path: Path) -> Mutation:
    """Read what `cctest mutate --json` wrote. Raises UsageProblem for a file that isn't that."""
    document = datafile.read_json(path, what=_WHAT, hint=_HINT)
    try:
        return Mutation(
            {each["setup"]: int(each["passed"]) for each in document["baseline"]},
            tuple(document["notes"]),
            tuple(_figures(family, members) for family, members in document["summary"].items()),
            tuple(_mutant(members) for members in document["mutants"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageProblem(f"is no {_WHAT}", where=str(path), hint=_HINT) from None


def _figures(family: str, members: Mapping[str, Any]) -> Figures:
    there = {status: count for status, count in members["statuses"].items() if count}
    return Figures(family, int(members["total"]), members["score"], there)


def _mutant(members: Mapping[str, Any]) -> Mutant:
    argument = members["argument"]
    return Mutant(
        id=members["id"],
        family=members["family"],
        rules=tuple(members["rules"]),
        inverts=members["inverts"] or members["was"] + " becomes " + members["becomes"],
        where=members["where"],
        status=members["status"],
        caught_by=members["caught_by"] or "",
        failed=tuple(dict.fromkeys(finding["check"] for finding in members["failed"])),
        argument="" if argument is None else f"{argument['kind']}: {argument['why']}",
    )
