"""`cctest trace`: which sentence of the drafts states which rule, and what holds it; and what isn't tied."""

import json
import shutil
from collections.abc import Sequence

import click

from cctest.cli.coverage import named
from cctest.report.destination import STDOUT, check_destinations, complain, say, write_report
from cctest.report.plain import plain
from cctest.traceability.changes import find_changes
from cctest.traceability.page.render import annotated_html
from cctest.traceability.record import load_record, record_text
from cctest.traceability.trace import bundled_trace
from cctest.traceability.trace_json import trace_json
from cctest.traceability.untied import find_untied
from cctest.traceability.words import closing_lines, trace_lines
from cctest.verdict import Exit


@click.command("trace", short_help="Tie the sentences of the drafts to rules and to what tests them.")
@click.argument("reports", nargs=-1, metavar="[REPORT]...")
@click.option("-q", "--quiet", is_flag=True, help="Print the last lines only.")
@click.option("--json", "json_path", metavar="PATH", help="Write it as JSON; - is standard output.")
@click.option(
    "--html", metavar="PATH", help="Write the drafts as a page that shows it; - is standard output."
)
@click.option(
    "--sentences",
    metavar="PATH",
    help="Write the normative sentences as their record, held against no other; - is standard output.",
)
def command(
    *, reports: Sequence[str], quiet: bool, json_path: str | None, html: str | None, sentences: str | None
) -> Exit:
    """Tie each normative sentence of the drafts to rules, vectors, checks and mutants, and back.

    Each REPORT was written by `cctest probe --json` or `cctest vectors --json`; what it shows of each rule
    is told too, and what it had that the suite lacks. Ends in 1 if anything isn't tied, or if a normative
    sentence isn't as spec/sentences.md has it, and says what.
    """
    destinations = [path for path in (json_path, html, sentences) if path is not None]
    check_destinations(destinations, reports)
    given = named(reports)
    trace = bundled_trace(given)
    changes = () if sentences is not None else find_changes(load_record(), trace.sentences)
    untied = (*find_untied(trace), *changes)
    if sentences is not None:
        write_report(sentences, record_text(trace.sentences))
    if json_path is not None:
        write_report(json_path, json.dumps(trace_json(trace, untied), indent=2) + "\n")
    if html is not None:
        write_report(html, annotated_html(trace, untied, given))
    width = max(60, min(shutil.get_terminal_size((100, 24)).columns, 140))
    lines = (*(() if quiet else trace_lines(trace, width)), *closing_lines(trace, untied))
    text = "".join(f"{plain(line)}\n" for line in lines)
    complain(text) if STDOUT in destinations else say(text)
    return Exit.FAILED if untied else Exit.OK
