"""The verdict in the first words that a reader meets. They agree with the exit code."""

from cctest.report.model import Report
from cctest.verdict import Exit, Outcome


def headline(report: Report) -> str:
    """Give the outcome, or what else the exit code stands for; for an excused run see `report.known`."""
    outcome = report.verdict.outcome
    if report.verdict.exit is Exit.UNTESTABLE:
        return "not tested"
    if report.baseline is not None and report.baseline.flaws and outcome is not Outcome.NONCONFORMANT:
        return f"{outcome}, but the baseline doesn't hold"
    return str(outcome)
