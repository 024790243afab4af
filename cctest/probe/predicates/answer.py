"""Predicates about the response as such: served, refused, refused in the right way."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import ErrorCode
from cctest.probe.case import Expectation
from cctest.probe.judgement import (
    Judgement,
    World,
    failed,
    inconclusive,
    missing_capability,
    passed,
    refuses_conversation,
    response_evidence,
)
from cctest.probe.observation import Observation, entry_of
from cctest.probe.witness import Reuse, by_engine, by_usage
from cctest.verdict import Evidence, Result, Source

_MARK: Final = re.compile(r"\bcanary=([0-9a-f]{16,})")
"""What our engines put into every answer."""

_NO_MARK: Final = "the answers carry no mark of each computation: `canary=` and 16 or more hexadecimal digits"

_CODES = tuple(str(code) for code in ErrorCode)


def answered(expectation: Expectation, world: World) -> Judgement:
    """The step is served: a chat completion comes back.

    A refusal for no reason of this contract says nothing, unless the step `as` had the same conversation
    served.
    """
    step = world.observations[str(expectation.step)]
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    evidence = response_evidence(step)
    if step.answered:
        return passed("served", evidence)
    if step.chat is not None and step.chat.error_code == ErrorCode.UNENFORCEABLE:
        quotation = missing_capability(world.needs, world.advertised)
        if quotation is not None:
            return Judgement(Result.UNSUPPORTED, quotation, evidence=(evidence,))
    status = step.response.status if step.response else 0
    if status == 429:
        return replace(inconclusive(f"{step.step.id} was put off: {step.outline}", evidence), retry=True)
    told = failed("a valid request was not served", "HTTP 200", step.outline, evidence)
    twin = expectation.arguments.get("as")
    served = twin is not None and world.observations[str(twin)].answered
    if served or (step.chat is not None and step.chat.error_code in _CODES):
        return replace(told, persistent=status >= 500)
    if status >= 500:
        return replace(told, persistent=True)
    return inconclusive(
        f"{step.step.id} was refused for no reason of this contract: {step.outline}", evidence
    )


def not_replayed(expectation: Expectation, world: World) -> Judgement:
    """The answer carries no other step's mark, where answers carry marks at all."""
    step = world.observations[str(expectation.step)]
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    if not step.answered:
        return inconclusive(f"{step.step.id} was not served: {step.outline}", response_evidence(step))
    mark = _mark(step)
    if mark is None:
        return Judgement(Result.UNSUPPORTED, _NO_MARK)
    for other in world.observations.values():
        if other is not step and _mark(other) == mark:
            seen = f"{step.step.id} and {other.step.id} got the same mark"
            evidence = Evidence(Source.CANARY, seen)
            return failed("an earlier answer was replayed whole", "a mark of its own", seen, evidence)
    return passed("computed for this request", Evidence(Source.CANARY, f"{step.step.id}: a mark of its own"))


def _mark(step: Observation) -> str | None:
    found = _MARK.search(step.chat.content) if step.chat and step.chat.ok else None
    return found[1] if found else None


def handled(expectation: Expectation, world: World) -> Judgement:
    """The step is served or refused in good order: a completion, or a 4xx with an error object."""
    step = world.observations[str(expectation.step)]
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    evidence = response_evidence(step)
    status = step.response.status if step.response else 0
    if step.answered:
        return passed("served", evidence)
    if 400 <= status < 500 and step.chat is not None and step.chat.error_message is not None:
        return passed(f"refused with {status}", evidence)
    return failed(
        "neither served nor refused in good order", "200, or 4xx with an error object", step.outline, evidence
    )


def refused(expectation: Expectation, world: World) -> Judgement:
    """The step is refused with HTTP 400 and one of `codes` (all three codes if none are listed)."""
    step = world.observations[str(expectation.step)]
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    codes = _strings(expectation.arguments.get("codes")) or _CODES
    return _refusal(step, codes, world)


def refused_or_fallback(expectation: Expectation, world: World) -> Judgement:
    """The step is refused (HTTP 400 with a code of BND-9) or served by fallback.

    A fallback shows itself in a status that says `bypass` from the invalid intent's fragment on; for what
    stands before it only where one boundary is applied to the whole request. A coarser status, or none,
    leaves it to the other checks of the case, which look whether anything was kept.
    """
    step = world.observations[str(expectation.step)]
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    if not step.answered:
        return _refusal(step, _CODES, world)
    evidence = response_evidence(step)
    entries = _from_invalid_on(step, world)
    outcomes = {str(entry.get("outcome")) for entry in entries}
    kept = any(entry.get("retention") == "retained" for entry in entries)
    if kept or not outcomes <= {"bypass", "unobserved"}:
        return failed(
            "an invalid intent was served other than by fallback",
            "HTTP 400 with a code of BND-9, or bypass in every entry and nothing retained",
            f"outcomes {', '.join(sorted(outcomes))}" + (", state retained" if kept else ""),
            evidence,
        )
    if outcomes != {"bypass"}:
        message = "served, and no status tells how: a fallback shows only in that nothing is kept"
        return Judgement(Result.UNSUPPORTED, message, evidence=(evidence,))
    reused = _reused_anything(step)
    if reused is not None:
        return failed("the fallback reused state", "fresh computation", reused.seen, reused)
    return passed("served by fallback, by the target's own status", evidence)


def _from_invalid_on(step: Observation, world: World) -> Sequence[Mapping[str, JsonValue]]:
    """The entries of the first fragment that the step itself names, and of those behind it."""
    entries = step.entries or ()
    capabilities = world.advertised.capabilities
    if capabilities is None or not capabilities.per_fragment_share:
        return entries
    texts = [fragment.text for fragment in step.built.fragments]
    first = texts.index(step.step.fragments[0].text) if step.step.fragments else 0
    behind = [entry for text in texts[first:] if (entry := entry_of(step, text)) is not None]
    return behind or entries


def _reused_anything(step: Observation) -> Evidence | None:
    for fragment in step.step.fragments[:1]:
        for witness in (by_engine, by_usage):
            reuse, shown = witness(step, fragment.text)
            if reuse is Reuse.SEEN:
                return shown
    return None


def _refusal(step: Observation, codes: Sequence[str], world: World) -> Judgement:
    """Judge a step that has to be refused: HTTP 400 with one of `codes`."""
    evidence = response_evidence(step)
    expected = f"HTTP 400 with error code {' or '.join(codes)}"
    if step.answered:
        return failed("the request was served", expected, step.outline, evidence)
    status = step.response.status if step.response else 0
    code = step.chat.error_code if step.chat else None
    if status == 400 and code in codes:
        return passed(f"refused with {code}", evidence)
    if status == 429:
        return replace(inconclusive(f"{step.step.id} was put off: {step.outline}", evidence), retry=True)
    if code not in _CODES and refuses_conversation(world):
        return Judgement(
            Result.UNSUPPORTED, f"such a conversation is refused: {step.outline}", evidence=(evidence,)
        )
    told = failed("the refusal has another shape", expected, step.outline, evidence)
    return replace(told, persistent=status >= 500)


def _strings(value: JsonValue) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
