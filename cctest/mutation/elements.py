"""A mutation report in the schema that mutation-testing tools share (`mutation-testing-report-schema` 2).

Their viewers show it: each file with its mutants, and which test killed which.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from cctest import __version__, bundle
from cctest.contract import strict_json
from cctest.mutation.catalogue import source_of
from cctest.mutation.mutant import Mutant, SchemaChange, Status, Verdict
from cctest.mutation.report import MutationReport

_STATUSES: Final = {
    Status.KILLED: "Killed",
    Status.KILLED_BY_ANOTHER: "Killed",
    Status.SURVIVED: "Survived",
    Status.BROKE: "RuntimeError",
    Status.TIMED_OUT: "Timeout",
    Status.NOT_APPLIED: "Ignored",
}


def to_elements(report: MutationReport) -> dict[str, Any]:
    """Give the report in that schema. Golden values, which are changed in the tests, are no part of it."""
    files: dict[str, dict[str, Any]] = {}
    for mutant, verdict in report.judged:
        path, source = _file(mutant)
        language = "json" if path.endswith(".json") else "python"
        file = files.setdefault(path, {"language": language, "source": source, "mutants": []})
        file["mutants"].append(_mutant(report, mutant, verdict, source))
    return {
        "schemaVersion": "2",
        "thresholds": {"high": 95, "low": 80},
        "framework": {"name": "cctest mutate", "version": __version__},
        "files": files,
        "testFiles": _tests(verdict for _, verdict in report.judged),
    }


def _file(mutant: Mutant) -> tuple[str, str]:
    change = mutant.change
    if isinstance(change, SchemaChange):
        name = f"{change.kind}.schema.json"
        return f"schemas/{name}", (bundle.SCHEMAS / name).read_text(encoding="utf-8")
    return change.path, source_of(change.path)


def _mutant(report: MutationReport, mutant: Mutant, verdict: Verdict, source: str) -> dict[str, Any]:
    argument = report.arguments.get(mutant.id)
    reason = "; ".join(
        filter(None, (verdict.note, "" if argument is None else f"{argument.kind}: {argument.why}"))
    )
    told = {
        "id": mutant.id,
        "mutatorName": mutant.operator or f"{mutant.family} {' '.join(mutant.rules)}",
        "description": mutant.inverts,
        "location": _location(mutant, source),
        "replacement": mutant.becomes,
        "status": _STATUSES[verdict.status],
        "testsCompleted": verdict.ran,
        "duration": round(verdict.seconds * 1000),
        "killedBy": list(dict.fromkeys(one.check for one in verdict.findings)),
    }
    return told | ({"statusReason": reason} if reason else {})


def _location(mutant: Mutant, source: str) -> dict[str, dict[str, int]]:
    change = mutant.change
    if isinstance(change, SchemaChange):
        place = strict_json.parse(source).positions[change.pointer]
        start = {"line": place.line, "column": place.column}
        return {"start": start, "end": {"line": place.line, "column": place.column + 1}}
    return {"start": _place(source, change.edit.start), "end": _place(source, change.edit.end)}


def _place(source: str, offset: int) -> dict[str, int]:
    before = source[:offset]
    return {"line": before.count("\n") + 1, "column": offset - (before.rfind("\n") + 1) + 1}


def _tests(verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """List the checks that killed something: vectors in one file, behavioural checks in another."""
    checks = dict.fromkeys(one.check for verdict in verdicts for one in verdict.findings)
    return {"suite": {"tests": [{"id": check, "name": check} for check in checks]}}


def elements_text(report: MutationReport) -> str:
    """Spell the report in that schema as JSON."""
    return json.dumps(to_elements(report), ensure_ascii=False, indent=1) + "\n"
