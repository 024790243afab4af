"""Reading a JSON report back."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsonschema.exceptions import best_match

from cctest import datafile
from cctest.contract.source import descend
from cctest.problem import UsageProblem
from cctest.report.model import Report
from cctest.verdict import Check, Claim, Evidence, Exit, Outcome, Profile, Reading, Result, Source, Verdict


def load_report(path: Path) -> Report:
    """Read what `--json` wrote; baseline and coverage are left out, since both can be computed again.

    Raises UsageProblem for a file that can't be read or isn't of the shape of `report.schema.json`.
    """
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageProblem(f"can't be read: {error.strerror}", where=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise UsageProblem(f"is no JSON report: {error}", where=str(path), hint=_HINT) from None
    fault = best_match(datafile.validator("report.schema.json").iter_errors(document))
    if fault is not None:
        where = f"{path}, at {descend('', fault.absolute_path) or 'the top'}"
        raise UsageProblem(f"is no report of this version: {_short(fault.message)}", where=where, hint=_HINT)
    return _report(document)


_HINT = "`cctest probe --json FILE` writes one"


def _short(message: str) -> str:
    return message if len(message) <= 200 else f"{message[:197]}..."


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
