"""Two fragments: whether they reach every composed value, and none that no single value stands for."""

from collections import defaultdict
from collections.abc import Iterator

from cctest.minimality.behaviour import Effect, Observed
from cctest.minimality.finding import Answer, Finding, Question, Witness, alike, told_apart
from cctest.minimality.search import pair_of
from cctest.minimality.vocabulary import Composes, Member, Vocabulary


def judge_composition(vocabulary: Vocabulary, observed: Observed) -> Iterator[Finding]:
    """Say of each constraint what two fragments with any two of its values come to."""
    for member in vocabulary.constraints:
        if member.composes is Composes.STRICTEST:
            yield _strictest(vocabulary, member, observed)
        else:
            yield _sequence(vocabulary, member, observed)


def _strictest(vocabulary: Vocabulary, member: Member, observed: Observed) -> Finding:
    """Find for each pair the single values that behave like it."""
    singles = {
        value.name: observed.singles[vocabulary.base.replacing(member.name, value.name)]
        for value in member.values
    }
    reached: defaultdict[str, list[str]] = defaultdict(list)
    for (name, one, other), behaviour in observed.pairs.items():
        if name != member.name:
            continue
        subject = pair_of(vocabulary, name, (one, other))
        like = [value for value, single in singles.items() if single == behaviour]
        if not like:
            setting = vocabulary.base.replacing(name, other)
            witness = told_apart(subject, behaviour, (setting,), singles[other])
            text = f"{one} then {other} behaves like no single value"
            return Finding(Question.COMPOSED, Answer.NO, name, text, witnesses=(witness,))
        for value in like:
            reached[value].append(f"{one}+{other}")
    if missed := [value for value in singles if value not in reached]:
        text = f"no two fragments reach {', '.join(missed)}"
        return Finding(Question.COMPOSED, Answer.NO, member.name, text)
    ways = ", ".join(f"{value} by {len(reached[value])}" for value in singles)
    text = f"{len(singles) ** 2} pairs of fragments reach every value and no other: {ways}"
    return Finding(
        Question.COMPOSED, Answer.YES, member.name, text, witnesses=_examples(vocabulary, member, reached)
    )


def _examples(vocabulary: Vocabulary, member: Member, reached: dict[str, list[str]]) -> tuple[Witness, ...]:
    """Give for each value a pair that reaches it, of two different values where there is one."""
    examples = []
    for value in member.values:
        pairs = [tuple(pair.split("+")) for pair in reached[value.name]]
        one, other = next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])
        single = vocabulary.base.replacing(member.name, value.name)
        examples.append(alike(pair_of(vocabulary, member.name, (one, other)), (single,)))
    return tuple(examples)


def _sequence(vocabulary: Vocabulary, member: Member, observed: Observed) -> Finding:
    """Check that each sequence of two values reads what it retained, and nothing that another one did."""
    crossings = {key[1:]: effect for key, effect in observed.crossings.items() if key[0] == member.name}
    wrong = [
        (writer, reader)
        for (writer, reader), effect in crossings.items()
        if (effect is Effect.REUSED) is not (writer == reader)
    ]
    if wrong:
        writer, reader = wrong[0]
        effect = crossings[writer, reader]
        witness = Witness(
            pair_of(vocabulary, member.name, writer),
            pair_of(vocabulary, member.name, reader),
            "second",
            "",
            effect,
        )
        text = f"what {'+'.join(writer)} retained was {effect} for {'+'.join(reader)}"
        return Finding(Question.COMPOSED, Answer.NO, member.name, text, witnesses=(witness,))
    count = len({writer for writer, _ in crossings})
    text = f"{count} sequences of two values, each of which reads what it retained and nothing else"
    return Finding(Question.COMPOSED, Answer.YES, member.name, text)
