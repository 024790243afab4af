"""A mutation report for people: as text on a terminal, and as Markdown."""

from collections.abc import Iterator
from typing import Final

from cctest.mutation.judgement import unexplained
from cctest.mutation.mutant import Family, Mutant, Status, Verdict
from cctest.mutation.report import MutationReport, Tally, by_rule

_MARKS: Final = {
    Status.KILLED: "x",
    Status.KILLED_BY_ANOTHER: "o",
    Status.SURVIVED: "S",
    Status.BROKE: "!",
    Status.TIMED_OUT: "T",
    Status.NOT_APPLIED: "?",
}
_FAMILIES: Final = {
    Family.RULE: "rules inverted",
    Family.SCHEMA: "schema keywords left out",
    Family.GOLDEN: "golden values altered",
    Family.GENERATED: "generated",
}


def percent(part: float | None) -> str:
    """Spell a part of one: `97.5 %`, never rounded up to 100."""
    if part is None:
        return "none"
    tenths = int(part * 1000)
    return f"{tenths // 10}.{tenths % 10} %" if tenths % 10 else f"{tenths // 10} %"


def terminal_text(report: MutationReport, *, quiet: bool = False) -> str:
    """Write the report for a terminal: a mark for each mutant by its rule, then what was missed."""
    lines: list[str] = []
    if not quiet:
        lines += _matrix(report)
        lines += _missed(report)
        lines += [f"note: {note}" for note in report.notes]
    lines += [f"lost: {loss}" for loss in report.losses]
    lines += [
        f"killed, so that nothing is to be argued: {name} ({report.arguments[name].where})"
        for name in report.argued_in_vain()
    ]
    lines += [*_figures(report), verdict_line(report)]
    return "\n".join(lines) + "\n"


def verdict_line(report: MutationReport) -> str:
    """Say in a line what the run came to."""
    outcome = "every mutant was killed as it should"
    if report.exit():
        outcome = "an argument is in vain" if report.argued_in_vain() else "the suite missed mutants"
    outcome = "the suite has lost something" if report.losses else outcome
    return f"{outcome}; {report.seconds:.0f} s"


def _matrix(report: MutationReport) -> Iterator[str]:
    for rule, judged in by_rule(report).items():
        yield f"{rule:8} {''.join(_MARKS[verdict.status] for _, verdict in judged)}"
    yield "x killed by its check, o by another, S survived, ! broke, T timed out, ? not applied"
    yield ""


def _missed(report: MutationReport) -> Iterator[str]:
    for mutant, verdict in report.judged:
        if verdict.status is not Status.KILLED:
            yield f"{verdict.status}: {mutant.id} ({mutant.inverts.rstrip('.')})"
            yield from (f"    {told}" for told in _details(report, mutant, verdict))
        elif verdict.suspect:
            yield f"suspect: {mutant.id} turned {len(verdict.findings)} of {verdict.ran} checks red"
    for verdict in report.golden:
        if verdict.status is not Status.KILLED:
            yield f"{verdict.status}: {verdict.mutant}"


def _details(report: MutationReport, mutant: Mutant, verdict: Verdict) -> Iterator[str]:
    if mutant.caught_by is not None:
        yield f"meant for: {mutant.caught_by}"
    if verdict.findings:
        yield f"failed: {', '.join(dict.fromkeys(one.check for one in verdict.findings))}"
    if verdict.note:
        yield verdict.note
    argument = report.arguments.get(mutant.id)
    if argument is not None:
        yield f"{argument.kind}: {argument.why}"


def _figures(report: MutationReport) -> Iterator[str]:
    for family, words in _FAMILIES.items():
        counted = report.tally(family)
        if counted.total:
            yield f"{words}: {_told(counted)}"
    passed = ", ".join(f"{count} checks ({setup})" for setup, count in report.baseline.items())
    yield f"without a mutant all passed: {passed}"


def _told(counted: Tally) -> str:
    """Spell a count: what was killed, and what else became of how many."""
    killed = counted.by_status[Status.KILLED]
    return ", ".join((f"{killed} of {counted.total} killed ({percent(counted.score)})", *_others_of(counted)))


