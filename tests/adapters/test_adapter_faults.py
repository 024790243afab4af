"""What an adapter may do wrong: none of it is a pass, all of it is told, and the rest of the run goes on."""

import os
import shlex
import time
from pathlib import Path

import pytest
from under_test import script, vector

from cctest.adapter.implementation import Adapter
from cctest.adapter.session import RESTARTS, Session
from cctest.problem import TargetProblem, UsageProblem
from cctest.vectors.model import VectorKind
from cctest.vectors.run import run_vectors
from cctest.verdict import Check, Exit, Result, decide

PATIENT = 60.0

GREETING = '{"id":1,"result":{"protocol":1,"name":"it","version":"0"}}'

AGE = vector(
    "age",
    VectorKind.ELIGIBILITY,
    cases=[{"materialized_at": 0, "max_age": 60, "now": 59.5, "eligible": True}],
)
NO_DIGEST = vector(
    "no-digest",
    VectorKind.DIGEST,
    cases=[{"namespaces": [], "digest": None}],
    expected={"digests_match": True},
)


def judged(command: str, *vectors: object, seconds: float = PATIENT) -> tuple[list[Check], tuple[str, ...]]:
    with Session(command, seconds) as session:
        checks, _, _ = run_vectors(vectors, Adapter(session))  # type: ignore[arg-type]
    return [*checks], session.notes


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("ends", "the adapter ended with exit code 7; standard error: out of \\u001b[31mcheese"),
        ("writes-garbage", "the adapter wrote what is no JSON"),
        ("writes-bad-utf-8", 'the adapter wrote what is no JSON'),
        ("writes-no-object", "the adapter wrote what is no answer"),
        ("writes-two-members", "the adapter wrote what is no answer"),
        ("writes-a-name-twice", "the adapter wrote what is no JSON"),
        ("answers-another", 'the adapter answered another request than 2: {"id": 1,'),
        ("writes-without-end", "the adapter wrote a line of more than 1,048,576 bytes"),
        ("wrong-shape", "the result has the wrong shape (at /eligible: 'yes' is not of type 'boolean'): {"),
        ("fails", "the adapter failed: division\\nby zero"),
    ],
)  # fmt: skip
def test_what_is_no_proper_answer_is_an_error_and_the_run_goes_on(fault: str, message: str) -> None:
    checks, _ = judged(script("faulty_adapter.py", fault), AGE, NO_DIGEST)
    assert [check.result for check in checks] == [Result.ERROR, Result.PASS]
    assert checks[0].message.startswith(message)
    assert decide(checks).exit is Exit.INCOMPLETE


def test_the_offending_line_is_shown_short_and_harmless() -> None:
    [check], _ = judged(script("faulty_adapter.py", "writes-garbage"), AGE)
    assert "\\u001b[2Jdebug: 'eligible'\\u202exxx" in check.message
    assert check.message.isprintable()
    assert len(check.message) < 400


def test_a_second_line_is_taken_for_no_other_answer() -> None:
    checks, _ = judged(script("faulty_adapter.py", "answers-twice"), AGE, NO_DIGEST)
    assert [check.result for check in checks] == [Result.PASS, Result.ERROR]
    assert "answered another request than 3" in checks[1].message


def test_what_is_not_offered_is_counted_apart() -> None:
    checks, _ = judged(script("faulty_adapter.py", "declines"), AGE, NO_DIGEST)
    assert [check.result for check in checks] == [Result.UNSUPPORTED, Result.PASS]
    assert checks[0].message == "the adapter doesn't support `eligible` here: no clock"
    assert decide(checks).exit is Exit.OK
    assert decide(checks[:1]).exit is Exit.INCOMPLETE


