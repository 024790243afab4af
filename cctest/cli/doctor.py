"""`cctest doctor`: what can be tested on a target, and what can't."""

import textwrap
from collections import Counter

import click

from cctest.cli.target import ChosenTarget, target_options
from cctest.diagnosis import Diagnosis, Level
from cctest.doctor import examine
from cctest.probe.load import load_cases
from cctest.report.destination import say
from cctest.report.plain import plain
from cctest.verdict import Exit

_WIDTH = 100


@click.command("doctor", short_help="Say what can be tested on a target.")
@target_options
def command(*, chosen: ChosenTarget) -> Exit:
    """Ask a target a few things and say what can be tested on it, what can't, and why.

    Exit codes: 0 a full probe is possible, 2 the target file is wrong, or names no credential or no model, 3
    only part of a probe is possible, 4 the target can't be reached, answers no plain request (it accepts no
    credential, or has no such model), or doesn't implement the binding.
    """
    with chosen.opened() as configuration:
        diagnosis = examine(configuration, load_cases())
    column = len(Level.LACKING) + 2 + max(len(finding.about) for finding in diagnosis.findings) + 2
    for finding in diagnosis.findings:
        head = f"{finding.level:<{len(Level.LACKING)}}  {finding.about}".ljust(column)
        text = textwrap.fill(
            plain(finding.text),
            _WIDTH,
            initial_indent=head,
            subsequent_indent=" " * column,
            break_on_hyphens=False,
        )
        say(f"{text}\n")
    say(f"\n{_conclusion(diagnosis)}\n")
    return diagnosis.exit


def _conclusion(diagnosis: Diagnosis) -> str:
    count = Counter(finding.level for finding in diagnosis.findings)
    if diagnosis.obstacle is not None:
        hint = f"\n  {plain(diagnosis.obstacle.hint)}" if diagnosis.obstacle.hint else ""
        return f"Nothing can be tested: {plain(diagnosis.obstacle.why)}{hint}"
    if count[Level.ALARM]:
        return "Look at the ALARM first: nothing that a probe says can be relied on before it is explained."
    if count[Level.LACKING]:
        return f"Part of a probe is possible: {count[Level.LACKING]} things are lacking."
    return "A full probe is possible."
