"""The record of one run, and its JSON shape (`schemas/report.schema.json`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from cctest import __version__
from cctest.baseline.entry import Entry, Flaw, Standing
from cctest.bundle import SUITE_VERSION, suite_digest
from cctest.contract.source import JsonValue
from cctest.coverage.model import Coverage
from cctest.findings import finding_of
from cctest.report.coverage_json import coverage_json
from cctest.verdict import Check, Claim, Profile, Reading, Verdict, summarise

SCHEMA_VERSION: Final = 1
"""Grows when a reader of the JSON report would have to change."""


@dataclass(frozen=True, slots=True)
class Report:
    """One run of `cctest vectors` or `cctest probe`, whole.

    `started` is UTC in ISO 8601, `seconds` the length of the run. `seed`, `target` (a URL, or an adapter's
    command line), `implementation` and `capabilities` (as the target sent them) are None where the command
    has none. `notes` are remarks about the run as a whole. `partial` says that only some of what there is was
    selected: the outcome is of the selection. `unobservable` gives, by identifier, the rules that nobody can
    observe from outside, and why. `unasserted` counts members that vectors left open. `baseline` is None
    where the run had none, `coverage` where it wasn't computed.
    """

    command: str
    started: str
    seconds: float
    verdict: Verdict
    checks: tuple[Check, ...]
    readings: tuple[Reading, ...] = ()
    notes: tuple[str, ...] = ()
    partial: bool = False
    unobservable: Mapping[str, str] = field(default_factory=dict)
    unasserted: int = 0
    seed: int | None = None
    target: str | None = None
    implementation: Claim | None = None
    capabilities: JsonValue = None
    baseline: Standing | None = None
    coverage: Coverage | None = None
    tool_version: str = __version__
    suite_version: str = SUITE_VERSION
    suite_digest: str = field(default_factory=suite_digest)


def to_json(report: Report) -> dict[str, Any]:
    """Give the report as `schemas/report.schema.json` describes it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "cctest", "version": report.tool_version},
        "suite": {"version": report.suite_version, "digest": report.suite_digest},
        "command": report.command,
        "started": report.started,
        "seconds": round(report.seconds, 3),
        "seed": report.seed,
        "target": report.target,
        "implementation": _implementation(report.implementation),
        "capabilities": report.capabilities,
        "outcome": str(report.verdict.outcome),
        "exit": int(report.verdict.exit),
        "partial": report.partial,
        "reasons": list(report.verdict.reasons),
        "summary": summarise(report.checks),
        "profiles": {str(profile): summarise(of_profile(report, profile)) for profile in Profile},
        "vacuous": sum(check.vacuous for check in report.checks),
        "unobservable": dict(report.unobservable),
        "unasserted": report.unasserted,
        "notes": list(report.notes),
        "baseline": _baseline(report.baseline) if report.baseline is not None else None,
        "coverage": coverage_json(report.coverage) if report.coverage is not None else None,
        "readings": [_reading(reading) for reading in report.readings],
        "checks": [_check(check) for check in report.checks],
    }


def of_profile(report: Report, profile: Profile) -> tuple[Check, ...]:
    """Give the checks of one profile."""
    return tuple(check for check in report.checks if check.profile is profile)


def _check(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "rules": list(check.rules),
        "cell": dict(check.cell),
        "profile": str(check.profile),
        "result": str(check.result),
        "vacuous": check.vacuous,
        "message": check.message,
        "expected": check.expected,
        "seen": check.seen,
        "evidence": [{"source": str(item.source), "seen": item.seen} for item in check.evidence],
        "reproduce": list(check.reproduce),
        "seconds": round(check.seconds, 3),
    }


def _reading(reading: Reading) -> dict[str, Any]:
    finding = finding_of(reading.id)
    return {
        "id": reading.id,
        "taken": reading.taken,
        "check": reading.check,
        "cell": dict(reading.cell),
    } | ({} if finding is None else {"finding": finding.id})


def _implementation(claim: Claim | None) -> dict[str, Any] | None:
    return None if claim is None else {"name": claim.name, "version": claim.version}


def _baseline(standing: Standing) -> dict[str, Any]:
    return {
        "file": standing.file,
        "known": [_entry(entry) | {"cell": dict(check.cell)} for check, entry in standing.known],
        "stale": [_flaw(flaw) for flaw in standing.stale],
        "unknown": [_flaw(flaw) for flaw in standing.unknown],
        "expired": [_flaw(flaw) for flaw in standing.expired],
    }


def _flaw(flaw: Flaw) -> dict[str, Any]:
    return _entry(flaw.entry) | {"why": flaw.why}


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "check": entry.check,
        "cell": dict(entry.cell),
        "result": str(entry.result),
        "reason": entry.reason,
        "link": entry.link,
        "expires": entry.expires.isoformat(),
    }


def cell_name(cell: Mapping[str, str]) -> str:
    """Write a cell for people: `place=tools stream=streamed`; empty for a check without axes."""
    return " ".join(f"{axis}={value}" for axis, value in sorted(cell.items()))
