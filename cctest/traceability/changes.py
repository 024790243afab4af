"""What became of the normative sentences since they were recorded: gone, new, or in other words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from cctest import bundle
from cctest.traceability.record import WRITTEN_BY
from cctest.traceability.sentences import Sentence
from cctest.traceability.untied import Untied

RECORD: Final = bundle.SENTENCES.relative_to(bundle.ROOT).as_posix()
"""What messages call the record."""

_ALIKE: Final = 0.6
"""From which similarity on two sentences that state no rule in common are one in two wordings."""

_MEANT: Final = f"if that is meant, `{WRITTEN_BY}`"


def find_changes(recorded: Sequence[Sentence], found: Sequence[Sentence]) -> Iterator[Untied]:
    """Yield each normative sentence of `recorded` that `found` lacks or has in other words, and each new one.

    Where a sentence stands in its document is no matter, nor are line breaks; how often it does is.
    """
    gone, new = _beyond(recorded, found), _beyond(found, recorded)
    changed = dict(_pairs(gone, new))
    for before in gone:
        after = changed.get(before)
        yield _gone(before) if after is None else _changed(before, after)
    reworded = set(changed.values())
    for sentence in new:
        if sentence not in reworded:
            yield _new(sentence)


def _beyond(these: Sequence[Sentence], those: Sequence[Sentence]) -> list[Sentence]:
    left = Counter((each.document, each.text) for each in those if each.normative)
    beyond: list[Sentence] = []
    for sentence in these:
        key = sentence.document, sentence.text
        if not sentence.normative:
            continue
        if left[key]:
            left[key] -= 1
        else:
            beyond.append(sentence)
    return beyond


def _pairs(gone: Sequence[Sentence], new: Sequence[Sentence]) -> Iterator[tuple[Sentence, Sentence]]:
    """Pair sentences that are one in two wordings, the most similar first."""
    scored = [
        (_similarity(before, after), before, after)
        for before in gone
        for after in new
        if before.document == after.document
    ]
    taken: set[Sentence] = set()
    for score, before, after in sorted(scored, key=lambda each: -each[0]):
        alike = score >= _ALIKE or not {*before.rules}.isdisjoint(after.rules)
        if alike and taken.isdisjoint((before, after)):
            taken |= {before, after}
            yield before, after


def _similarity(one: Sentence, other: Sentence) -> float:
    return SequenceMatcher(None, one.text.split(), other.text.split(), autojunk=False).ratio()


def _gone(sentence: Sentence) -> Untied:
    message = f'{sentence.document} lacks a normative sentence that {RECORD} has: "{sentence.text}"'
    return Untied(_name(sentence), f"{message}; {_MEANT}")


def _new(sentence: Sentence) -> Untied:
    message = f'{sentence.where} is a normative sentence that {RECORD} lacks: "{sentence.text}"'
    return Untied(_name(sentence), f"{message}; {_MEANT}")


def _changed(before: Sentence, after: Sentence) -> Untied:
    loose = [rule for rule in before.rules if rule not in after.rules]
    lost = f", and no longer ends in {' and '.join(loose)}" if loose else ""
    message = f'{after.where} has other words than {RECORD}{lost}: "{after.text}", there "{before.text}"'
    return Untied(_name(before), f"{message}; {_MEANT}")


def _name(sentence: Sentence) -> str:
    return ", ".join(sentence.rules) or sentence.where
