"""How a baseline stands after a run, and what that does to the run's end."""

from datetime import date

import pytest
from baseline_samples import CASES, CELLS, TODAY, baseline, ended, entry, full_run

from cctest.baseline.entry import Standing
from cctest.baseline.judge import excuse, stand
from cctest.probe.timing import CHECK as TIMING_CHECK
from cctest.report.model import Report
from cctest.report.terminal import terminal_text
from cctest.verdict import Check, Exit, Outcome, Result, decide

FAILS = full_run(alpha_x=Result.FAIL)


def standing(*entries: str, checks: tuple[Check, ...] = FAILS, today: date = TODAY) -> Standing:
    return stand(baseline(*entries), CASES, checks, today)


def whys(flaws: Standing) -> list[str]:
    return [flaw.why for flaw in flaws.flaws]


def run(*entries: str, checks: tuple[Check, ...] = FAILS, blockers: tuple[str, ...] = ()) -> Report:
    report = Report("probe", "2026-12-01T00:00:00+00:00", 1.0, decide(checks, blockers), checks)
    return excuse(report, standing(*entries, checks=checks))


def line(report: Report) -> str:
    return terminal_text(report, {}, quiet=True).strip()


def test_a_known_failure_lets_the_run_pass_and_leaves_the_outcome_alone() -> None:
    report = run(entry("alpha#x"))
    assert (report.verdict.outcome, report.verdict.exit) == (Outcome.NONCONFORMANT, Exit.OK)
    assert line(report).startswith("conformant except for 4 known failures: 8 pass, 4 fail")


def test_a_failure_that_nobody_knew_fails_the_run() -> None:
    report = run(entry("alpha#x"), checks=full_run(alpha_x=Result.FAIL, alpha_y=Result.FAIL))
    assert (report.verdict.outcome, report.verdict.exit) == (Outcome.NONCONFORMANT, Exit.FAILED)
    assert line(report).startswith("nonconformant: ")


def test_an_entry_for_one_cell_excuses_no_other() -> None:
    assert run(entry("alpha#x", cell="{stream: streamed}")).verdict.exit is Exit.FAILED
    both = [entry("alpha#x", cell=f"{{stream: {stream}}}") for stream in ("plain", "streamed")]
    assert run(*both).verdict.exit is Exit.OK


def test_a_check_that_passes_now_makes_its_entry_stale() -> None:
    report = run(entry("alpha#x"), entry("beta#x"))
    assert (report.verdict.outcome, report.verdict.exit) == (Outcome.NONCONFORMANT, Exit.FAILED)
    assert whys(standing(entry("alpha#x"), entry("beta#x"))) == ["expected fail, and now: 4 pass"]


def test_a_stale_entry_fails_a_run_that_is_conformant_by_itself() -> None:
    report = run(entry("beta#x"), checks=full_run())
    assert (report.verdict.outcome, report.verdict.exit) == (Outcome.CONFORMANT, Exit.FAILED)
    assert line(report).endswith("baseline entries that don't hold: 1 stale")


def test_another_result_than_the_expected_one_is_not_excused() -> None:
    checks = full_run(alpha_x=Result.INCONCLUSIVE)
    assert whys(standing(entry("alpha#x"), checks=checks)) == ["expected fail, and now: 4 inconclusive"]
    assert run(entry("alpha#x"), checks=checks).verdict.exit is Exit.FAILED
    assert run(entry("alpha#x", result="inconclusive"), checks=checks).verdict.exit is Exit.OK


def test_an_inconclusive_check_that_is_known_is_named_as_such() -> None:
    checks = full_run(alpha_x=Result.FAIL, beta_x=Result.INCONCLUSIVE)
    report = run(entry("alpha#x"), entry("beta#x", result="inconclusive"), checks=checks)
    assert line(report).startswith("conformant except for 4 known failures and 4 known to be inconclusive: ")


def test_an_error_is_never_excused() -> None:
    checks = full_run(alpha_x=Result.ERROR)
    report = run(entry("alpha#x"), checks=checks)
    assert report.verdict.exit is Exit.FAILED
    assert run(checks=checks).verdict.exit is Exit.INCOMPLETE


@pytest.mark.parametrize(
    ("today", "flawed"), [(date(2027, 1, 31), False), (date(2027, 2, 1), True), (date(2030, 1, 1), True)]
)
def test_an_entry_holds_to_the_end_of_its_last_day(today: date, flawed: bool) -> None:
    found = standing(entry("alpha#x"), today=today)
    assert bool(found.expired) is flawed
    assert bool(found.known) is not flawed


def test_an_unknown_check_is_told_with_the_nearest() -> None:
    assert whys(standing(entry("bita#x"))) == ["there is no such check; did you mean 'beta#x'?"]


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("{steam: plain}", "alpha has no axis `steam`; did you mean 'stream'?"),
        ("{place: tool}", "`tool` is no place of alpha; did you mean 'tools'?"),
    ],
)
def test_a_cell_that_there_is_not_is_told_with_the_nearest(cell: str, told: str) -> None:
    assert whys(standing(entry("alpha#x", cell=cell))) == [told]


def test_an_entry_about_what_a_partial_run_left_out_says_nothing() -> None:
    part = ended("alpha#x", Result.FAIL)
    assert whys(standing(entry("alpha#x"), entry("beta#x"), checks=part)) == []


def test_an_entry_that_a_full_run_did_not_meet_is_stale() -> None:
    checks = tuple(check for check in FAILS if check.cell != CELLS[0])
    cell = "{stream: plain, place: tools}"
    found = standing(entry("alpha#x", cell=cell), checks=checks)
    assert whys(found) == ["was not run, although everything else was"]


def test_what_needs_an_engine_is_not_missed_without_one() -> None:
    assert whys(standing(entry("gamma#x"), entry("alpha#x"))) == []
    assert whys(standing(entry("gamma#x"), checks=(*FAILS, *ended("gamma#x", Result.PASS)))) == [
        "expected fail, and now: 4 pass"
    ]


def test_known_failures_do_not_make_up_for_what_the_run_lacked() -> None:
    report = run(entry("alpha#x"), blockers=("one tenant only",))
    assert report.verdict.exit is Exit.INCOMPLETE
    assert line(report).startswith("nonconformant: ")


def test_a_run_of_nothing_but_known_failures_passes() -> None:
    assert run(entry("alpha#x"), checks=ended("alpha#x", Result.FAIL)).verdict.exit is Exit.OK


def test_an_empty_baseline_changes_nothing() -> None:
    for checks in (FAILS, full_run(), full_run(alpha_x=Result.ERROR)):
        assert run(checks=checks).verdict == decide(checks)


def test_the_timing_check_can_be_known_though_it_is_of_no_case() -> None:
    timing = Check(TIMING_CHECK, ("STA-11",), Result.FAIL, "faster")
    assert whys(standing(entry(TIMING_CHECK), entry("alpha#x"))) == []
    report = run(entry(TIMING_CHECK), entry("alpha#x"), checks=(*FAILS, timing))
    assert report.verdict.exit is Exit.OK
