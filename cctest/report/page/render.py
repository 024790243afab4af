"""Rendering the page. Whatever comes from a target is escaped, and can't turn the direction of writing."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from cctest.coverage.model import Coverage
from cctest.report.coverage_words import evidence_words, reason_lines, result_words, summary_lines
from cctest.report.model import Report
from cctest.report.page import view
from cctest.report.page.mutation import Mutation
from cctest.report.plain import plain

_TEMPLATE: Final = "page.html.jinja"


def page_html(
    report: Report, coverage: Coverage, wordings: Mapping[str, str], mutation: Mutation | None = None
) -> str:
    """Write the page; `coverage` is of this one report, `wordings` gives the text of each rule."""
    return (
        _environment()
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


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    functions = (
        view.counts,
        view.failures,
        view.excuses,
        view.sections,
        view.readings,
        view.excused,
        view.percent,
        evidence_words,
        result_words,
        reason_lines,
        coded,
    )
    environment.globals.update({function.__name__: function for function in functions})
    return environment


def _finalized(value: Any) -> Any:
    """Neutralise what an expression puts on the page, unless the template itself made it."""
    return plain(str(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


def coded(text: str) -> Markup:
    """Escape our own prose, and show as code what stands in back quotes."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(plain(text)))))  # noqa: S704 - escaped


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
