"""What a run shows of each rule: by which evidence, or why not."""

from typing import Any

import pytest

from cctest.coverage.compute import cover
from cctest.coverage.model import Coverage, Reason, Row, State
from cctest.coverage.suite import Suite, bundled_suite
from cctest.report.coverage_words import evidence_words, summary_lines, together_line
from cctest.report.model import Report
from cctest.verdict import Check, Evidence, Exit, Outcome, Result, Source, Verdict, decide


@pytest.fixture(scope="module")
def suite() -> Suite:
    return bundled_suite()


def check(result: Result, *sources: Source, rule: str = "RET-3", message: str = "said") -> Check:
    evidence = tuple(Evidence(source, "seen") for source in sources)
    return Check("max-age-read#late-computes", (rule,), result, message, evidence=evidence)


def run(suite: Suite, *checks: Check, command: str = "probe", **members: Any) -> Coverage:
    report = Report(command, "2026-12-01T04:05:06+00:00", 1.0, decide(checks), checks, **members)
    return cover(suite, [("a run", report)])


def rule(coverage: Coverage, name: str) -> Row:
    (row,) = (each.row for each in coverage.rules if each.rule.id == name)
    return row


def test_a_rule_is_tested_once_a_check_was_decided(suite: Suite) -> None:
    passed = check(Result.PASS, Source.STATUS, Source.ENGINE, Source.ENGINE)
    (shown,) = rule(run(suite, passed, check(Result.INCONCLUSIVE)), "RET-3").tested
    assert (shown.state, shown.word) == (State.TESTED, "pass")
    assert shown.results == {Result.PASS: 1, Result.INCONCLUSIVE: 1}
    assert evidence_words(shown) == "engine 1, status 1"
    assert shown.reasons == (Reason("said", Result.INCONCLUSIVE, 1),)


def test_one_failure_outweighs_every_pass(suite: Suite) -> None:
    coverage = run(suite, check(Result.PASS), check(Result.WARN), check(Result.FAIL))
    (shown,) = rule(coverage, "RET-3").tested
    assert shown.word == "fail"
    assert next(summary_lines(coverage)).startswith("1 of 88 rules tested; 1 of them failing (RET-3); ")


def test_what_the_target_does_not_offer_is_quoted(suite: Suite) -> None:
    quotation = "capabilities: constraints.retention_max_age is absent"
    (shown,) = rule(run(suite, check(Result.UNSUPPORTED, message=quotation)), "RET-3").tested
    assert shown.state is State.UNSUPPORTED
    assert shown.reasons == (Reason(quotation, Result.UNSUPPORTED, 1),)


@pytest.mark.parametrize("result", [Result.INCONCLUSIVE, Result.ERROR])
def test_missing_evidence_tests_nothing(suite: Suite, result: Result) -> None:
    checks = [check(result, Source.USAGE), check(Result.UNSUPPORTED)]
    (shown,) = rule(run(suite, *checks), "RET-3").tested
    assert (shown.state, shown.evidence) == (State.UNDECIDED, {})


def test_why_no_check_ran_is_told(suite: Suite) -> None:
    def why(coverage: Coverage, name: str) -> str:
        (shown,) = rule(coverage, name).tested
        assert shown.state is State.NOT_RUN
        return shown.reasons[0].message

    probed = run(suite, check(Result.PASS))
    assert why(probed, "RET-2") == "only vectors exercise it"
    assert why(probed, "INT-13") == "it takes an instrumented engine behind the target (--engine)"
    assert why(probed, "BND-9") == "its checks weren't in the run"
    computed = run(suite, check(Result.PASS), command="vectors")
    assert why(computed, "BND-9") == "no vector exercises it: it takes a probe"
    assert why(computed, "DIG-1") == "its vectors weren't in the run"
    verdict = Verdict(Outcome.INCOMPLETE, Exit.INCOMPLETE, ("the model is unknown there",))
    nothing = Report("probe", "2026-12-01T04:05:06+00:00", 1.0, verdict, ())
    assert why(cover(suite, [("a run", nothing)]), "BND-9") == "the model is unknown there"


def test_a_rule_that_nobody_can_observe_is_never_tested(suite: Suite) -> None:
    coverage = run(suite, check(Result.PASS, Source.ENGINE, rule="SEC-2"))
    (shown,) = rule(coverage, "SEC-2").tested
    assert (shown.state, shown.results) == (State.UNOBSERVABLE, {Result.PASS: 1})
    assert shown.reasons == (Reason(suite.rules["SEC-2"].because or ""),)
    assert next(summary_lines(coverage)).startswith("0 of 88 rules tested; ")


def test_an_interoperability_test_is_judged_by_its_own_case_alone(suite: Suite) -> None:
    own = Check("named-tenant#impostor-computes", ("SHR-4",), Result.PASS, "")
    other = Check("tenant-boundary#foreigner-computes", ("NS-1",), Result.PASS, "")
    states = {row.name: row.tested[0].state for row in run(suite, own, other).interoperability}
    assert [number for number, state in states.items() if state is State.TESTED] == ["8"]


def test_several_runs_stand_side_by_side(suite: Suite) -> None:
    checks = (check(Result.PASS),)
    first = Report("probe", "2026-12-01T04:05:06+00:00", 1.0, decide(checks), checks, suite_digest="0" * 64)
    second = Report("vectors", "2026-12-01T04:05:06+00:00", 1.0, decide(()), ())
    coverage = cover(suite, [("first", first), ("second", second)])
    assert [made.same_suite for made in coverage.runs] == [False, True]
    assert [shown.state for shown in rule(coverage, "RET-3").tested] == [State.TESTED, State.NOT_RUN]
    assert together_line(coverage).startswith("1 of 88 rules tested; 84 not (INT-1, ")
