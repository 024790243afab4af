"""Which settings are equal, and whether the rules say so."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from cctest.minimality.behaviour import Behaviour, Observed
from cctest.minimality.finding import Answer, Finding, Question, alike, told_apart
from cctest.minimality.vocabulary import Equality, Setting, Vocabulary


def stated_classes(vocabulary: Vocabulary) -> Mapping[Setting, Setting]:
    """Give each setting one that stands for all that are equal to it by the rules."""
    standing = {setting: setting for setting in vocabulary.settings()}
    for equality in vocabulary.equal:
        for group in _groups(vocabulary, equality):
            joined = {standing[setting] for setting in group}
            first = standing[group[0]]
            standing = {setting: first if other in joined else other for setting, other in standing.items()}
    return standing


def judge_equalities(vocabulary: Vocabulary, observed: Observed) -> Iterator[Finding]:
    """Say of each stated equality whether it was seen, and whether all other settings differ."""
    for equality in vocabulary.equal:
        yield _stated(equality, _groups(vocabulary, equality), observed.singles)
    yield _unstated(stated_classes(vocabulary), observed.singles)


def _groups(vocabulary: Vocabulary, equality: Equality) -> list[list[Setting]]:
    groups: defaultdict[Setting, list[Setting]] = defaultdict(list)
    for setting in vocabulary.settings():
        if equality.covers(setting):
            groups[equality.rest(setting)].append(setting)
    return list(groups.values())


def _stated(
    equality: Equality, groups: Sequence[Sequence[Setting]], seen: Mapping[Setting, Behaviour]
) -> Finding:
    where = " and ".join(f"{member}={'|'.join(values)}" for member, values in equality.where.items())
    ignoring = f", whatever {', '.join(equality.ignoring)}" if equality.ignoring else ""
    statement = f"{where}{ignoring}: {equality.because} ({', '.join(equality.rules)})"
    for group in groups:
        for other in group[1:]:
            if seen[other] != seen[group[0]]:
                witness = told_apart((group[0],), seen[group[0]], (other,), seen[other])
                text = f"stated, but not so: {statement}"
                return Finding(Question.STATED, Answer.NO, "", text, witnesses=(witness,))
    count = sum(map(len, groups))
    text = f"{count} settings behave as {len(groups)}: {statement}"
    return Finding(Question.STATED, Answer.BY_RULE, "", text)


def _unstated(classes: Mapping[Setting, Setting], seen: Mapping[Setting, Behaviour]) -> Finding:
    by_behaviour: dict[Behaviour, Setting] = {}
    clashes = []
    for setting in dict.fromkeys(classes.values()):
        earlier = by_behaviour.setdefault(seen[setting], setting)
        if earlier != setting:
            clashes.append(alike((earlier,), (setting,)))
    if clashes:
        text = f"{len(clashes)} settings behave like another one, and no rule says why"
        return Finding(Question.UNSTATED, Answer.NO, "", text, witnesses=tuple(clashes[:3]))
    text = f"{len(by_behaviour)} behaviours, one for each setting that no rule makes equal to another"
    return Finding(Question.UNSTATED, Answer.YES, "", text)
