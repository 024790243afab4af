"""From what a backend observed to `cache_status` (STA-1..12)."""

from cctest.contract.hints import report_hints
from cctest.contract.source import JsonValue
from cctest.contract.status import StatusEntry, to_json
from cctest.contract.vocabulary import HintReport, RetentionReport
from reference_gateway.backend import Forwarded, FragmentObservation, Served
from reference_gateway.plan import Plan, PlannedFragment


def cache_status(
    plan: Plan, served: Served | Forwarded, reuse_within_max: int | None
) -> list[JsonValue] | None:
    """Give the governed fragments' entries in fragment order; None for a request without intent (INT-3)."""
    entries = [
        _entry(planned, observed, reuse_within_max)
        for planned, observed in zip(plan.fragments, served.fragments, strict=True)
        if planned.governed
    ]
    return to_json(entries) if entries else None


def _entry(
    planned: PlannedFragment, observed: FragmentObservation, reuse_within_max: int | None
) -> StatusEntry:
    intent = planned.fragment.intent
    return StatusEntry(
        outcome=observed.outcome,
        id=None if intent is None else intent.id,
        effective_share=observed.share,
        retention=_retention(planned, observed),
        hints=_hints(planned, reuse_within_max) or None,
    )


def _hints(planned: PlannedFragment, reuse_within_max: int | None) -> dict[str, HintReport]:
    """Report the hints of the fragment's own intent (READ-21). What had no effect is never `accepted`."""
    intent = planned.fragment.intent
    reports = {} if intent is None else report_hints(intent.hints, reuse_within_max)
    if planned.terms.may_retain:
        return reports
    return {
        name: HintReport.IGNORED if report is HintReport.ACCEPTED else report
        for name, report in reports.items()
    }


def _retention(planned: PlannedFragment, observed: FragmentObservation) -> RetentionReport:
    if planned.forbidden:
        return RetentionReport.FORBIDDEN
    if observed.retained is None:
        return RetentionReport.UNOBSERVED
    return RetentionReport.RETAINED if observed.retained else RetentionReport.DECLINED
