"""`cctest baseline`: known failures, looked after."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import click

from cctest import bounded, datafile
from cctest.baseline.entry import Entry, Standing
from cctest.baseline.file import load_baseline, read_baseline
from cctest.baseline.judge import stand, unsound
from cctest.baseline.rewrite import EMPTY, entries_for, rewritten
from cctest.probe.load import load_cases
from cctest.problem import UsageProblem
from cctest.report.destination import check_destinations, say, write_report
from cctest.report.known import flaw_lines
from cctest.report.model import Report
from cctest.report.plain import plain
from cctest.report.recorded import load_report
from cctest.verdict import Check, Exit, Result

_LISTED = (Result.FAIL, Result.INCONCLUSIVE)
"""What keeps a run from 0 and can be known in advance; an error is never excused."""


def today() -> date:
    """The day by which entries expire: it changes at midnight UTC, everywhere at once."""
    return datetime.now(UTC).date()


@click.group("baseline", short_help="Look after a file of known failures.")
def command() -> None:
    """Look after a baseline: a file of known failures for continuous integration.

    Each entry names a check, the result that is expected, a reason, a link and the last day on which it
    holds. `cctest probe --baseline FILE` ends in 0 only if nothing else is wrong and every entry holds.
    """


@command.command("check", short_help="Find entries that are stale, unknown or expired.")
@click.argument("file", metavar="FILE")
@click.option("--report", metavar="REPORT", help="A JSON report to hold the entries against.")
def check(*, file: str, report: str | None) -> Exit:
    """Check a baseline by itself, or against what a run came to. Ends in 1 if an entry doesn't hold."""
    baseline, cases = load_baseline(Path(file)), load_cases()
    if report is None:
        return _tell(unsound(baseline, cases, today()), len(baseline.entries))
    return _tell(stand(baseline, cases, _probe(report).checks, today()), len(baseline.entries))


@command.command("update", short_help="Drop stale entries and add new failures.")
@click.argument("file", metavar="FILE")
@click.option("--report", metavar="REPORT", required=True, help="The JSON report of a run.")
@click.option("--reason", metavar="TEXT", help="Why what is new fails.")
@click.option("--link", metavar="URL", help="Where that is being dealt with.")
@click.option(
    "--expires", metavar="DAY", type=click.DateTime(["%Y-%m-%d"]), help="The last day on which it is excused."
)
def update(*, file: str, report: str, reason: str | None, link: str | None, expires: datetime | None) -> Exit:
    """Bring a baseline in line with a run: stale entries go, failures and inconclusive checks are added.

    Comments and layout stay. Entries that are expired or unknown stay too, for a person to decide on. FILE is
    made if it doesn't exist. What is new needs --reason, --link and --expires.
    """
    path, cases = Path(file), load_cases()
    check_destinations([file], (report,))
    content = bounded.read(path, pipe=False) if path.exists() else EMPTY.encode()
    baseline = read_baseline(datafile.parse(path, content))
    ran = _probe(report).checks
    standing = stand(baseline, cases, ran, today())
    expired = [flaw.entry for flaw in standing.expired]
    new = [
        each
        for each in standing.remaining(ran)
        if each.result in _LISTED and not any(entry.covers(each) for entry in expired)
    ]
    added = list(entries_for(new, ran, _like(new, reason, link, expires))) if new else []
    dropped = [flaw.entry for flaw in standing.stale]
    write_report(file, rewritten(baseline, content.decode(), dropped, added))
    say(f"{len(dropped)} dropped, {len(added)} added\n")
    left = Standing(standing.file, unknown=standing.unknown, expired=standing.expired)
    return _tell(left, len(baseline.entries) - len(dropped) + len(added))


def _like(new: Sequence[Check], reason: str | None, link: str | None, expires: datetime | None) -> Entry:
    """Give what new entries have in common; whoever adds one has to say it."""
    told = {"--reason": reason, "--link": link, "--expires": expires}
    lacking = [option for option, value in told.items() if not value]
    if lacking or not reason or not link or not expires:
        names = ", ".join(dict.fromkeys(check.id for check in new))
        raise UsageProblem(f"{' and '.join(lacking)} must be given to add {names}")
    if not re.fullmatch(r"https?://\S+", link):
        raise UsageProblem("the link is no URL", where="--link", hint="like https://example.org/issues/7")
    if expires.date() < today():
        raise UsageProblem("that day is over", where="--expires")
    return Entry("", Result.FAIL, reason, link, expires.date())


def _probe(path: str) -> Report:
    report = load_report(Path(path))
    if report.command != "probe":
        raise UsageProblem(
            f"is a report of `cctest {report.command}`", where=path, hint="one of a probe is needed"
        )
    return report


def _tell(standing: Standing, entries: int) -> Exit:
    say("".join(f"{plain(line)}\n" for line in flaw_lines(standing)))
    say(f"{entries} entries, {len(standing.flaws)} that don't hold\n")
    return Exit.FAILED if standing.flaws else Exit.OK
