"""Predicates about `cache_status`: its shape, its honesty, and what it must say."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from cctest.contract.source import DocumentError, JsonValue
from cctest.contract.status import read_status
from cctest.contract.vocabulary import Outcome, RetentionReport, Scope
from cctest.probe.case import Expectation
from cctest.probe.enforceability import unlisted
from cctest.probe.judgement import Judgement, World, failed, inconclusive, passed
from cctest.probe.observation import (
    Observation,
    entry_of,
    governed_candidates,
    span,
)
from cctest.probe.witness import WITNESSES, Reuse, by_engine, by_status, engine_counts, rests_on_word
from cctest.target.chat import ABSENT
from cctest.verdict import Evidence, Result, Source

_TELLING = frozenset({"bypass", "miss", "exact_hit", "approximate_hit"})
"""Outcomes that claim something; a word outside the vocabulary is the shape's business."""

_VOCABULARY: Final[Mapping[str, frozenset[str]]] = {
    "outcome": frozenset(Outcome),
    "effective_share": frozenset(Scope),
    "retention": frozenset(RetentionReport),
}

_NEARLY: Final = 0.9
"""Share of an estimated length that is surely reached."""

_LONG_TOKENS = 64
"""Fragments shorter than this, in estimated tokens, may share all their blocks with neighbours (READ-30)."""


def without_status(world: World) -> Judgement:
    """What a check of the status comes to where there is none: a target may omit it."""
    for step in world.observations.values():
        if step.answered:
            return Judgement(Result.UNSUPPORTED, "the responses carry no cache_status, which BND-7 permits")
    return inconclusive("no request of this cell was served")


def status_shape(expectation: Expectation, world: World) -> Judgement:
    """Every status that came back has the shape of section 2.3: STA-2, STA-3, STA-8, STA-12."""
    del expectation
    seen = 0
    for step in world.observations.values():
        status = step.chat.cache_status if step.chat and step.chat.ok else ABSENT
        if status is ABSENT:
            continue
        seen += 1
        problem = _shape_problem(step, status)
        if problem is not None:
            evidence = Evidence(Source.STATUS, f"{step.step.id}: {problem}")
            return failed("cache_status is malformed", "an array as in section 2.3", problem, evidence)
    if not seen:
        return without_status(world)
    return passed(f"{seen} statuses well-formed", Evidence(Source.STATUS, f"{seen} arrays read"))


def _shape_problem(step: Observation, status: JsonValue) -> str | None:
    try:
        entries = read_status(status, "/cache_status")
    except DocumentError as error:
        return "; ".join(str(fault) for fault in error.faults)
    fragments = step.built.fragments
    candidates = governed_candidates(fragments)
    lengths = {len(indexes): indexes for indexes in reversed(candidates.values())}
    if len(entries) not in lengths:
        allowed = " or ".join(str(length) for length in sorted(lengths))
        return f"{len(entries)} entries where {allowed} fragments are governed (STA-2)"
    for index, entry in zip(lengths[len(entries)], entries, strict=True):
        sent = fragments[index].id if fragments[index].governed else None
        if entry.id != sent:
            return f"entry for fragment {index} has id {entry.id!r} where {sent!r} was sent (STA-3)"
    return None


def status_honest(expectation: Expectation, world: World) -> Judgement:
    """No status claims what the engine's record or the usage counts contradict (STA-4, STA-5, BND-7)."""
    del expectation
    if not any(step.answered and step.entries for step in world.observations.values()):
        return without_status(world)
    compared = claims = 0
    counts_prove = any(_shows_reuse(step) for step in world.observations.values())
    for step in world.observations.values():
        counts = _counts(step)
        for text, outcome in _claims(step):
            claims += 1
            agrees = _agrees(step, text, outcome, counts) if counts is not None else None
            if agrees is False and outcome.endswith("_hit") and not counts_prove:
                agrees = None  # counts that never show any reuse can't deny a hit
            if counts is not None and agrees is False:
                claim = Evidence(Source.STATUS, f"{step.step.id}: outcome {outcome} reported for {text}")
                message = "the status contradicts stronger evidence"
                seen = counts.evidence.seen
                told = failed(message, f"{outcome} borne out by it", seen, counts.evidence, claim)
                return replace(told, repeatable=counts.evidence.source is not Source.ENGINE)
            compared += agrees is not None
    if not claims:
        return passed("nothing is claimed: every outcome is unobserved, which contradicts nothing")
    if not compared:
        message = "no token counts, of the engine or in the responses, to hold the status against"
        return Judgement(Result.UNSUPPORTED, message)
    return passed(f"{compared} claims borne out", Evidence(Source.USAGE, f"{compared} claims compared"))


