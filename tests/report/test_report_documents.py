"""The JSON and JUnit reports."""

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from junitparser import Error, Failure, JUnitXml, Skipped, TestSuite

from cctest.baseline.entry import Entry, Flaw, Standing
from cctest.bundle import SCHEMAS
from cctest.coverage.compute import cover
from cctest.coverage.suite import bundled_suite
from cctest.report.json_report import json_text
from cctest.report.junit import junit_text
from cctest.report.model import Report
from cctest.report.recorded import load_report
from cctest.report.whole_markdown import report_markdown
from cctest.verdict import Check, Evidence, Reading, Result, Source, decide

SCHEMA = json.loads((SCHEMAS / "report.schema.json").read_text())


def check(result: Result, number: int = 0, **members: Any) -> Check:
    return Check(f"case-{number}#expectation", ("RET-3", "POL-2"), result, f"message of {result}", **members)


def report(*checks: Check, **members: Any) -> Report:
    return Report("probe", "2026-12-01T04:05:06+00:00", 1.25, decide(checks), checks, **members)


KNOWN = Entry(
    "case-9#expectation", Result.FAIL, "slow", "https://h/1", date(2027, 1, 31), {"stream": "plain"}
)
STALE = Entry("case-0#expectation", Result.FAIL, "slow", "https://h/2", date(2027, 1, 31))
FULL = report(
    *(check(result, number) for number, result in enumerate(Result)),
    check(
        Result.FAIL,
        9,
        cell={"stream": "plain", "place": "tools"},
        expected="a miss",
        seen="a hit \x1b[31m\x00 \u202e",
        evidence=(Evidence(Source.CANARY, "the mark came back"),),
        reproduce=("curl -sSi http://h",),
        seconds=0.1234567,
    ),
    seed=7,
    target="http://h",
    capabilities={"anything": [1, None]},
    readings=(Reading("READ-1", "own-intent", "case-0#x", {"stream": "plain"}),),
    notes=("a note",),
    unasserted=3,
)


@pytest.mark.parametrize("made", [FULL, report(), report(check(Result.PASS))])
def test_the_json_report_is_described_by_its_schema(made: Report) -> None:
    assert list(Draft202012Validator(SCHEMA).iter_errors(json.loads(json_text(made)))) == []


def test_known_failures_are_in_the_json_report_and_in_its_schema() -> None:
    standing = Standing("known.yaml", ((FULL.checks[-1], KNOWN),), stale=(Flaw(STALE, "passes now"),))
    document = json.loads(json_text(replace(FULL, baseline=standing)))
    assert list(Draft202012Validator(SCHEMA).iter_errors(document)) == []
    (known,), (stale,) = document["baseline"]["known"], document["baseline"]["stale"]
    assert known["cell"] == {"stream": "plain", "place": "tools"}
    assert (stale["why"], stale["expires"]) == ("passes now", "2027-01-31")
    del stale["why"]
    assert list(Draft202012Validator(SCHEMA).iter_errors(document)) != []


def test_a_report_reads_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text(json_text(FULL))
    assert json_text(load_report(path)) == json_text(FULL)


def test_the_schema_describes_every_member() -> None:
    document = json.loads(json_text(FULL))
    document["extra"] = 1
    document["checks"][0]["extra"] = 1
    del document["seed"]
    assert len(list(Draft202012Validator(SCHEMA).iter_errors(document))) == 3


def test_the_json_report_is_a_complete_record() -> None:
    document = json.loads(json_text(FULL))
    assert document["summary"] == {
        "pass": 1,
        "fail": 2,
        "warn": 1,
        "unsupported": 1,
        "inconclusive": 1,
        "error": 1,
    }
    assert document["profiles"]["core"] == document["summary"]
    assert set(document["profiles"]["extended"].values()) == {0}
    assert (document["outcome"], document["exit"], document["reasons"]) == (
        "nonconformant",
        1,
        ["2 checks failed"],
    )
    assert document["checks"][-1] == {
        "id": "case-9#expectation",
        "rules": ["RET-3", "POL-2"],
        "cell": {"stream": "plain", "place": "tools"},
        "profile": "core",
        "result": "fail",
        "vacuous": False,
        "message": "message of fail",
        "expected": "a miss",
        "seen": "a hit \x1b[31m\x00 \u202e",
        "evidence": [{"source": "canary", "seen": "the mark came back"}],
        "reproduce": ["curl -sSi http://h"],
        "seconds": 0.123,
    }


def test_a_reading_leads_to_its_finding_in_json_and_in_markdown() -> None:
    [reading] = json.loads(json_text(FULL))["readings"]
    assert reading["finding"] == "F-21"
    told = report_markdown(FULL, cover(bundled_suite(), [("a run", FULL)]))
    assert "| READ-1 | own-intent | F-21: which fragments are governed | case-0\\#x |" in told


def test_a_reading_of_a_later_suite_has_no_finding_yet() -> None:
    made = replace(FULL, readings=(Reading("READ-999", "yes", "case-0#x"),))
    assert json.loads(json_text(made))["readings"] == [
        {"id": "READ-999", "taken": "yes", "check": "case-0#x", "cell": {}}
    ]


def test_the_json_report_is_ascii() -> None:
    assert json_text(FULL).isascii()


def suite(made: Report) -> TestSuite:
    (only,) = JUnitXml.fromstring(junit_text(made).encode())
    assert isinstance(only, TestSuite)
    return only


def test_junit_counts_what_a_parser_counts() -> None:
    found = suite(FULL)
    assert (found.tests, found.failures, found.errors, found.skipped) == (7, 2, 2, 1)
    kinds = [type(result) for case in found for result in case.result]
    assert (kinds.count(Failure), kinds.count(Error), kinds.count(Skipped)) == (2, 2, 1)


def test_junit_is_never_green_for_an_incomplete_run() -> None:
    for made in (report(), report(check(Result.PASS), check(Result.INCONCLUSIVE, 1))):
        found = suite(made)
        assert found.errors > 0
        assert [case.name for case in found][-1] == "verdict"
    assert suite(report(check(Result.PASS))).errors == 0


def test_junit_holds_what_the_failure_needs() -> None:
    case = list(suite(FULL))[-1]
    assert case.name == "case-9#expectation [place=tools stream=plain]"
    (failure,) = case.result
    assert failure.message == "message of fail"
    for part in (
        "RET-3",
        "expected: a miss",
        r"seen: a hit \x1b[31m\x00 \u202e",
        "canary",
        "curl -sSi http://h",
    ):
        assert part in failure.text


def test_a_warning_is_no_failure_in_junit() -> None:
    (case,) = suite(report(check(Result.WARN)))
    assert case.result == []
    assert "message of warn" in case.system_out
