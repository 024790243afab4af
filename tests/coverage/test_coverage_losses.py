"""A vector, a case or a check that is taken out of the suite is missed, by what earlier runs had."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from cctest.coverage.compute import cover
from cctest.coverage.suite import Suite, bundled_suite
from cctest.probe.documents import GROUP as DOCUMENTS
from cctest.report.model import Report
from cctest.report.recorded import load_report
from cctest.vectors.generated import generate
from cctest.vectors.run import run_vectors
from cctest.verdict import decide

REPORTS = Path(__file__).resolve().parents[2] / "reports"
EARLIER = "0" * 64


@pytest.fixture(scope="module")
def suite() -> Suite:
    return bundled_suite()


@pytest.fixture(scope="module")
def runs() -> list[tuple[str, Report]]:
    """Runs of the suite that is in reports/, as of an earlier suite than the one that lacks something."""
    names = ("vectors", "probe-forwarding")
    return [(name, replace(load_report(REPORTS / f"{name}.json"), suite_digest=EARLIER)) for name in names]


def gaps(suite: Suite, runs: list[tuple[str, Report]]) -> list[tuple[str, str]]:
    return [(gap.name, gap.message) for gap in cover(suite, runs).gaps]


def test_nothing_is_missed_while_all_is_there(suite: Suite, runs: list[tuple[str, Report]]) -> None:
    assert gaps(suite, runs) == []


def test_each_of_twenty_that_are_taken_out_is_missed(suite: Suite, runs: list[tuple[str, Report]]) -> None:
    drawn = random.Random(5)
    for vector in drawn.sample(suite.vectors, 10):
        left = tuple(other for other in suite.vectors if other is not vector)
        found = gaps(replace(suite, vectors=left), runs)
        assert (f"vector {vector.name}", "was in the run vectors, and the suite no longer has it") in found
    for case in drawn.sample([case for case in suite.cases if case.group != DOCUMENTS], 10):
        remaining = tuple(other for other in suite.cases if other is not case)
        found = gaps(replace(suite, cases=remaining), runs)
        assert (f"case {case.id}", "was in the run probe-forwarding, and the suite no longer has it") in found


def test_a_single_check_is_missed_too(suite: Suite, runs: list[tuple[str, Report]]) -> None:
    gone = "tenant-boundary#foreigner-computes"
    found = gaps(replace(suite, cases=tuple(case.without([gone]) for case in suite.cases)), runs)
    assert [name for name, _ in found] == [f"check {gone}"]


def test_vectors_of_ones_own_are_no_loss(suite: Suite, runs: list[tuple[str, Report]]) -> None:
    (name, report), _ = runs
    own = tuple(replace(check, id=f"my-{check.id}") for check in report.checks)
    of_this_suite = Report("vectors", report.started, 1.0, report.verdict, own)
    assert gaps(suite, [(name, of_this_suite)]) == []


def test_a_rule_that_a_vector_or_a_check_no_longer_names_is_missed(
    suite: Suite, runs: list[tuple[str, Report]]
) -> None:
    drawn = random.Random(6)
    for vector in drawn.sample([vector for vector in suite.vectors if len(vector.rules) > 1], 3):
        lost, *rest = vector.rules
        other = replace(vector, rules=tuple(rest))
        vectors = tuple(other if each is vector else each for each in suite.vectors)
        told = f"was tied to {lost} in the run vectors, and no longer names it"
        assert (f"vector {vector.name}", told) in gaps(replace(suite, vectors=vectors), runs)
    case = next(case for case in suite.cases if case.id == "tenant-boundary")
    rules = case.expectations[-1].rules
    shorn = replace(case.expectations[-1], rules=rules[1:])
    without = replace(case, expectations=(*case.expectations[:-1], shorn))
    cases = tuple(without if each is case else each for each in suite.cases)
    told = f"was tied to {rules[0]} in the run probe-forwarding, and no longer names it"
    assert (f"check {case.checks[-1]}", told) in gaps(replace(suite, cases=cases), runs)


def test_generated_vectors_are_no_loss(suite: Suite) -> None:
    checks, _, _ = run_vectors(generate(1))
    earlier = Report("vectors", "2026-01-01T00:00:00Z", 1.0, decide(checks), checks, suite_digest=EARLIER)
    assert gaps(suite, [("vectors", earlier)]) == []
