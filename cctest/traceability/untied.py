"""What isn't tied: sentences without a rule, rules without a sentence, and rules that nothing holds."""

from collections.abc import Iterator
from dataclasses import dataclass

from cctest.catalogue import Level, Observable
from cctest.traceability.sentences import READING, Sentence, family
from cctest.traceability.trace import Tie, Trace

_STRENGTH = (Level.MAY, Level.SHOULD, Level.MUST)


@dataclass(frozen=True, slots=True)
class Untied:
    """One thing that isn't tied: its name, or its file and line; and what it lacks."""

    name: str
    message: str

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


def find_untied(trace: Trace) -> Iterator[Untied]:
    """Yield all that isn't tied: of sentences first, then of rules, then of the suite itself."""
    for sentence in trace.sentences:
        yield from _of_sentence(trace, sentence)
    for tie in trace.ties.values():
        yield from _of_rule(tie)
    for reading in trace.readings:
        if not any(reading in sentence.mentions for sentence in trace.sentences):
            yield Untied(reading, "an open question, and no draft mentions it")
    for mutant in trace.mutants:
        for rule in mutant.rules:
            if rule not in trace.ties:
                yield Untied(f"mutant {mutant.id}", f"breaks {rule}, which is no rule")
    for gap in trace.coverage.gaps:
        yield Untied(gap.name, gap.message)


def _of_sentence(trace: Trace, sentence: Sentence) -> Iterator[Untied]:
    if sentence.normative and not sentence.rules:
        words = " and ".join(dict.fromkeys(sentence.keywords))
        yield Untied(sentence.where, f'says {words} and ends in no identifier of a rule: "{sentence.text}"')
    yield from _unknown(trace, sentence)
    yield from _too_strong(trace, sentence)


def _unknown(trace: Trace, sentence: Sentence) -> Iterator[Untied]:
    families = {family(rule) for rule in trace.ties}
    for name in dict.fromkeys((*sentence.mentions, *sentence.rules)):
        if family(name) == READING:
            if name not in trace.readings:
                yield Untied(sentence.where, f"names {name}, which is no open question of readings.yaml")
        elif name not in trace.ties and (name in sentence.rules or family(name) in families):
            message = f'names {name}, which is no rule of requirements.yaml: "{sentence.text}"'
            yield Untied(sentence.where, message)


def _too_strong(trace: Trace, sentence: Sentence) -> Iterator[Untied]:
    """Find out whether it says more than the levels of its rules, which are the strongest things they say."""
    levels = [trace.ties[name].rule.level for name in sentence.rules if name in trace.ties]
    said = [keyword.level for keyword in sentence.keywords]
    if not levels or not said:
        return
    allowed, strongest = max(levels, key=_STRENGTH.index), max(said, key=_STRENGTH.index)
    if _STRENGTH.index(strongest) > _STRENGTH.index(allowed):
        rules = ", ".join(sentence.rules)
        message = f'says {strongest} and rests on {rules}, at most a {allowed}: "{sentence.text}"'
        yield Untied(sentence.where, message)


def _of_rule(tie: Tie) -> Iterator[Untied]:
    rule = tie.rule
    if not tie.sentences:
        yield Untied(rule.id, f"a {rule.level}, and no sentence of a draft states it")
    elif rule.level not in {keyword.level for sentence in tie.sentences for keyword in sentence.keywords}:
        places = ", ".join(sentence.where for sentence in tie.sentences)
        yield Untied(rule.id, f"a {rule.level}, and none of the sentences that end in it says so ({places})")
    if rule.level is Level.MUST and Observable.NONE not in rule.observable and not tie.mutants:
        places = " or ".join(rule.observable)
        yield Untied(rule.id, f"a MUST that can be observed ({places}), and no mutant breaks it")
