"""Coverage as Markdown, for `reports/` and for a page of a project."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cctest.coverage.model import Coverage, Row, RuleRow, Run
from cctest.report.coverage_words import (
    evidence_words,
    reason_lines,
    result_words,
    summary_lines,
    together_line,
)
from cctest.report.plain import plain

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~])")


def coverage_markdown(coverage: Coverage) -> str:
    """Write coverage as Markdown (the dialect with pipe tables); text from elsewhere is escaped."""
    return "".join(f"{line}\n" for line in coverage_lines(coverage))


def coverage_lines(coverage: Coverage, level: int = 1) -> Iterator[str]:
    """Yield the lines of coverage, under a heading of this level."""
    outer, inner = "#" * level, "#" * (level + 1)
    yield f"{outer} Coverage"
    yield ""
    yield "Made by `cctest coverage`. Of each rule: who is bound, where it can be seen, how many vectors,"
    yield "cases and checks exercise it, and what runs showed of it, on which evidence."
    yield ""
    yield from _runs(coverage)
    yield f"{inner} Gaps"
    yield ""
    yield from [f"- {safe(gap.name)}: {safe(gap.message)}" for gap in coverage.gaps] or ["None."]
    yield ""
    yield f"{inner} Rules"
    yield ""
    yield from table(
        ("rule", "level", "binds", "seen in", "vectors", "cases", "checks", *_names(coverage)),
        map(_rule, coverage.rules),
    )
    yield f"{inner} Interoperability tests"
    yield ""
    yield from table(
        ("test", "what", "cases", "checks", *_names(coverage)), map(_test, coverage.interoperability)
    )
    yield f"{inner} Rules that no schema can say"
    yield ""
    yield from table(
        ("what", "why no schema can say it", "vectors", "cases", "checks", *_names(coverage)),
        map(_topic, coverage.beyond_schemas),
    )
    yield from _reasons(coverage, inner)


def _names(coverage: Coverage) -> Iterator[str]:
    return (safe(run.name) for run in coverage.runs)


def _runs(coverage: Coverage) -> Iterator[str]:
    for index, run in enumerate(coverage.runs):
        other = "" if run.same_suite else " It was made with another version of the suite."
        yield f"**{safe(run.name)}** ({_what(run)}): {run.outcome}.{other}"
        yield ""
        yield from (f"- {safe(line)}" for line in summary_lines(coverage, index))
        yield ""
    if len(coverage.runs) > 1:
        yield f"**Together**: {safe(together_line(coverage))}."
        yield ""


def _what(run: Run) -> str:
    return f"`cctest {run.command}`"


def table(columns: Sequence[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of a table, and an empty one behind it."""
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _rule(each: RuleRow) -> list[str]:
    rule = each.rule
    seen = f"nowhere: {safe(rule.because)}" if rule.because else ", ".join(rule.observable)
    return [rule.id, rule.level, ", ".join(rule.binds), seen, *_numbers(each.row), *_shown(each.row)]


def _test(row: Row) -> list[str]:
    cases = ", ".join(f"`{case}`" for case in row.cases)
    return [row.name, safe(row.text), cases, str(len(row.checks)), *_shown(row)]


def _topic(row: Row) -> list[str]:
    what = f"{safe(row.text)} ({', '.join(row.rules)})"
    return [what, safe(row.because or ""), *_numbers(row), *_shown(row)]


def _numbers(row: Row) -> Iterator[str]:
    return (str(len(names)) for names in (row.vectors, row.cases, row.checks))


def _shown(row: Row) -> Iterator[str]:
    for tested in row.tested:
        parts = [f"**{tested.word}**", result_words(tested), _by(evidence_words(tested))]
        yield "; ".join(part for part in parts if part)


def _by(evidence: str) -> str:
    return f"by {evidence}" if evidence else ""


def _reasons(coverage: Coverage, heading: str) -> Iterator[str]:
    for index, run in enumerate(coverage.runs):
        rows = [
            (each.rule.id, line) for each in coverage.rules for line in reason_lines(each.row.tested[index])
        ]
        if rows:
            yield f"{heading} Not, or not wholly, tested by {safe(run.name)}"
            yield ""
            yield from table(("rule", "why"), ([rule, safe(line)] for rule, line in rows))


def safe(text: str) -> str:
    """Keep text from being read as markup, and on one line."""
    return _SPECIAL.sub(r"\\\1", plain(" ".join(text.split())))
