"""Where the reports of a run go: the options that say so, and writing them at the end."""

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import click

from cctest.catalogue import load_catalogue
from cctest.coverage.compute import cover
from cctest.coverage.suite import bundled_suite
from cctest.problem import UsageProblem
from cctest.report.destination import STDOUT, check_destinations, complain, say, write_report
from cctest.report.json_report import json_text
from cctest.report.junit import junit_text
from cctest.report.model import Report
from cctest.report.terminal import terminal_text
from cctest.verdict import Exit

_F = TypeVar("_F", bound=Callable[..., Any])


def output_options(command: _F) -> _F:
    """Add --json, --junit and -q to a command."""
    for option in (
        click.option("-q", "--quiet", is_flag=True, help="Print the verdict line only."),
        click.option("--junit", metavar="PATH", help="Write a JUnit report; - is standard output."),
        click.option(
            "--json", "json_path", metavar="PATH", help="Write a JSON report; - is standard output."
        ),
    ):
        command = option(command)
    return command


@cache
def _wordings() -> dict[str, str]:
    return {name: rule.text for name, rule in load_catalogue().items()}


@dataclass(frozen=True, slots=True)
class Outputs:
    """What a run leaves behind. `json` and `junit` are paths, `-` is standard output."""

    json: str | None = None
    junit: str | None = None
    quiet: bool = False

    def check(self, *inputs: str | Path | None) -> None:
        """Find out before the run that all can be written, and replaces no input. Raises UsageProblem."""
        check_destinations([path for path in (self.json, self.junit) if path is not None], inputs)

    def publish(self, report: Report) -> Exit:
        """Write the reports, with what the run covers, and give the exit code.

        A report that can't be written is told, and ends in 2 unless a check failed.
        """
        problems = []
        if self.json is not None or not self.quiet:
            report = replace(report, coverage=cover(bundled_suite(), [(report.command, report)]))
        for write in (self._write_json, self._write_junit, self._print):
            try:
                write(report)
            except UsageProblem as problem:
                problems.append(problem)
        for told in problems:
            complain(f"error: {told}\n")
        return Exit.USAGE if problems and report.verdict.exit is not Exit.FAILED else report.verdict.exit

    def _write_json(self, report: Report) -> None:
        if self.json is not None:
            write_report(self.json, json_text(report))

    def _write_junit(self, report: Report) -> None:
        if self.junit is not None:
            write_report(self.junit, junit_text(report))

    def _print(self, report: Report) -> None:
        """Print the report for people; on standard error where standard output is taken by a document."""
        taken = STDOUT in (self.json, self.junit)
        stream = sys.stderr if taken else sys.stdout
        text = terminal_text(
            report,
            _wordings(),
            width=max(60, min(shutil.get_terminal_size((100, 24)).columns, 120)),
            colour=stream is not None and stream.isatty() and not os.environ.get("NO_COLOR"),
            quiet=self.quiet,
        )
        complain(text) if taken else say(text)
