"""Hints, by a criterion of their own: reported, and the value to be told by where clipping begins."""

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise

from cctest.minimality.behaviour import WRITER, Behaviour, Observed, Subject
from cctest.minimality.finding import Answer, Finding, Question, Witness
from cctest.minimality.vocabulary import Member, Setting, Vocabulary


def judge_hints(vocabulary: Vocabulary, observed: Observed) -> Iterator[Finding]:
    """Say of each hint whether it is reported, whether its value shows, and what else it changes."""
    for hint in vocabulary.hints:
        seen = {
            setting: behaviour
            for setting, behaviour in observed.hinted.items()
            if setting.value(hint.name) is not None
        }
        yield _reported(vocabulary, hint, seen)
        yield _clipped(vocabulary, hint, seen)
        yield _harmless(hint, seen)


def _reported(vocabulary: Vocabulary, hint: Member, seen: Mapping[Setting, Behaviour]) -> Finding:
    reports = _reports(vocabulary, hint, seen)
    told = {value: report for value, report in reports.items() if report is not None}
    if not told:
        text = "no value of it is ever reported"
        return Finding(
            Question.REPORTED, Answer.NO, hint.name, text, witnesses=_at_base(vocabulary, hint, reports)
        )
    text = ", ".join(f"{value}: {report or 'no report'}" for value, report in reports.items())
    return Finding(Question.REPORTED, Answer.YES, hint.name, text)


def _clipped(vocabulary: Vocabulary, hint: Member, seen: Mapping[Setting, Behaviour]) -> Finding:
    reports = _reports(vocabulary, hint, seen)
    told = [report for report in reports.values() if report is not None]
    witnesses = _at_base(vocabulary, hint, reports)
    if len(set(told)) < 2 or "clipped" not in told:
        text = "all its values look the same: nobody can tell which one was sent"
        return Finding(Question.CLIPPED, Answer.NO, hint.name, text, witnesses=witnesses)
    text = (
        f"{len(set(told))} reports for {len(told)} values: it shows which side of the maximum a value is on"
    )
    return Finding(Question.CLIPPED, Answer.YES, hint.name, text, witnesses=witnesses)


def _harmless(hint: Member, seen: Mapping[Setting, Behaviour]) -> Finding:
    """Compare each value with the others at the same setting: reports without their hints, and effects."""
    first: dict[Setting, tuple[Setting, Behaviour]] = {}
    for setting, behaviour in seen.items():
        other, expected = first.setdefault(setting.without(hint.name), (setting, behaviour))
        if _without_hints(behaviour) != _without_hints(expected):
            text = "it changes what a constraint governs (HNT-2)"
            witness = Witness((setting,), (other,), "all", str(behaviour.effects), str(expected.effects))
            return Finding(Question.HARMLESS, Answer.NO, hint.name, text, witnesses=(witness,))
    text = f"at {len(first)} settings no value changes anything but its own report"
    return Finding(Question.HARMLESS, Answer.YES, hint.name, text)


def _reports(
    vocabulary: Vocabulary, hint: Member, seen: Mapping[Setting, Behaviour]
) -> dict[str, str | None]:
    """Give the reports of each value at the base; None where there is none."""
    reports = {}
    for value in hint.values:
        entry = _entry(seen[vocabulary.base.replacing(hint.name, value.name)][WRITER].report)
        hints = entry.get("hints")
        reports[value.name] = hints.get(hint.name) if isinstance(hints, dict) else None
    return reports


def _at_base(vocabulary: Vocabulary, hint: Member, reports: Mapping[str, str | None]) -> tuple[Witness, ...]:
    """Set the values side by side, each with the next one."""
    values = [value.name for value in hint.values]
    return tuple(
        Witness(
            _subject(vocabulary, hint, one),
            _subject(vocabulary, hint, other),
            WRITER,
            reports[one] or "no report",
            reports[other] or "no report",
        )
        for one, other in pairwise(values)
    )


def _subject(vocabulary: Vocabulary, hint: Member, value: str) -> Subject:
    return (vocabulary.base.replacing(hint.name, value),)


def _without_hints(behaviour: Behaviour) -> list[tuple[str, str, str]]:
    return [
        (name, str(seen.effect), json.dumps({**_entry(seen.report), "hints": None}, sort_keys=True))
        for name, seen in behaviour.observations
    ]


def _entry(report: str) -> dict[str, object]:
    entry = json.loads(report) if report.startswith("{") else {}
    return entry if isinstance(entry, dict) else {}
