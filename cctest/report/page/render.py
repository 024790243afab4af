"""Rendering the page of a report."""

import json
from collections.abc import Mapping
from typing import Any, Final

from cctest.coverage.model import Coverage
from cctest.report.coverage_words import evidence_words, reason_lines, result_words, summary_lines
from cctest.report.headline import headline
from cctest.report.model import Report
from cctest.report.page import view
from cctest.report.page.environment import coded, environment
from cctest.report.page.mutation import Mutation
from cctest.report.taken import taken_readings

_TEMPLATE: Final = "page.html.jinja"

_FUNCTIONS: Final = (
    headline,
    view.counts,
    view.failures,
    view.excuses,
    view.sections,
    taken_readings,
    view.excused,
    view.percent,
    evidence_words,
    result_words,
    reason_lines,
    coded,
)


def page_html(
    report: Report, coverage: Coverage, wordings: Mapping[str, str], mutation: Mutation | None = None
) -> str:
    """Write the page; `coverage` is of this one report, `wordings` gives the text of each rule."""
    return (
        environment(_FUNCTIONS)
        .get_template(_TEMPLATE)
        .render(
            report=report,
            coverage=coverage,
            wordings=wordings,
            mutation=mutation,
            capabilities=_pretty(report.capabilities),
            summary=list(summary_lines(coverage)),
        )
    )


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