def _shows_reuse(step: Observation) -> bool:
    counts = _counts(step)
    return counts is not None and (counts.cached > 0 or counts.evidence.source is Source.ENGINE)


@dataclass(frozen=True, slots=True)
class _Counts:
    """Tokens of a prompt and how many of them were cached, by the strongest evidence there is."""

    prompt: int
    cached: int
    evidence: Evidence


def _counts(step: Observation) -> _Counts | None:
    recorded = engine_counts(step)
    if recorded is not None:
        prompt, cached = recorded
        seen = f"{step.step.id}: the engine's record has {cached} of {prompt} prompt tokens cached"
        return _Counts(prompt, cached, Evidence(Source.ENGINE, seen))
    chat = step.chat
    if chat is None or chat.cached_tokens is None or chat.prompt_tokens is None:
        return None
    seen = f"{step.step.id}: {chat.cached_tokens} of {chat.prompt_tokens} prompt tokens cached"
    return _Counts(chat.prompt_tokens, chat.cached_tokens, Evidence(Source.USAGE, seen))


def _claims(step: Observation) -> list[tuple[str, str]]:
    found = []
    for fragment in step.built.fragments if step.answered else ():
        entry = entry_of(step, fragment.text)
        outcome = entry.get("outcome") if entry else None
        if outcome in _TELLING:
            found.append((fragment.text, str(outcome)))
    return found


def _agrees(step: Observation, text: str, outcome: str, counts: _Counts) -> bool | None:
    """Tell whether counts bear out a claim; None where they can't tell (READ-30).

    A hit may be of no more than what a template puts at the head of the fragment, or in front of the first; a
    miss of all but the fragment's last block, which ends in its successor.
    """
    start, end = span(step.built, text, counts.prompt, step.tokens_per_byte)
    if end - start < _LONG_TOKENS:
        return None
    if not outcome.endswith("_hit"):
        nearly = counts.cached >= start + _NEARLY * (end - start)
        return None if nearly and outcome == Outcome.MISS and counts.cached < end else not nearly
    if counts.cached > start + 0.1 * (end - start):
        return True
    first, _ = span(step.built, step.built.fragments[0].text, counts.prompt, step.tokens_per_byte)
    before = start - first  # at least, since the template's own tokens may stand anywhere
    return None if counts.cached > _NEARLY * before else False


def status_says(expectation: Expectation, world: World) -> Judgement:
    """Status entries hold, where they are given at all, one of the permitted values.

    `entries` maps a fragment's text to members and their permitted values. A member that is absent (all but
    `outcome` and `constraint_result` are optional) is no failure. Nor is a hit where a look-up is permitted,
    and what was counted is no more than what a template puts in front of every text. With `listed`, targets
    are left alone that don't advertise what the step's intents need: they may narrow them (READ-27).
    """
    step = world.observations[str(expectation.step)]
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    if not step.answered:
        return inconclusive(f"{step.step.id} was not served: {step.outline}")
    if step.entries is None:
        return without_status(world)
    if expectation.arguments.get("listed") and (quotation := unlisted(step.step, world)):
        return Judgement(Result.UNSUPPORTED, quotation)
    looked = 0
    for text, member, permitted in _permitted(expectation):
        entry = entry_of(step, text)
        if entry is None or _exempt(entry, expectation.arguments.get("unless")):
            continue
        if entry.get(member) not in _VOCABULARY[member]:
            continue  # a word of the target's own is the shape's business
        looked += 1
        wrong = None if entry[member] in permitted else _wrong_member(step, text, member, permitted, entry)
        if wrong is not None:
            return wrong
    if not looked:
        return Judgement(Result.UNSUPPORTED, "no entry carries what this check looks at; it is optional")
    evidence = Evidence(Source.STATUS, f"{step.step.id}: {looked} members as they must be")
    return passed("the status says what it must", evidence)