def test_a_wrong_answer_is_a_failure_with_the_lines_that_show_it() -> None:
    [check], _ = judged(script("faulty_adapter.py", "wrong"), AGE)
    assert (check.result, check.expected, check.seen) == (Result.FAIL, "true", "false")
    assert check.reproduce == (
        '{"id":2,"op":"eligible","input":{"materialized_at":"0","max_age":"60","now":"59.5"}}',
    )


def hanging(tmp_path: Path) -> str:
    """A command that greets, starts a process of its own, notes its number, and never answers again."""
    noted = shlex.quote(str(tmp_path / "pid"))
    told = f"read line; echo '{GREETING}'; sleep 3600 & echo $! > {noted}; wait"
    return shlex.join(["sh", "-c", told])


def test_a_hanging_adapter_is_an_error_and_is_ended_with_whatever_it_started(tmp_path: Path) -> None:
    [check], _ = judged(hanging(tmp_path), AGE, seconds=2)
    assert (check.result, check.message) == (Result.ERROR, "the adapter gave no answer in 2 seconds")
    pid = int((tmp_path / "pid").read_text())
    for _ in range(100):
        if not alive(pid):
            return
        time.sleep(0.02)
    pytest.fail("the adapter's own child is still there")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_adapter_that_keeps_breaking_is_given_up() -> None:
    ages = [AGE] * (RESTARTS + 3)
    checks, notes = judged(script("faulty_adapter.py", "ends"), *ages, NO_DIGEST)
    assert {check.result for check in checks} == {Result.ERROR}
    broke = [check.message.startswith("the adapter ended with exit code 7") for check in checks]
    assert broke == [True] * (RESTARTS + 1) + [False] * 3
    assert checks[-1].message == f"not asked: the adapter broke {RESTARTS + 1} times, and was given up"
    assert notes == (f"the adapter broke {RESTARTS + 1} times",)
    assert decide(checks).exit is Exit.UNTESTABLE


def test_a_vector_whose_answer_did_not_come_asks_once_for_all_its_checks() -> None:
    tenant = {"retention": {"mode": "allow"}, "reuse": "exact", "share_max": "tenant"}
    composed = vector(
        "composed",
        VectorKind.COMPOSITION,
        fragments=[{"constraints": tenant}, {}],
        expected={"after_fragment_0": tenant, "after_fragment_1": tenant},
    )
    command = shlex.join(["sh", "-c", f"read line; echo '{GREETING}'; read line"])
    checks, notes = judged(command, composed)
    assert [check.result for check in checks] == [Result.ERROR, Result.ERROR]
    assert notes == ("the adapter broke once",)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("ends-before-hello", "the adapter ended with exit code 1; standard error: no licence found"),
        ("other-version", "the adapter speaks version 2 of the protocol, not 1"),
        ("unsupported-hello", "the adapter doesn't support `hello` here: not to strangers"),
        ("chatty", "the adapter wrote what is no JSON"),
        ("nameless", "the result has the wrong shape ('name' is a required property)"),
    ],
)
def test_without_a_proper_hello_there_is_nothing_to_judge(fault: str, message: str) -> None:
    with pytest.raises(TargetProblem) as raised, Session(script("faulty_adapter.py", fault), PATIENT):
        pass
    assert raised.value.message.startswith(message)


def test_silence_instead_of_hello_is_bounded() -> None:
    with pytest.raises(TargetProblem, match=r"gave no answer in 0\.2 seconds"), Session("sleep 3600", 0.2):
        pass


@pytest.mark.parametrize("command", ["/no/such/adapter", "", "'unbalanced", os.devnull])
def test_a_command_that_cannot_be_started_is_a_usage_problem(command: str) -> None:
    with pytest.raises(UsageProblem), Session(command, PATIENT):
        pass


def test_an_adapter_that_stays_is_ended() -> None:
    command = shlex.join(["sh", "-c", f"read line; echo '{GREETING}'; sleep 3600"])
    with Session(command, 0.2) as session:
        pass
    assert session.notes == ("the adapter didn't end when its input did, and was killed",)
