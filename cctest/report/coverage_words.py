"""Coverage in words that every form of it uses: the summary of a run, and what a run shows of a row."""

from collections.abc import Iterator, Sequence
from typing import Final

from cctest.coverage.model import Coverage, Row, State, Tested
from cctest.verdict import Result

NAMES_SHOWN: Final = 8
"""As many names a summary gives of one state."""


def summary_lines(coverage: Coverage, run: int = 0) -> Iterator[str]:
    """Yield what one run tested: of the rules, of the interoperability tests, of what no schema can say."""
    yield _counted([each.row for each in coverage.rules], run, "rules")
    tables = (
        (coverage.interoperability, "interoperability tests"),
        (coverage.beyond_schemas, "rules that no schema can say"),
    )
    for rows, what in tables:
        if any(row.tested[run].state is not State.NOT_RUN for row in rows):
            yield _counted(rows, run, what)
    if coverage.gaps:
        yield f"{len(coverage.gaps)} gaps in the suite itself; cctest coverage lists them"


def together_line(coverage: Coverage) -> str:
    """Say how many rules one of the runs or another tested."""
    count = sum(any(tested.state is State.TESTED for tested in each.row.tested) for each in coverage.rules)
    hidden = [each.rule.id for each in coverage.rules if each.rule.because is not None]
    missing = [
        each.rule.id
        for each in coverage.rules
        if each.rule.because is None and all(tested.state is not State.TESTED for tested in each.row.tested)
    ]
    parts = [f"{count} of {len(coverage.rules)} rules tested"]
    parts += [f"{len(missing)} not ({_few(missing)})"] if missing else []
    return "; ".join([*parts, f"{len(hidden)} not observable ({_few(hidden)})"])


def _counted(rows: Sequence[Row], run: int, what: str) -> str:
    failing = [row.name for row in rows if row.tested[run].word == Result.FAIL]
    parts = [f"{len(failing)} of them failing ({_few(failing)})"] if failing else []
    for state in State:
        names = [row.name for row in rows if row.tested[run].state is state]
        if names and state is not State.TESTED:
            parts.append(f"{len(names)} {state} ({_few(names)})")
    count = sum(row.tested[run].state is State.TESTED for row in rows)
    return "; ".join([f"{count} of {len(rows)} {what} tested", *parts])


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(names[:NAMES_SHOWN]) + more


def result_words(tested: Tested) -> str:
    """Say what checks came to: `12 pass, 2 unsupported`; empty where none ran."""
    return ", ".join(f"{count} {result}" for result, count in tested.results.items())


def evidence_words(tested: Tested) -> str:
    """Name the sources of evidence, strongest first, with the number of checks that rest on each."""
    return ", ".join(f"{source} {count}" for source, count in tested.evidence.items())


def reason_lines(tested: Tested) -> Iterator[str]:
    """Yield why a row wasn't tested, or not by all of its checks."""
    for reason in tested.reasons:
        if reason.result is None:
            yield reason.message
        else:
            yield f"{reason.result} ({reason.checks}): {reason.message}"