def _others_of(counted: Tally) -> Iterator[str]:
    for status, count in counted.by_status.items():
        if count and status is not Status.KILLED:
            among = counted.unkillable if status is Status.SURVIVED else 0
            yield f"{count} {status}" + (f", {among} of these rightly" if among else "")


def markdown_text(report: MutationReport) -> str:
    """Write the report as Markdown."""
    return "\n".join((*_head(report), *_rules(report), *_generated(report))) + "\n"


def summary_table(report: MutationReport) -> Iterator[str]:
    """Give the figures as a table."""
    counts = {words: report.tally(family) for family, words in _FAMILIES.items()}
    by_package = report.tallies_by_package()
    if len(by_package) > 1:
        counts |= {f"generated, in `{package}`": each for package, each in by_package.items()}
    yield "| mutants | in all | killed | score | of all | otherwise |"
    yield "|---|---|---|---|---|---|"
    for words, counted in counts.items():
        if counted.total:
            others = ", ".join(_others_of(counted)) or "-"
            killed, parts = counted.by_status[Status.KILLED], (counted.score, counted.strict)
            yield f"| {words} | {counted.total} | {killed} | {' | '.join(map(percent, parts))} | {others} |"


def _head(report: MutationReport) -> Iterator[str]:
    yield "# Mutation report"
    yield ""
    yield (
        "Our own implementation, broken on purpose, one change at a time: does the suite turn red, and by the"
        " check that is there for it? A crash, a server error, a time-out and an inconclusive check kill"
        " nothing."
    )
    yield ""
    yield from summary_table(report)
    yield ""
    if report.verdicts(Family.GENERATED):
        yield (
            "*Score* leaves out the generated mutants that only broke, and those that survive rightly, as is"
            " argued below; *of all* leaves out none."
        )
        yield ""
    passed = ", ".join(f"{count} checks ({setup})" for setup, count in report.baseline.items())
    yield f"Without a mutant all passed in the same session: {passed}."
    yield from (f"\n{note[0].upper()}{note[1:]}." for note in report.notes)
    yield ""


def _rules(report: MutationReport) -> Iterator[str]:
    rows = [
        (rule, mutant, verdict)
        for rule, judged in by_rule(report).items()
        for mutant, verdict in judged
        if mutant.family in (Family.RULE, Family.SCHEMA)
    ]
    if not rows:
        return
    yield "## By rule"
    yield ""
    yield "| rule | mutant | what it does | on | meant for | result | other checks that failed |"
    yield "|---|---|---|---|---|---|---|"
    for rule, mutant, verdict in rows:
        yield (
            f"| {rule} | `{mutant.id}` | {_cell(mutant.inverts)} | {mutant.setups[0]} | `{mutant.caught_by}` "
            f"| {verdict.status} | {_others(mutant, verdict)} |"
        )
    yield ""


def _others(mutant: Mutant, verdict: Verdict) -> str:
    """Count collateral failures, and those among them that share no rule with the mutant."""
    others = {
        one.check
        for one in verdict.findings
        if mutant.caught_by not in (one.check, one.check.partition("#")[0])
    }
    apart = {one.check for one in unexplained(mutant, verdict)}
    told = str(len(others)) if others else "-"
    return f"{told}, {len(apart)} of other rules: {', '.join(sorted(apart)[:3])}" if apart else told


def _generated(report: MutationReport) -> Iterator[str]:
    left = [
        (mutant, verdict)
        for mutant, verdict in report.judged
        if mutant.family is Family.GENERATED and not verdict.killed and verdict.status is not Status.BROKE
    ]
    if not report.verdicts(Family.GENERATED):
        return
    yield "## Survivors among the generated mutants"
    yield ""
    yield "| mutant | was | becomes | why it need not be killed |"
    yield "|---|---|---|---|"
    for mutant, verdict in left:
        argument = report.arguments.get(mutant.id)
        why = f"{argument.kind}: {argument.why}" if argument is not None else str(verdict.status)
        yield f"| `{mutant.id}` | `{_cell(mutant.was)}` | `{_cell(mutant.becomes)}` | {_cell(why)} |"
    yield ""


def _cell(text: str) -> str:
    """Fit a text into a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")
