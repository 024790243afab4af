"""A report as Markdown: verdict, results, coverage and, where there is one, mutation."""

from collections.abc import Iterator

from cctest.coverage.model import Coverage
from cctest.report.coverage_markdown import coverage_lines, safe, table
from cctest.report.headline import headline
from cctest.report.model import Report
from cctest.report.page.mutation import Mutation
from cctest.report.page.view import counts, excuses, failures, percent
from cctest.report.taken import taken_readings


def report_markdown(report: Report, coverage: Coverage, mutation: Mutation | None = None) -> str:
    """Write the report; `coverage` is of this one report."""
    return "".join(f"{line}\n" for line in _lines(report, coverage, mutation))


def _lines(report: Report, coverage: Coverage, mutation: Mutation | None) -> Iterator[str]:
    of = f" of {safe(report.target)}" if report.target is not None else ""
    yield f"# cctest {report.command}{of}"
    yield ""
    reasons = "".join(f"; {safe(reason)}" for reason in report.verdict.reasons)
    selection = " (of a selection)" if report.partial else ""
    yield f"**{headline(report)}**{selection}{reasons}. Started {report.started}."
    yield ""
    yield from (f"- {safe(note)}" for note in report.notes)
    yield from ("", "## Results", "")
    counted = counts(report)
    yield from table(
        ("checks", *map(str, counted["all"])),
        ([name, *map(str, results.values())] for name, results in counted.items()),
    )
    for told in failures(report):
        cells = f" in {safe('; '.join(told.cells))}" if told.cells else ""
        yield f"- **fail** `{safe(told.check.id)}`{cells}: {safe(told.check.message)}"
    for result, reasons_of in excuses(report):
        for excuse in reasons_of:
            yield f"- **{result}** ({sum(excuse.checks.values())}): {safe(excuse.message)}"
    yield ""
    yield from coverage_lines(coverage, level=2)
    yield from _readings(report) if report.readings else ()
    yield from _mutation(mutation) if mutation is not None else ()


def _readings(report: Report) -> Iterator[str]:
    yield from ("## Readings", "")
    yield "Where the rules leave a choice, what the target was seen to do. None of it is a failure."
    yield "`cctest explain F-4` shows a finding whole."
    yield ""
    yield from table(
        ("reading", "taken", "finding", "seen in"),
        (
            [
                safe(reading.id),
                safe(reading.taken),
                f"{reading.finding.id}: {reading.finding.title}" if reading.finding is not None else "",
                safe(reading.checks[0]),
            ]
            for reading in taken_readings(report)
        ),
    )


def _mutation(mutation: Mutation) -> Iterator[str]:
    yield from ("## Mutation", "")
    passed = ", ".join(f"{count} checks ({safe(setup)})" for setup, count in mutation.passed.items())
    yield from (f"Without a mutant all passed: {passed}.", "")
    yield from (f"- {safe(note)}" for note in mutation.notes)
    yield ""
    yield from table(
        ("mutants", "all", "score", "by status"),
        (
            [
                safe(each.family),
                str(each.total),
                percent(each.score),
                ", ".join(f"{count} {safe(status)}" for status, count in each.statuses.items()),
            ]
            for each in mutation.figures
            if each.total
        ),
    )
    if mutation.left:
        yield from table(
            ("not killed by its check", "what was changed", "status", "argument"),
            (map(safe, (each.id, each.inverts, each.status, each.argument)) for each in mutation.left),
        )
