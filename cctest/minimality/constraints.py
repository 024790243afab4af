"""Constraints and their values: whether each changes what happens, and whether others could do the same."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import TypeAlias

from cctest.minimality.behaviour import Behaviour, Effect, Observed
from cctest.minimality.equalities import stated_classes
from cctest.minimality.finding import Answer, Finding, Question, Witness, alike, told_apart
from cctest.minimality.vocabulary import Member, Setting, Vocabulary, Widening

Seen: TypeAlias = Mapping[Setting, Behaviour]


def judge_constraints(vocabulary: Vocabulary, observed: Observed) -> Iterator[Finding]:
    """Yield what there is to say of each constraint and of each of its values."""
    # Settings near the base come first, so that they are the ones that are shown.
    seen = dict(sorted(observed.singles.items(), key=lambda one: _distance(one[0], vocabulary.base)))
    classes = stated_classes(vocabulary)
    for member in vocabulary.constraints:
        yield _discriminates(member, seen, classes)
        yield _irreducible(member, seen)
        for value in member.values:
            yield _needed(member, value.name, seen, classes)
        if member.widens is not None:
            yield _widens(member, member.widens, seen)


def _distance(one: Setting, other: Setting) -> int:
    return sum(mine != theirs for mine, theirs in zip(one.choices, other.choices, strict=True))


def _discriminates(member: Member, seen: Seen, classes: Mapping[Setting, Setting]) -> Finding:
    """Find where most values behave differently; all have to that no rule makes equal."""
    names = [value.name for value in member.values]
    rows = [
        {name: setting.replacing(member.name, name) for name in names}
        for setting in seen
        if setting.value(member.name) == names[0]
    ]
    best = max(rows, key=lambda row: len({seen[setting] for setting in row.values()}))
    distinct = len({seen[setting] for setting in best.values()})
    richest = max(rows, key=lambda row: len({classes[setting] for setting in row.values()}))
    wanted = max(len({classes[setting] for setting in richest.values()}), 2)
    if distinct < wanted:
        pairs = combinations(richest.values(), 2)
        same = [(one, other) for one, other in pairs if seen[one] == seen[other]]
        one, other = next((pair for pair in same if classes[pair[0]] != classes[pair[1]]), same[0])
        text = f"at most {distinct} behaviours for {wanted} values that no rule makes equal"
        witness = alike((one,), (other,))
        return Finding(Question.DISCRIMINATES, Answer.NO, member.name, text, witnesses=(witness,))
    others = best[names[0]].without(member.name)
    text = f"{len(names)} values, {distinct} behaviours" + (f", at {others}" if others.choices else "")
    witnesses = tuple(
        told_apart((one,), seen[one], (other,), seen[other])
        for one, other in pairwise(best.values())
        if seen[one] != seen[other]
    )
    return Finding(Question.DISCRIMINATES, Answer.YES, member.name, text, witnesses=witnesses)


def _irreducible(member: Member, seen: Seen) -> Finding:
    """Fix the member to each value in turn: each time the others have to miss some behaviour."""
    witnesses = []
    for value in member.values:
        left = [setting for setting in seen if setting.value(member.name) == value.name]
        gone = [setting for setting in seen if setting.value(member.name) != value.name]
        lost = _first_lost(seen, gone, left)
        if lost is None:
            double = next(setting for setting in left if seen[setting] == seen[gone[0]])
            text = f"with {member.name}={value.name} alone the others give every behaviour"
            witness = alike((gone[0],), (double,))
            return Finding(Question.IRREDUCIBLE, Answer.NO, member.name, text, witnesses=(witness,))
        witnesses.append(_nearest(lost, left, seen))
    text = f"fixed to any of its {len(member.values)} values, the others miss a behaviour"
    return Finding(Question.IRREDUCIBLE, Answer.YES, member.name, text, witnesses=tuple(witnesses))


def _needed(member: Member, value: str, seen: Seen, classes: Mapping[Setting, Setting]) -> Finding:
    """Take one value away and look whether a behaviour is lost."""
    own = [setting for setting in seen if setting.value(member.name) == value]
    others = [setting for setting in seen if setting.value(member.name) != value]
    lost = _first_lost(seen, own, others)
    if lost is not None:
        return _judge_lost(lost, others, seen, Finding(Question.NEEDED, Answer.YES, member.name, "", value))
    twins = {classes[setting]: setting for setting in reversed(others)}
    unexcused = [setting for setting in own if classes[setting] not in twins]
    if unexcused:
        one = unexcused[0]
        double = next(setting for setting in others if seen[setting] == seen[one])
        text = f"without it no behaviour is lost: {one} is like {double}"
        witness = alike((one,), (double,))
        return Finding(Question.NEEDED, Answer.NO, member.name, text, value, (witness,))
    twin = twins[classes[own[0]]]
    text = f"by the rules the same as {member.name}={twin.value(member.name)}"
    same = {classes[setting] for setting in own}
    rivals = [setting for setting in others if classes[setting] not in same]
    text += _beyond(own, rivals, seen)
    witness = alike((own[0],), (twin,))
    return Finding(Question.NEEDED, Answer.BY_RULE, member.name, text, value, (witness,))


def _judge_lost(lost: Setting, others: Sequence[Setting], seen: Seen, finding: Finding) -> Finding:
    """Say how a behaviour that would be lost differs from those that remain."""
    witness = _nearest(lost, others, seen)
    (other,) = witness.other
    if seen[lost].effects != seen[other].effects:
        text = f"{witness.seen_by}: {witness.one_saw}; with {other.beside(lost)}: {witness.other_saw}"
        return replace(finding, text=text, witnesses=(witness,))
    text = f"a cache does the same with {other.beside(lost)}; only the report differs"
    return replace(finding, answer=Answer.BY_REPORT, text=text, witnesses=(witness,))


def _beyond(own: Sequence[Setting], rivals: Sequence[Setting], seen: Seen) -> str:
    """Say whether a value that is equal to another one by rule has a third one that does the same."""
    effects = {seen[setting].effects: setting for setting in reversed(rivals)}
    twin = effects.get(seen[own[0]].effects)
    if twin is None:
        return ""
    return f"; and a cache does the same with {twin.beside(own[0])}, only the report differs"


def _first_lost(seen: Seen, gone: Iterable[Setting], left: Iterable[Setting]) -> Setting | None:
    """Give a setting among the `gone` whose behaviour none that is `left` has, at best with other effects."""
    behaviours = {seen[setting] for setting in left}
    effects = {behaviour.effects for behaviour in behaviours}
    lost = [setting for setting in gone if seen[setting] not in behaviours]
    by_effect = (setting for setting in lost if seen[setting].effects not in effects)
    return next(by_effect, lost[0] if lost else None)


def _nearest(setting: Setting, rivals: Iterable[Setting], seen: Seen) -> Witness:
    """Set against a setting the rival that comes closest to its behaviour."""
    mine = seen[setting]

    def order(other: Setting) -> tuple[int, int, int]:
        effects = sum(one is not two for one, two in zip(mine.effects, seen[other].effects, strict=True))
        return effects, len(mine.differences(seen[other])), _distance(setting, other)

    nearest = min(rivals, key=order)
    return told_apart((setting,), mine, (nearest,), seen[nearest])


def _widens(member: Member, widening: Widening, seen: Seen) -> Finding:
    """Compare a value with the narrower one: what differs has to be what the narrower one had computed."""
    by_reader: defaultdict[str, list[Witness]] = defaultdict(list)
    for setting, mine in seen.items():
        if setting.value(member.name) != widening.value:
            continue
        narrower = setting.replacing(member.name, widening.narrower)
        for name in mine.differences(seen[narrower]):
            witness = told_apart((setting,), mine, (narrower,), seen[narrower])
            if seen[narrower][name].effect is not Effect.COMPUTED:
                text = f"{name} sees a difference although {widening.narrower} served it"
                return Finding(Question.WIDENS, Answer.NO, member.name, text, widening.value, (witness,))
            by_reader[name].append(witness)
    if not by_reader:
        text = f"it never differs from {widening.narrower}"
        return Finding(Question.WIDENS, Answer.NO, member.name, text, widening.value)
    readers = ", ".join(f"{name} ({len(found)} settings)" for name, found in by_reader.items())
    text = f"differs from {widening.narrower} only where that one computes: {readers}"
    witnesses = tuple(found[0] for found in by_reader.values())
    return Finding(Question.WIDENS, Answer.YES, member.name, text, widening.value, witnesses)
