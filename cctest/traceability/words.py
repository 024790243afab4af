"""The trace in words, for a terminal; and how much holds a rule, wherever that is told."""

import textwrap
from collections.abc import Iterator, Sequence

from cctest.traceability.trace import Tie, Trace
from cctest.traceability.untied import Untied


def holding_words(tie: Tie) -> str:
    """Say how much holds a rule: `4 vectors, 6 checks in 3 cases, 2 mutants`."""
    cases = f" in {counted(len(tie.row.cases), 'case')}"
    parts = [
        counted(len(tie.row.vectors), "vector") if tie.row.vectors else "",
        counted(len(tie.row.checks), "check") + cases if tie.row.checks else "",
        counted(len(tie.mutants), "mutant") if tie.mutants else "",
    ]
    return ", ".join(part for part in parts if part) or "nothing"


def counted(count: int, what: str) -> str:
    """Say how many there are of something: `1 vector`, `2 vectors`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def trace_lines(trace: Trace, width: int) -> Iterator[str]:
    """Yield each rule with the places of its sentences, and what holds it and what runs showed of it."""
    for tie in trace.ties.values():
        places = ", ".join(sentence.where for sentence in tie.sentences) or "no sentence"
        shown = [f"{run.name}: {tested.word}" for run, tested in zip(trace.runs, tie.row.tested, strict=True)]
        told = "; ".join([f"{tie.rule.id} {tie.rule.level}  {places}", holding_words(tie), *shown])
        yield from textwrap.wrap(told, width, subsequent_indent="    ", break_on_hyphens=False)


def closing_lines(trace: Trace, untied: Sequence[Untied]) -> Iterator[str]:
    """Yield what isn't tied, and as the last line how much there is of everything."""
    for each in untied:
        yield f"UNTIED  {each}"
    whole = (
        f"{counted(len(trace.normative), 'normative sentence')} in {counted(len(trace.drafts), 'draft')}, "
        f"{counted(len(trace.ties), 'rule')}, {counted(len(trace.mutants), 'mutant')}"
    )
    yield f"{whole}: {f'{len(untied)} not tied' if untied else 'everything is tied'}"
