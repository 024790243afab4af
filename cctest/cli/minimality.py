"""`cctest minimality`: whether every member of version 1 is worth its place."""

import os
import shutil
import sys
from pathlib import Path
from time import monotonic

import click

from cctest import bundle
from cctest.minimality.document import json_of
from cctest.minimality.load import load_vocabulary
from cctest.minimality.outcome import Outcome, judge
from cctest.minimality.page import page_of
from cctest.minimality.rendering import markdown_of, text_of
from cctest.minimality.search import search
from cctest.minimality.trial import TooSlowError
from cctest.report.destination import STDOUT, check_destinations, complain, say, write_report
from cctest.report.progress import progress
from cctest.verdict import Exit


@click.command("minimality", short_help="Find out whether every member of version 1 is worth its place.")
@click.option("--json", "json_path", metavar="PATH", help="Write a JSON report; - is standard output.")
@click.option("--markdown", metavar="PATH", help="Write the tables as Markdown; - is standard output.")
@click.option(
    "--vocabulary",
    type=click.Path(path_type=Path),
    default=bundle.MINIMALITY,
    metavar="PATH",
    help="Members, values and readers to try instead of the bundled ones.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print the verdict line only.")
def command(*, json_path: str | None, markdown: str | None, vocabulary: Path, quiet: bool) -> Exit:
    """Try every setting of the constraints on our own gateway, and see what each member changes.

    The gateway is started for it. Two settings are the same if no later request and no report tells them
    apart; a member or a value is redundant if every behaviour is there without it.

    Exit codes: 0 every member is worth its place, 1 one isn't, 2 usage, 3 the machine was too busy to tell,
    4 the gateway couldn't be tried.
    """
    paths = [path for path in (json_path, markdown) if path is not None]
    check_destinations(paths, (vocabulary,))
    tried, started = load_vocabulary(vocabulary), monotonic()
    try:
        with progress(quiet=quiet) as tell:
            observed = search(tried, lambda trials: tell(trials, ()))
    except TooSlowError:
        complain(f"undecided: the machine is too busy for a max_age of {tried.seconds} s\n")
        return Exit.INCOMPLETE
    outcome = judge(tried, observed, monotonic() - started)
    if json_path is not None:
        write_report(json_path, json_of(outcome))
    if markdown is not None:
        write_report(markdown, markdown_of(page_of(outcome)))
    _print(outcome, on_stderr=STDOUT in paths, quiet=quiet)
    return Exit.OK if outcome.minimal else Exit.FAILED


def _print(outcome: Outcome, *, on_stderr: bool, quiet: bool) -> None:
    stream = sys.stderr if on_stderr else sys.stdout
    text = text_of(
        page_of(outcome),
        width=max(60, min(shutil.get_terminal_size((100, 24)).columns, 120)),
        colour=stream is not None and stream.isatty() and not os.environ.get("NO_COLOR"),
        quiet=quiet,
        taken=f"; {outcome.observed.requests:,} requests, {outcome.seconds:.1f} s",
    )
    complain(text) if on_stderr else say(text)
