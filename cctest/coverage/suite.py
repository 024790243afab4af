"""The suite as coverage sees it: what there is to exercise, and what exercises it."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from cctest.catalogue import Requirement, load_catalogue
from cctest.coverage.topics import Topics, load_topics
from cctest.probe.case import Case
from cctest.probe.load import load_cases
from cctest.vectors.load import bundled_vectors
from cctest.vectors.model import Vector


@dataclass(frozen=True, slots=True)
class Suite:
    """Rules and topics, and the vectors and cases that exercise them."""

    rules: Mapping[str, Requirement]
    topics: Topics
    vectors: tuple[Vector, ...]
    cases: tuple[Case, ...]

    def vectors_of(self, rules: Collection[str]) -> tuple[str, ...]:
        """Name the vectors that exercise one of the rules."""
        return tuple(vector.name for vector in self.vectors if not rules_of(vector).isdisjoint(rules))

    def checks_of(self, rules: Collection[str]) -> tuple[str, ...]:
        """Name the checks of cases that judge one of the rules."""
        return tuple(
            check
            for case in self.cases
            for check, judged in judging(case)
            if not frozenset(judged).isdisjoint(rules)
        )


def bundled_suite() -> Suite:
    """Give the suite that ships with cctest. Raises UsageProblem where its files are unsound."""
    return Suite(load_catalogue(), load_topics(), bundled_vectors(), load_cases())


def rules_of(vector: Vector) -> frozenset[str]:
    """The rules that a vector names."""
    return frozenset(vector.rules)


def judging(case: Case) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Pair each check of a case with the rules that it judges."""
    for check, expectation in zip(case.checks, case.expectations, strict=True):
        yield check, expectation.rules


def cases_with(checks: Iterable[str]) -> tuple[str, ...]:
    """Name the cases that checks belong to, in order and once each."""
    return tuple(dict.fromkeys(check.partition("#")[0] for check in checks))
