"""What kills a mutant, and what doesn't."""

import sys
import tempfile
from dataclasses import replace

import pytest

import cctest
from cctest.mutation.by_probe import Probed
from cctest.mutation.by_vectors import Ran
from cctest.mutation.catalogue import load_mutants
from cctest.mutation.judgement import Reader, decide, unexplained
from cctest.mutation.mutant import Status, Verdict
from cctest.probe.load import load_cases
from cctest.vectors.load import bundled_vectors
from cctest.verdict import Check, Result

READER = Reader(bundled_vectors(), load_cases())
BY_NAME = {mutant.id: mutant for mutant in load_mutants()}
FORBID = BY_NAME["forbid-ignored"]
STREAMED = BY_NAME["forbid-overlooked-when-streamed"]


def check(name: str, result: Result, seen: str = "", **cell: str) -> Check:
    return Check(name, ("RET-1",), result, "a message", cell=cell, seen=seen)


def verdict(*checks: Check, applied: bool = True, broke: str = "", late: bool = False) -> Verdict:
    return decide(FORBID, [READER.of_probe(Probed(checks, applied, broke, late), whole=True)], 1.0)


PASSED = check("forbid#read-computes", Result.PASS)
OTHERS = tuple(check(f"tenant-boundary#{number}", Result.PASS) for number in range(5))


def test_the_named_check_kills() -> None:
    assert verdict(check("forbid#read-computes", Result.FAIL)).status is Status.KILLED


def test_another_check_kills_and_is_told_apart() -> None:
    told = verdict(PASSED, check("forbid#again-computes", Result.FAIL))
    assert told.status is Status.KILLED_BY_ANOTHER
    assert [one.check for one in told.findings] == ["forbid#again-computes"]


@pytest.mark.parametrize(
    "seen",
    [
        check("forbid#read-computes", Result.ERROR),
        check("forbid#read-computes", Result.FAIL, "HTTP 500 internal_error"),
    ],
)
def test_a_crash_kills_nothing(seen: Check) -> None:
    assert verdict(seen).status is Status.BROKE


def test_a_gateway_that_does_not_start_kills_nothing() -> None:
    assert verdict(broke="the reference gateway didn't start").status is Status.BROKE


def test_a_time_out_kills_nothing() -> None:
    assert verdict(PASSED, late=True).status is Status.TIMED_OUT


@pytest.mark.parametrize("result", [Result.PASS, Result.INCONCLUSIVE, Result.UNSUPPORTED])
def test_what_did_not_fail_kills_nothing(result: Result) -> None:
    assert verdict(check("forbid#read-computes", result)).status is Status.SURVIVED


def test_a_warning_counts_for_what_is_recommended_only() -> None:
    assert verdict(check("forbid#read-computes", Result.WARN)).status is Status.SURVIVED
    recommended = verdict(check("forwarding#arrives-unchanged", Result.WARN))
    assert recommended.status is Status.KILLED_BY_ANOTHER


def test_a_server_error_that_the_engine_was_told_to_cause_is_no_crash() -> None:
    seen = check("engine-errors#bad-request", Result.WARN, "HTTP 500")
    assert verdict(seen).status is Status.KILLED_BY_ANOTHER


def test_what_was_never_loaded_says_nothing() -> None:
    assert verdict(check("forbid#read-computes", Result.FAIL), applied=False).status is Status.NOT_APPLIED


def test_a_mutant_of_one_cell_must_show_there_and_nowhere_else() -> None:
    there = check("forbid#read-computes", Result.FAIL, stream="streamed")
    elsewhere = check("forbid#read-computes", Result.PASS, stream="plain")

    def told(*checks: Check) -> Verdict:
        return decide(STREAMED, [READER.of_probe(Probed(checks, applied=True), whole=True)], 1.0)

    assert told(there, elsewhere).status is Status.KILLED
    everywhere = told(there, replace(elsewhere, result=Result.FAIL))
    assert everywhere.status is Status.KILLED_BY_ANOTHER
    assert "stream=plain" in everywhere.note


def test_a_mutant_that_turns_half_of_all_red_is_suspect() -> None:
    failed = [replace(one, result=Result.FAIL) for one in OTHERS]
    assert verdict(PASSED, *failed).suspect
    assert not verdict(check("forbid#read-computes", Result.FAIL), *OTHERS).suspect


def test_failures_of_other_rules_are_unexplained() -> None:
    foreign = replace(check("status-shape#well-formed", Result.FAIL), rules=("STA-12",))
    told = verdict(check("forbid#read-computes", Result.FAIL), foreign)
    assert [one.check for one in unexplained(FORBID, told)] == ["status-shape#well-formed"]


def test_an_error_of_a_vector_kills_nothing() -> None:
    mutant = BY_NAME["largest-bound-holds"]
    name = "smallest-max-age-in-the-middle-wins#after_fragment_2"
    runs = [READER.of_vectors(Ran(((name, result, "x"),), applied=True)) for result in ("error", "fail")]
    assert [decide(mutant, [run], 1.0).status for run in runs] == [Status.BROKE, Status.KILLED]


def test_a_note_names_no_folder_of_the_machine() -> None:
    module = cctest.__file__
    library = f"{sys.prefix}/lib/x.py"
    scratch = f"{tempfile.gettempdir()}/scratch/proof"
    told = verdict(broke=f'File "{module}", line 1, in "{library}": {scratch}: at /messages/0')
    assert told.note == 'File "cctest/__init__.py", line 1, in "lib/x.py": scratch/proof: at /messages/0'
