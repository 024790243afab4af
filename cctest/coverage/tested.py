"""What one run shows of a row: whether it was tested, by which evidence, or why not."""

from collections import Counter
from collections.abc import Iterator, Sequence

from cctest.coverage.model import DECIDED, Reason, Row, State, Tested
from cctest.report.model import Report
from cctest.verdict import Check, Result, Source

_ORDER = (Result.ERROR, Result.INCONCLUSIVE, Result.UNSUPPORTED)
"""Results of checks that decided nothing, in the order in which their reasons are told."""


def tested(row: Row, report: Report, checks: Sequence[Check], two_ended: frozenset[str]) -> Tested:
    """Say what `checks`, those of the report that concern the row, show of it.

    `two_ended` names the cases that need an engine behind the target. A row whose rules nobody can observe
    is to be settled by the caller.
    """
    results = Counter(check.result for check in checks)
    return Tested(
        state=_state(results),
        results={result: results[result] for result in Result if results[result]},
        evidence=_evidence(checks),
        reasons=tuple(_undecided(checks) if checks else _not_run(row, report, two_ended)),
    )


def unobservable(shown: Tested, because: str) -> Tested:
    """Give what a run shows of a rule that nobody can observe: its checks decide nothing about it."""
    return Tested(State.UNOBSERVABLE, shown.results, shown.evidence, (Reason(because),))


def _state(results: Counter[Result]) -> State:
    if any(results[result] for result in DECIDED):
        return State.TESTED
    if results[Result.INCONCLUSIVE] or results[Result.ERROR]:
        return State.UNDECIDED
    return State.UNSUPPORTED if results[Result.UNSUPPORTED] else State.NOT_RUN


def _evidence(checks: Sequence[Check]) -> dict[Source, int]:
    """Count the decided checks that rest on each source, strongest first; a check may rest on several."""
    counts = Counter(
        source
        for check in checks
        if check.result in DECIDED
        for source in {item.source for item in check.evidence}
    )
    return {source: counts[source] for source in Source if counts[source]}


def _undecided(checks: Sequence[Check]) -> Iterator[Reason]:
    for result in _ORDER:
        messages = Counter(check.message for check in checks if check.result is result)
        for message, count in messages.most_common():
            yield Reason(message, result, count)


def _not_run(row: Row, report: Report, two_ended: frozenset[str]) -> Iterator[Reason]:
    """Say why no check of a row ran."""
    if report.command == "vectors":
        if row.vectors:
            yield Reason("its vectors weren't in the run")
        elif row.checks:
            yield Reason("no vector exercises it: it takes a probe")
        else:
            yield Reason("nothing exercises it")
    elif not report.checks:
        yield Reason("; ".join(report.verdict.reasons) or "no check ran")
    elif not row.checks:
        yield Reason("only vectors exercise it" if row.vectors else "nothing exercises it")
    elif two_ended.issuperset(row.cases):
        yield Reason("it takes an instrumented engine behind the target (--engine)")
    else:
        yield Reason("its checks weren't in the run")
