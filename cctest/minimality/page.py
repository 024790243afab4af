"""The outcome laid out for people: tables, and every objection with the inputs that show it."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from cctest.minimality.behaviour import Subject
from cctest.minimality.finding import Finding, Question, Witness
from cctest.minimality.outcome import Outcome

_BY_MEMBER: Final = (Question.DISCRIMINATES, Question.IRREDUCIBLE, Question.COMPOSED)
_BY_VALUE: Final = (Question.NEEDED, Question.WIDENS)
_BY_HINT: Final = (Question.REPORTED, Question.CLIPPED, Question.HARMLESS)
_OVERALL: Final = (Question.STATED, Question.UNSTATED)

_OBJECTIONS: Final = {
    Question.DISCRIMINATES: "changes nothing that can be seen",
    Question.IRREDUCIBLE: "the other members can do the same",
    Question.NEEDED: "not needed",
    Question.WIDENS: "does something else than to serve more input",
    Question.COMPOSED: "doesn't compose",
    Question.REPORTED: "not reported",
    Question.CLIPPED: "its value can't be told",
    Question.HARMLESS: "changes more than its report",
    Question.STATED: "not equal as stated",
    Question.UNSTATED: "equal, and no rule says why",
}
"""What the answer no means."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a title. All cells are plain text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Objection:
    """What speaks against a member, in words, and the inputs that show it."""

    title: str
    text: str
    inputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """All that is shown, whatever the format. `verdict` is one line without anything that varies by run."""

    tables: tuple[Table, ...]
    objections: tuple[Objection, ...]
    verdict: str


def page_of(outcome: Outcome) -> Page:
    """Lay out an outcome."""
    return Page(
        tables=tuple(table for table in _tables(outcome) if table.rows),
        objections=tuple(_objection(finding, outcome) for finding in outcome.objections),
        verdict=_verdict(outcome),
    )


def _tables(outcome: Outcome) -> Iterator[Table]:
    findings = outcome.findings
    yield _by_member("Constraints", "constraint", _BY_MEMBER, findings)
    yield Table(
        "Values",
        ("value", "worth its place", "seen", "here", "and here"),
        tuple(
            (finding.about, str(finding.answer), finding.text, *_inputs(finding))
            for finding in findings
            if finding.question in _BY_VALUE
        ),
    )
    yield _by_member("Hints", "hint", _BY_HINT, findings)
    yield Table(
        "Equal settings",
        ("answer", "settings"),
        tuple((str(finding.answer), finding.text) for finding in findings if finding.question in _OVERALL),
    )
    readers = outcome.vocabulary.readers
    yield Table("Readers", ("reader", "who"), tuple((reader.name, reader.text) for reader in readers))


def _by_member(title: str, column: str, questions: Sequence[Question], findings: Sequence[Finding]) -> Table:
    asked = [finding for finding in findings if finding.question in questions]
    names = dict.fromkeys(finding.member for finding in asked)
    cells = {(finding.member, finding.question): f"{finding.answer}: {finding.text}" for finding in asked}
    rows = tuple((name, *(cells.get((name, question), "") for question in questions)) for name in names)
    return Table(title, (column, *map(str, questions)), rows)


def _inputs(finding: Finding) -> tuple[str, str]:
    """Give the settings of the first witness."""
    for witness in finding.witnesses:
        return _subject(witness.one), _subject(witness.other)
    return "", ""


def _subject(subject: Subject) -> str:
    return " then ".join(map(str, subject))


def _objection(finding: Finding, outcome: Outcome) -> Objection:
    return Objection(
        title=f"{finding.about or 'settings'}: {_OBJECTIONS[finding.question]}",
        text=finding.text,
        inputs=tuple(line for witness in finding.witnesses for line in _witness(witness, outcome)),
    )


def _witness(witness: Witness, outcome: Outcome) -> Iterator[str]:
    sides = ((witness.one, witness.one_saw), (witness.other, witness.other_saw))
    for place, (subject, saw) in enumerate(sides):
        spelt = [
            json.dumps(outcome.vocabulary.intent(setting, outcome.observed.hint_max)) for setting in subject
        ]
        after = f" -> {witness.seen_by} saw: {saw}" if witness.seen_by else ""
        head = "and" if place else "both" if witness.seen_by is None else "one"
        yield f"{head}: {_subject(subject)}: {' then '.join(spelt)}{after}"


def _verdict(outcome: Outcome) -> str:
    vocabulary = outcome.vocabulary
    values = sum(len(member.values) for member in vocabulary.constraints)
    parts = (
        f"{len(vocabulary.constraints)} constraints with {values} values",
        f"{len(vocabulary.hints)} hint{'' if len(vocabulary.hints) == 1 else 's'}",
        f"{len(outcome.observed.singles)} settings with {outcome.behaviours} behaviours",
    )
    count = len(outcome.objections)
    head = "minimal" if outcome.minimal else f"not minimal ({count} objection{'' if count == 1 else 's'})"
    return f"{head}: {', '.join(parts)}"