def reported_alone(expectation: Expectation, world: World) -> Judgement:
    """Where one boundary is applied to a whole request, a bypass is reported as shared with nobody (BND-10).

    `steps` are those that need a partition of their own.
    """
    capabilities = world.advertised.capabilities
    if capabilities is None or capabilities.per_fragment_share:
        return Judgement(Result.UNSUPPORTED, "one boundary per request isn't what the capabilities tell of")
    names = expectation.arguments["steps"]
    steps = [world.observations[str(name)] for name in (names if isinstance(names, list) else ())]
    entries = [(step, entry) for step in steps if step.answered for entry in step.entries or ()]
    shares = [(step, entry["effective_share"]) for step, entry in entries if "effective_share" in entry]
    for step, share in shares:
        if share != "request":
            evidence = Evidence(Source.STATUS, f"{step.step.id}: effective_share {share}")
            message = "a request that had to be alone was reported as shared"
            return failed(message, "effective_share request in every entry", str(share), evidence)
    if not shares:
        return without_status(world)
    return passed("reported as shared with nobody", Evidence(Source.STATUS, f"{len(shares)} entries"))


def kept_as_reported(expectation: Expectation, world: World) -> Judgement:
    """State that step `by` reported as not kept isn't reused by this step (STA-6)."""
    step = world.observations[str(expectation.step)]
    maker = world.observations[str(expectation.arguments["by"])]
    text = str(expectation.arguments["fragment"])
    if not step.answered or not maker.answered:
        return inconclusive(f"not served: {step.outline}, {maker.outline}")
    entry = entry_of(maker, text)
    if entry is None:
        return without_status(world)
    reported = entry.get("retention")
    claim = Evidence(Source.STATUS, f"{maker.step.id}: retention {reported} reported for {text}")
    if reported not in ("declined", "forbidden"):
        return passed("nothing was reported as not kept", claim)
    for name, witness in WITNESSES:
        reuse, evidence = witness(step, text)
        if reuse is Reuse.SEEN and evidence is not None:
            message = "what was reported as not kept was reused"
            told = failed(message, f"{text} computed afresh", evidence.seen, evidence, claim)
            word = rests_on_word(witness, step, text)
            return replace(told, repeatable=witness is not by_engine, rests_on=word)
        if reuse is Reuse.UNSEEN and evidence is not None:
            return passed(f"what was reported as not kept was not reused, by {name}", evidence, claim)
    return Judgement(Result.UNSUPPORTED, f"nothing shows whether {step.step.id} reused anything")


def _exempt(entry: Mapping[str, JsonValue], members: JsonValue) -> bool:
    """Whether an entry has all of these members, and so is left alone."""
    return isinstance(members, dict) and members.items() <= entry.items()


def _permitted(expectation: Expectation) -> Iterator[tuple[str, str, list[JsonValue]]]:
    entries = expectation.arguments["entries"]
    for text, members in entries.items() if isinstance(entries, dict) else ():
        for member, permitted in members.items() if isinstance(members, dict) else ():
            yield text, member, permitted if isinstance(permitted, list) else [permitted]


def _wrong_member(
    step: Observation, text: str, member: str, allowed: list[JsonValue], entry: Mapping[str, JsonValue]
) -> Judgement | None:
    """Judge a value that isn't permitted; None for a hit that tells no more than a miss would."""
    seen = f"{member} {entry[member]} for {text}"
    evidence = Evidence(Source.STATUS, f"{step.step.id}: {seen}")
    permitted = " or ".join(str(value) for value in allowed)
    told = failed("the status says what can't be", f"{member} {permitted}", seen, evidence)
    told = replace(told, repeatable=True)
    if entry[member] != Outcome.EXACT_HIT or Outcome.MISS not in allowed:
        return told
    match by_status(step, text)[0]:
        case Reuse.UNSEEN:
            return None
        case Reuse.PARTLY:
            message = f"{text} was reused in part, which may be the template's own tokens"
            return replace(inconclusive(message, evidence), retry=True)
    return replace(told, rests_on=rests_on_word(by_status, step, text))
