"""The reports of a mutation run: ours, and the one that other tools' viewers read."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from figures import ROOT
from jsonschema import Draft7Validator, Draft202012Validator

from cctest import bundle
from cctest.mutation.catalogue import load_mutants, source_change
from cctest.mutation.earlier import load_earlier
from cctest.mutation.elements import to_elements
from cctest.mutation.golden import judge_golden
from cctest.mutation.mutant import Edit, Family, Finding, Mutant, Status, Verdict
from cctest.mutation.report import MutationReport, to_json
from cctest.mutation.survivors import Argument
from cctest.mutation.text import markdown_text, percent, terminal_text
from cctest.vectors.load import bundled_vectors

MUTANTS = load_mutants()
MADE = replace(
    MUTANTS[0],
    id="cctest/contract/hints.py:_f:constant:0123456789",
    family=Family.GENERATED,
    rules=(),
    caught_by=None,
    operator="constant",
    change=source_change("cctest/contract/hints.py", Edit(10, 14, "(1)")),
)


def verdict(mutant: Mutant, status: Status) -> Verdict:
    finding = Finding(mutant.caught_by or "a#b", mutant.rules, "a message", {"stream": "plain"})
    return Verdict(mutant.id, status, 5, (finding,) if "killed" in status else ())


def report_of(*statuses: Status, **more: Any) -> MutationReport:
    judged = [(one, verdict(one, Status.KILLED)) for one in MUTANTS]
    judged[: len(statuses)] = [
        (one, verdict(one, status)) for one, status in zip(MUTANTS, statuses, strict=False)
    ]
    return MutationReport("2026-12-01T00:00:00+00:00", 3.0, {"vectors": 5}, tuple(judged), **more)


EVERY_STATUS = report_of(*Status, golden=(Verdict("golden:x/expected", Status.KILLED, 1),))
ARGUED = MutationReport(
    "2026-12-01T00:00:00+00:00",
    3.0,
    {"embedded": 5},
    ((MADE, verdict(MADE, Status.SURVIVED)),),
    arguments={MADE.id: Argument("equivalent", "because it is so", "")},
)


@pytest.mark.parametrize("report", [EVERY_STATUS, ARGUED])
def test_our_json_has_the_shape_of_its_schema(report: MutationReport) -> None:
    schema = json.loads((bundle.SCHEMAS / "mutation.schema.json").read_bytes())
    Draft202012Validator.check_schema(schema)
    assert [error.message for error in Draft202012Validator(schema).iter_errors(to_json(report))] == []


@pytest.mark.parametrize("report", [EVERY_STATUS, ARGUED])
def test_the_other_json_has_the_shape_that_other_tools_read(report: MutationReport) -> None:
    schema = json.loads(Path(__file__).with_name("mutation-testing-report-schema.json").read_bytes())
    elements = to_elements(report)
    assert [error.message for error in Draft7Validator(schema).iter_errors(elements)] == []
    told = {one["id"] for file in elements["files"].values() for one in file["mutants"]}
    assert told == {mutant.id for mutant, _ in report.judged}


def test_places_are_those_of_the_source() -> None:
    (mutant,) = (one for file in to_elements(ARGUED)["files"].values() for one in file["mutants"])
    assert mutant["location"] == {"start": {"line": 1, "column": 11}, "end": {"line": 1, "column": 15}}


def test_whatever_was_not_killed_by_its_check_is_told_and_fails() -> None:
    text = terminal_text(EVERY_STATUS)
    for mutant, status in zip(MUTANTS, Status, strict=False):
        assert (f"{status}: {mutant.id} " in text) is (status is not Status.KILLED)
    assert EVERY_STATUS.exit() == 1
    assert report_of().exit() == 0
    assert f"`{MUTANTS[1].id}`" in markdown_text(EVERY_STATUS)


def test_a_score_is_never_rounded_up() -> None:
    assert percent(0.9999) == "99.9 %"
    assert percent(1.0) == "100 %"
    assert percent(None) == "none"


def test_of_generated_mutants_what_only_broke_counts_for_the_strict_score_alone() -> None:
    broken = (MADE, verdict(MADE, Status.BROKE))
    killed = (replace(MADE, id="another"), verdict(MADE, Status.KILLED))
    figures = to_json(replace(ARGUED, judged=(broken, killed)))["summary"]["generated"]
    assert figures["score"] == 1
    assert figures["strict"] == 0.5


def test_of_the_catalogue_whatever_is_not_killed_counts() -> None:
    assert to_json(report_of(Status.BROKE))["summary"]["rule"]["score"] < 1


def test_survivors_have_to_be_argued_for_and_few() -> None:
    made = [replace(MADE, id=f"{MADE.id}{number}") for number in range(20)]
    judged = [(one, verdict(one, Status.KILLED)) for one in made]
    judged[0] = (made[0], verdict(made[0], Status.SURVIVED))
    report = MutationReport("", 1.0, {}, tuple(judged))
    assert (report.unargued(), report.exit()) == ((made[0].id,), 1)
    argument = Argument("equivalent", "because it is so", "")
    assert replace(report, arguments={made[0].id: argument}).exit() == 0
    judged[1] = (made[1], verdict(made[1], Status.SURVIVED))
    both = {one.id: Argument("unobservable", "nothing shows it", "") for one in made[:2]}
    assert MutationReport("", 1.0, {}, tuple(judged), arguments=both).exit() == 1, "less than 95 %"


def test_an_argument_for_what_is_killed_fails_and_is_told_with_its_place() -> None:
    argument = Argument("equivalent", "because it is so", "survivors.yaml, line 7")
    report = MutationReport(
        "", 1.0, {}, ((MADE, verdict(MADE, Status.KILLED)),), arguments={MADE.id: argument}
    )
    assert report.exit() == 1
    assert f"{MADE.id} (survivors.yaml, line 7)" in terminal_text(report, quiet=True)


def test_the_parts_of_generated_mutants_are_counted_apart() -> None:
    other = replace(MADE, id="other", change=source_change("reference_gateway/plan.py", Edit(0, 0, "")))
    judged = ((MADE, verdict(MADE, Status.KILLED)), (other, verdict(other, Status.SURVIVED)))
    text = markdown_text(MutationReport("", 1.0, {}, judged))
    assert "| generated, in `cctest` | 1 | 1 | 100 % | 100 % | - |" in text
    assert "| generated, in `reference_gateway` | 1 | 0 | 0 % | 0 % | 1 survived |" in text


def test_what_an_earlier_report_says_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "earlier.json"
    file.write_text(json.dumps(to_json(EVERY_STATUS)))
    told = load_earlier(file)
    assert list(told.values()) == [one for _, one in EVERY_STATUS.judged]


def test_a_loss_fails_whatever_was_killed() -> None:
    report = report_of(losses=("there is no x, which is meant for y",))
    assert report.exit() == 1
    assert "lost: there is no x" in terminal_text(report, quiet=True)


def test_the_rendered_report_is_of_the_current_catalogue() -> None:
    rendered = json.loads((ROOT / "reports" / "mutation.json").read_bytes())
    told = {one["id"]: (one["was"], one["becomes"], one["caught_by"]) for one in rendered["mutants"]}
    assert told == {one.id: (one.was, one.becomes, one.caught_by) for one in MUTANTS}, "stale: make reports"
    golden = [one.mutant for one in judge_golden(bundled_vectors())]
    assert [one["id"] for one in rendered["golden"]] == golden, "stale: make reports"
    assert rendered["exit"] == 0
