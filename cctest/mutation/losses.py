"""What the suite has lost since the catalogue of mutants was written: a vector or a case that was taken out.

A mutant would tell only if what was taken out is meant for it. So the catalogue also says how much there is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cctest import bundle, datafile
from cctest.mutation.golden import alterations
from cctest.mutation.mutant import Mutant
from cctest.probe.case import Case
from cctest.vectors.model import Vector


@dataclass(frozen=True, slots=True)
class Census:
    """How many vectors there are, golden values in them, behavioural cases, and checks of these."""

    vectors: int
    golden: int
    cases: int
    checks: int


def load_census(path: Path = bundle.MUTANTS) -> Census:
    """Read what the catalogue says that there is. Raises UsageProblem, with file, line and column."""
    file = datafile.read(path)
    datafile.require(file, datafile.validator("mutants.schema.json"), file.parsed.value)
    content: Any = file.parsed.value
    return Census(**content["suite"])


def census_of(vectors: Sequence[Vector], cases: Sequence[Case]) -> Census:
    """Count what there is."""
    golden = sum(1 for vector in vectors for _ in alterations(vector))
    return Census(len(vectors), golden, len(cases), sum(len(case.checks) for case in cases))


def losses(
    mutants: Sequence[Mutant], census: Census, vectors: Sequence[Vector], cases: Sequence[Case]
) -> Iterator[str]:
    """Say what is missing: checks that are meant for mutants, and whatever the census counts."""
    known = {vector.name for vector in vectors} | {check for case in cases for check in case.checks}
    for name in dict.fromkeys(one.caught_by for one in mutants if one.caught_by not in known):
        if name is not None:
            meant = [mutant.id for mutant in mutants if mutant.caught_by == name]
            yield f"there is no {name}, which is meant for {', '.join(meant)}"
    there = census_of(vectors, cases)
    for member, words in _WORDS.items():
        counted, stated = getattr(there, member), getattr(census, member)
        if counted != stated:
            yield f"there are {counted} {words}, and the catalogue of mutants says {stated} (suite/{member})"


_WORDS = {
    "vectors": "vectors",
    "golden": "golden values",
    "cases": "behavioural cases",
    "checks": "checks of behavioural cases",
}
