"""Coverage in JSON: the member `coverage` of a report, and what `cctest coverage --json` writes."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from cctest.coverage.model import Coverage, Row, RuleRow, Run, State, Tested


def coverage_json(coverage: Coverage) -> dict[str, Any]:
    """Give coverage as `$defs/coverage` of `schemas/report.schema.json` describes it."""
    return {
        "runs": [_run(run) for run in coverage.runs],
        "totals": [_totals(coverage, index) for index in range(len(coverage.runs))],
        "rules": [_rule(row) for row in coverage.rules],
        "interoperability": [{"number": int(row.name)} | _row(row) for row in coverage.interoperability],
        "beyond_schemas": [
            {"name": row.name, "because": row.because} | _row(row) for row in coverage.beyond_schemas
        ],
        "gaps": [{"name": gap.name, "message": gap.message} for gap in coverage.gaps],
    }


def states(rows: Sequence[Row], run: int) -> dict[State, int]:
    """Count rows by what the run of this index shows of them, zero included."""
    counts = Counter(row.tested[run].state for row in rows)
    return {state: counts[state] for state in State}


def _totals(coverage: Coverage, run: int) -> dict[str, dict[str, int]]:
    tables = {
        "rules": [each.row for each in coverage.rules],
        "interoperability": coverage.interoperability,
        "beyond_schemas": coverage.beyond_schemas,
    }
    return {
        name: {str(state): count for state, count in states(rows, run).items()}
        for name, rows in tables.items()
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "name": run.name,
        "command": run.command,
        "target": run.target,
        "outcome": str(run.outcome),
        "started": run.started,
        "same_suite": run.same_suite,
    }


def _rule(each: RuleRow) -> dict[str, Any]:
    rule = each.rule
    return {
        "id": rule.id,
        "level": str(rule.level),
        "section": rule.section.number,
        "binds": [str(party) for party in rule.binds],
        "observable": [str(place) for place in rule.observable],
        "because": rule.because,
    } | _row(each.row)


def _row(row: Row) -> dict[str, Any]:
    return {
        "text": row.text,
        "rules": list(row.rules),
        "vectors": list(row.vectors),
        "checks": list(row.checks),
        "tested": [_tested(tested) for tested in row.tested],
    }


def _tested(tested: Tested) -> dict[str, Any]:
    return {
        "state": str(tested.state),
        "results": {str(result): count for result, count in tested.results.items()},
        "evidence": {str(source): count for source, count in tested.evidence.items()},
        "reasons": [
            {
                "message": reason.message,
                "result": str(reason.result) if reason.result is not None else None,
                "checks": reason.checks,
            }
            for reason in tested.reasons
        ],
    }
