"""Holding a baseline against what a run came to."""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from datetime import date

from cctest.baseline.entry import Entry, Flaw, Standing
from cctest.baseline.file import Baseline
from cctest.probe.case import Case
from cctest.probe.timing import CHECK as TIMING_CHECK
from cctest.report.model import Report
from cctest.selection import advice
from cctest.verdict import Check, Exit, Result, Verdict, decide


def stand(baseline: Baseline, cases: Sequence[Case], checks: Sequence[Check], today: date) -> Standing:
    """Say how each entry stands. `cases` are all that there are; `checks` what was run of them.

    Where only a part was run, entries about the rest say nothing.
    """
    sound: list[Entry] = []
    unknown, expired, stale = [], [], []
    for entry in baseline.entries:
        if (why := _unknown(entry, cases)) is not None:
            unknown.append(Flaw(entry, why))
        elif entry.expires < today:
            expired.append(Flaw(entry, f"expired on {entry.expires}"))
        else:
            sound.append(entry)
    whole = _wholly_run(cases, {check.id for check in checks})
    known: list[tuple[Check, Entry]] = []
    for entry in sound:
        covered = [check for check in checks if entry.covers(check)]
        expected = [(check, entry) for check in covered if check.result is entry.result]
        known += expected
        if not expected and (covered or entry.check in whole):
            stale.append(Flaw(entry, _otherwise(entry, covered)))
    name = str(baseline.file.path)
    return Standing(name, tuple(known), tuple(stale), tuple(unknown), tuple(expired))


def unsound(baseline: Baseline, cases: Sequence[Case], today: date) -> Standing:
    """Say which entries are unknown or expired, without any run."""
    return stand(baseline, cases, (), today)


def _wholly_run(cases: Sequence[Case], ran: Set[str]) -> frozenset[str]:
    """Give the checks of the kinds that were run without exception: one-ended, two-ended or both.

    Two-ended cases are left out of every run that has no engine to look at.
    """
    kinds = [
        frozenset(check for case in cases if case.two_ended is two_ended for check in case.checks)
        for two_ended in (False, True)
    ]
    return frozenset().union(*(kind for kind in kinds if kind <= ran))


def _unknown(entry: Entry, cases: Sequence[Case]) -> str | None:
    case = next((case for case in cases if entry.check in case.checks), None)
    if entry.check == TIMING_CHECK:
        return None
    if case is None:
        checks = [check for case in cases for check in case.checks]
        return f"there is no such check; {advice(entry.check, checks, 'check')}"
    return next(_misplaced(entry, case), None)


def _misplaced(entry: Entry, case: Case) -> Iterator[str]:
    for axis, value in entry.cell.items():
        if axis not in case.axes:
            yield f"{case.id} has no axis `{axis}`; {advice(axis, [*case.axes], 'axis')}"
        elif value not in case.axes[axis]:
            yield f"`{value}` is no {axis} of {case.id}; {advice(value, case.axes[axis], axis)}"


def _otherwise(entry: Entry, covered: Sequence[Check]) -> str:
    if not covered:
        return "was not run, although everything else was"
    counts = Counter(check.result for check in covered)
    now = ", ".join(f"{counts[result]} {result}" for result in Result if counts[result])
    return f"expected {entry.result}, and now: {now}"


def excuse(report: Report, standing: Standing) -> Report:
    """Give the report with its baseline: the outcome stays as it is, the exit code follows from the rest.

    The run ends in 0 only if everything that isn't known is in order and no entry is flawed.
    """
    return replace(report, verdict=_verdict(report, standing), baseline=standing)


def _verdict(report: Report, standing: Standing) -> Verdict:
    verdict = report.verdict
    remaining = standing.remaining(report.checks)
    code, reasons = verdict.exit, verdict.reasons
    if len(remaining) < len(report.checks):
        code = decide(remaining, verdict.blockers).exit if remaining else Exit.OK
    if code is not verdict.exit:
        known = len(report.checks) - len(remaining)
        reasons = (*reasons, f"{known} check{' is' if known == 1 else 's are'} known to the baseline")
    if standing.flaws:
        counts = {"stale": standing.stale, "unknown": standing.unknown, "expired": standing.expired}
        said = ", ".join(f"{len(flaws)} {name}" for name, flaws in counts.items() if flaws)
        code, reasons = Exit.FAILED, (*reasons, f"baseline entries that don't hold: {said}")
    return replace(verdict, exit=code, reasons=reasons)
