"""`cctest coverage`: which rules the suite exercises, and what runs showed of each."""

import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from cctest.coverage.compute import cover
from cctest.coverage.suite import bundled_suite
from cctest.report.coverage_json import coverage_json
from cctest.report.coverage_markdown import coverage_markdown
from cctest.report.coverage_terminal import coverage_text
from cctest.report.destination import STDOUT, check_destinations, complain, say, write_report
from cctest.report.model import Report
from cctest.report.recorded import load_report
from cctest.verdict import Exit


@click.command("coverage", short_help="Show which rules are exercised, and what runs showed of each.")
@click.argument("reports", nargs=-1, metavar="[REPORT]...")
@click.option("-q", "--quiet", is_flag=True, help="Print the last lines only.")
@click.option("--json", "json_path", metavar="PATH", help="Write it as JSON; - is standard output.")
@click.option("--markdown", metavar="PATH", help="Write it as Markdown; - is standard output.")
def command(*, reports: Sequence[str], quiet: bool, json_path: str | None, markdown: str | None) -> Exit:
    """Compute from the data what exercises each rule and, from reports of runs, what was tested of it.

    Each REPORT was written by `cctest probe --json` or `cctest vectors --json`. Ends in 1 if nothing
    exercises a MUST that can be observed, if a vector or a case names a rule that there isn't, or if a REPORT
    of an earlier suite has a vector, case or check that this suite lacks. Results don't change the exit code.
    """
    destinations = [path for path in (json_path, markdown) if path is not None]
    check_destinations(destinations, reports)
    coverage = cover(bundled_suite(), named(reports))
    if json_path is not None:
        write_report(json_path, json.dumps(coverage_json(coverage), indent=2) + "\n")
    if markdown is not None:
        write_report(markdown, coverage_markdown(coverage))
    taken = STDOUT in destinations
    stream = sys.stderr if taken else sys.stdout
    text = coverage_text(
        coverage,
        width=max(80, min(shutil.get_terminal_size((100, 24)).columns, 140)),
        quiet=quiet,
        colour=stream is not None and stream.isatty() and not os.environ.get("NO_COLOR"),
    )
    complain(text) if taken else say(text)
    return Exit.FAILED if coverage.gaps else Exit.OK


def named(paths: Sequence[str]) -> list[tuple[str, Report]]:
    """Read reports; each is called by its file's name, or by its path where two files have one name."""
    stems = Counter(Path(path).stem for path in paths)
    return [
        (Path(path).stem if stems[Path(path).stem] == 1 else path, load_report(Path(path))) for path in paths
    ]
