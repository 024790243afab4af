"""What is taken out of the suite is missed."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from cctest.mutation.catalogue import load_mutants
from cctest.mutation.losses import census_of, load_census, losses
from cctest.mutation.mutant import Judge, Mutant, Status
from cctest.mutation.session import run
from cctest.mutation.worker import Suite
from cctest.probe.case import Case
from cctest.probe.load import load_cases
from cctest.vectors.load import bundled_vectors
from cctest.vectors.model import Vector

VECTORS, CASES, MUTANTS = bundled_vectors(), load_cases(), load_mutants()
CENSUS = load_census()


def test_the_catalogue_says_how_much_there_is() -> None:
    assert census_of(VECTORS, CASES) == CENSUS
    assert [*losses(MUTANTS, CENSUS, VECTORS, CASES)] == []


def sample() -> list[str]:
    names = [*(vector.name for vector in VECTORS), *(f"case {case.id}" for case in CASES)]
    return random.Random(5).sample(names, 20)


@pytest.mark.parametrize("name", sample())
def test_a_vector_or_case_that_is_taken_out_is_reported(name: str) -> None:
    vectors = [vector for vector in VECTORS if vector.name != name]
    cases = [case for case in CASES if f"case {case.id}" != name]
    assert len(vectors) + len(cases) == len(VECTORS) + len(CASES) - 1
    assert [*losses(MUTANTS, CENSUS, vectors, cases)]


def test_a_check_that_mutants_are_meant_for_is_missed_by_name() -> None:
    case = next(case for case in CASES if case.id == "forbid")
    less = [case.without(["forbid#read-computes"]) if one is case else one for one in CASES]
    told = [*losses(MUTANTS, CENSUS, VECTORS, less)]
    assert "there is no forbid#read-computes, which is meant for" in told[0]
    assert "forbid-ignored" in told[0]


def named(judge: Judge, count: int) -> Iterator[tuple[Mutant, tuple[Vector, ...], tuple[Case, ...]]]:
    """Some mutants of a judge, each with the suite less the vector or case that is meant for it."""
    meant = [mutant for mutant in MUTANTS if mutant.setups[0].judge is judge and not mutant.setups[0].options]
    for mutant in random.Random(6).sample(meant, count):
        name = (mutant.caught_by or "").partition("#")[0]
        yield (
            mutant,
            tuple(vector for vector in VECTORS if vector.name != name),
            tuple(case for case in CASES if case.id != name),
        )


@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("mutant", "vectors", "cases"),
    [*named(Judge.VECTORS, 12), *named(Judge.EMBEDDED, 5), *named(Judge.FORWARDING, 3)],
    ids=lambda value: value.id if isinstance(value, Mutant) else "",
)
def test_without_its_vector_or_case_a_mutant_is_not_killed_as_it_should(
    mutant: Mutant, vectors: tuple[Vector, ...], cases: tuple[Case, ...]
) -> None:
    (told,) = run([mutant], Suite(vectors, cases), lambda _: None, workers=2)[1]
    assert told.status in (Status.SURVIVED, Status.KILLED_BY_ANOTHER)
    whole = replace(mutant, id="again")
    (told,) = run([whole], Suite(VECTORS, CASES), lambda _: None, workers=2)[1]
    assert told.status is Status.KILLED
