"""`cctest report`: a JSON report as a page, or as Markdown."""

from pathlib import Path

import click

from cctest.catalogue import load_catalogue
from cctest.coverage.compute import cover
from cctest.coverage.suite import bundled_suite
from cctest.report.destination import check_destinations, write_report
from cctest.report.page.mutation import load_mutation
from cctest.report.page.render import page_html
from cctest.report.recorded import load_report
from cctest.report.whole_markdown import report_markdown
from cctest.verdict import Exit


@click.command("report", short_help="Make a page of a report.")
@click.argument("result", metavar="REPORT")
@click.option("--mutation", metavar="FILE", help="Also show this result of cctest mutate.")
@click.option(
    "--html", metavar="PATH", help="Write one HTML page that needs nothing else; - is standard output."
)
@click.option("--markdown", metavar="PATH", help="Write Markdown; - is standard output.")
def command(*, result: str, mutation: str | None, html: str | None, markdown: str | None) -> Exit:
    """Make a page of REPORT, which `cctest probe --json` or `cctest vectors --json` wrote.

    Verdict, what didn't pass, coverage and readings. The page needs no network and runs no script. What the
    report says doesn't change the exit code.
    """
    destinations = [path for path in (html, markdown) if path is not None]
    if not destinations:
        raise click.UsageError("nothing to write: give --html or --markdown")
    check_destinations(destinations, (result, mutation))
    report = load_report(Path(result))
    mutants = load_mutation(Path(mutation)) if mutation is not None else None
    coverage = cover(bundled_suite(), [(Path(result).stem, report)])
    if html is not None:
        wordings = {name: rule.text for name, rule in load_catalogue().items()}
        write_report(html, page_html(report, coverage, wordings, mutants))
    if markdown is not None:
        write_report(markdown, report_markdown(report, coverage, mutants))
    return Exit.OK
