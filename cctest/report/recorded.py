"""Reading a JSON report back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cctest import datafile
from cctest.report.model import Report
from cctest.verdict import Check, Claim, Evidence, Exit, Outcome, Profile, Reading, Result, Source, Verdict


def load_report(path: Path) -> Report:
    """Read what `--json` wrote; baseline and coverage are left out, since both can be computed again.

    Raises UsageProblem for a file that can't be read or isn't of the shape of `report.schema.json`.
    """
    return _report(datafile.read_result(path, "report.schema.json", what="report", hint=_HINT))


_HINT = "`cctest probe --json FILE` writes one"


def _report(document: Mapping[str, Any]) -> Report:
    outcome = Outcome(document["outcome"])
    return Report(
        command=document["command"],
        started=document["started"],
        seconds=document["seconds"],
        verdict=Verdict(outcome, Exit(document["exit"]), tuple(document["reasons"])),
        checks=tuple(_check(check) for check in document["checks"]),
        readings=tuple(_reading(reading) for reading in document["readings"]),
        notes=tuple(document["notes"]),
        partial=document["partial"],
        unobservable=document["unobservable"],
        unasserted=document["unasserted"],
        seed=document["seed"],
        target=document["target"],
        implementation=_claim(document.get("implementation")),
        capabilities=document["capabilities"],
        tool_version=document["tool"]["version"],
        suite_version=document["suite"]["version"],
        suite_digest=document["suite"]["digest"],
    )


def _claim(members: Mapping[str, str] | None) -> Claim | None:
    return None if members is None else Claim(members["name"], members["version"])


def _reading(members: Mapping[str, Any]) -> Reading:
    return Reading(members["id"], members["taken"], members["check"], members["cell"])


def _check(members: Mapping[str, Any]) -> Check:
    evidence = tuple(Evidence(Source(item["source"]), item["seen"]) for item in members["evidence"])
    return Check(
        id=members["id"],
        rules=tuple(members["rules"]),
        result=Result(members["result"]),
        message=members["message"],
        cell=members["cell"],
        expected=members["expected"],
        seen=members["seen"],
        evidence=evidence,
        reproduce=tuple(members["reproduce"]),
        seconds=members["seconds"],
        vacuous=members["vacuous"],
        profile=Profile(members["profile"]),
    )
