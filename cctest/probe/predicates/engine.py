"""Predicates about what reached the engine, by the record of an instrumented one.

What a gateway does with its engine is seen nowhere else: what it stripped, which partition it chose, and
whether it asked at all. Cases that use these predicates are run only where such an engine is attached.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import ErrorCode
from cctest.instrument.client import EngineRecord
from cctest.instrument.record import Ending
from cctest.probe.case import Expectation
from cctest.probe.judgement import (
    Judgement,
    World,
    failed,
    inconclusive,
    missing_capability,
    passed,
    response_evidence,
)
from cctest.probe.observation import Observation
from cctest.probe.predicates.status import without_status
from cctest.target.chat import Absent
from cctest.target.exchange import ExchangeKind
from cctest.verdict import Evidence, Result, Source

_SALT_LIMIT: Final = 128


def intents_removed(expectation: Expectation, world: World) -> Judgement:
    """No `cache_intent` arrives on a fragment, on a content part or beside them (BND-4)."""
    step, record, missing = _arrival(expectation, world)
    if record is None and step.chat is not None and step.chat.error_code in tuple(ErrorCode):
        return passed(f"refused with {step.chat.error_code}", _evidence(step, "nothing arrived"))
    if record is None:
        return missing
    left = [place for entry in step.records or () for place in _places("cache_intent", entry.members())]
    if left:
        seen = f"cache_intent at {', '.join(left)}"
        return failed("the intent was forwarded", "no cache_intent upstream", seen, _evidence(step, seen))
    return passed("no intent arrived", _evidence(step, "no cache_intent in the body"))


def arrives_unchanged(expectation: Expectation, world: World) -> Judgement:
    """Every fragment arrives as it was sent, in order, less its intent (CMP-10)."""
    step, record, missing = _arrival(expectation, world)
    if record is None:
        return missing
    sent, arrived = _fragments(json.loads(step.built.body)), _fragments(record.members())
    for number, (one, other) in enumerate(zip(sent, arrived, strict=False)):
        if one != other:
            seen = f"fragment {number} arrived as {other[:200]}"
            return failed("a fragment was altered or moved", one[:200], seen, _evidence(step, seen))
    if len(sent) != len(arrived):
        seen = f"{len(arrived)} of {len(sent)} fragments arrived"
        return failed(
            "fragments were added or left out", f"{len(sent)} fragments", seen, _evidence(step, seen)
        )
    return passed("fragments arrived as sent", _evidence(step, f"{len(sent)} fragments equal, in order"))


def salt_replaced(expectation: Expectation, world: World) -> Judgement:
    """The caller's own `cache_salt` doesn't arrive (BND-6)."""
    step, record, missing = _arrival(expectation, world)
    if record is None:
        return missing
    own = json.loads(step.built.body).get("cache_salt")
    if any(own in entry.salts for entry in step.records or ()):
        return failed(
            "the caller's partition was forwarded", "another cache_salt", "the caller's", _salt(step)
        )
    return passed("the caller's cache_salt was stripped", _salt(step))


def salts_removed(expectation: Expectation, world: World) -> Judgement:
    """No `cache_salt` of the caller's arrives on a fragment or on a content part (BND-6)."""
    step, record, missing = _arrival(expectation, world)
    if record is None and step.response is not None and 400 <= step.response.status < 500:
        return passed("refused", _evidence(step, f"nothing arrived; {step.outline}"))
    if record is None:
        return missing
    places = {place for entry in step.records or () for place in _places("cache_salt", entry.members())}
    left = sorted(places - {"/cache_salt"})  # that beside the fragments is the gateway's own
    if left:
        seen = f"cache_salt at {', '.join(left)}"
        message = "a member that names a partition was forwarded"
        return failed(message, "no cache_salt but the gateway's own", seen, _evidence(step, seen))
    return passed("no cache_salt of the caller's arrived", _evidence(step, "none inside the fragments"))


def members_stripped(expectation: Expectation, world: World) -> Judgement:
    """None of `members` of the body arrives (BND-6)."""
    step, record, missing = _arrival(expectation, world)
    if record is None:
        return missing
    names = expectation.arguments["members"]
    arrived = {name for entry in step.records or () for name in entry.members()}
    left = sorted({*map(str, names if isinstance(names, list) else ())} & arrived)
    if left:
        seen = f"{', '.join(left)} in the body"
        return failed("a member that names a partition was forwarded", "none", seen, _evidence(step, seen))
    return passed("stripped", _evidence(step, "no such member in the body"))


def partitions_unique(expectation: Expectation, world: World) -> Judgement:
    """Each of `steps` got a partition of its own; an absent one would be the shared default (BND-10).

    With regions that is the partition at the end of the prompt: what stands in front of the text that has to
    be alone may be shared.
    """
    names = expectation.arguments.get("steps")
    seen: dict[str, str] = {}
    evidence: list[Evidence] = []
    for name in names if isinstance(names, list) else ():
        step = world.observations[str(name)]
        record = _computed(step)
        if record is None and step.chat is not None and step.chat.error_code == ErrorCode.UNENFORCEABLE:
            continue  # rejected instead of bypassed: nothing was sent that would need a partition
        if record is None:
            return _nothing_arrived(step, world)
        evidence.append(_salt(step))
        for salt in _last_salts(step):
            if not isinstance(salt, str) or not salt:
                message = "a request that must be alone got the engine's shared default partition"
                return failed(message, "a cache_salt of its own", "no cache_salt", *evidence)
            if seen.setdefault(salt, step.step.id) != step.step.id:
                message = f"{seen[salt]} and {step.step.id} got the same partition"
                return failed(message, "a partition of its own for each", "the same cache_salt", *evidence)
    return passed(f"{len(seen)} partitions, all different", *evidence)


def same_partition(expectation: Expectation, world: World) -> Judgement:
    """A request that differs from step `as` in its id alone gets the same partition (INT-13).

    The control repeats `as` exactly: where even it gets another one, partitions aren't to be compared.
    """
    step, record, missing = _arrival(expectation, world)
    first = _computed(world.observations[str(expectation.arguments["as"])])
    again = _computed(world.observations[str(expectation.control)])
    if record is None or first is None or again is None:
        return missing
    if first.partitions != again.partitions:
        return Judgement(Result.UNSUPPORTED, "the same request gets another partition each time")
    if record.partitions != first.partitions:
        return failed("the id entered the partition", "the same cache_salt", "another one", _salt(step))
    return passed("the id made no difference", _salt(step))


def partition_safe(expectation: Expectation, world: World) -> Judgement:
    """The partition is one that vLLM takes, and tells neither tenant nor namespace."""
    step, record, missing = _arrival(expectation, world)
    if record is None:
        return missing
    if not isinstance(record.cache_salt, str):
        return inconclusive(f"{step.step.id} got no partition", _salt(step))
    tellable = tuple(_tellable(world, expectation))
    for salt in map(str, record.salts):
        if len(salt) > _SALT_LIMIT or set(salt) & set("@/\\\0"):
            return failed(
                "the partition is one that an engine may refuse",
                f"at most {_SALT_LIMIT} characters, none of @ / \\ NUL",
                f"{len(salt)} characters",
                _salt(step),
            )
        told = next((one for one in tellable if one in salt), None)
        if told is not None:
            message = "the partition tells what it is made of"
            return failed(message, "an opaque value", f"{told!r} in it", _salt(step))
    return passed("the partition is opaque and within bounds", _salt(step))


def reached_engine(expectation: Expectation, world: World) -> Judgement:
    """The answer was computed for this request; neither it nor a failure was replayed from an earlier one."""
    step = world.observations[str(expectation.step)]
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    if not step.answered:
        if not step.asked and _told_before(step, world):
            evidence = _evidence(step, "nothing arrived")
            return failed("an earlier failure was replayed", "a request", step.outline, evidence)
        return inconclusive(f"{step.step.id} was not served: {step.outline}", response_evidence(step))
    record = _computed(step)
    if record is None:
        evidence = _evidence(step, "nothing arrived")
        return failed("an answer came although the engine was not asked", "a request", "none", evidence)
    content = step.chat.content if step.chat else ""
    strange = [canary for canary in _canaries(world, step) if canary in content]
    if strange:
        evidence = Evidence(
            Source.CANARY, f"{step.step.id}: the answer carries the mark of another computation"
        )
        return failed("an earlier answer was replayed", "the mark of this computation", strange[0], evidence)
    return passed("computed by the engine", _evidence(step, f"request {record.number}"))


def says_unobserved(expectation: Expectation, world: World) -> Judgement:
    """Where the engine tells nothing of what it reused, no entry claims a hit or a miss.

    It tells no counts then, or impossible ones (STA-5, BND-7), or it looked nothing up (STA-4).
    """
    step, record, missing = _arrival(expectation, world)
    if record is None:
        return missing
    if step.entries is None:
        return without_status(world)
    claims = sorted({str(entry.get("outcome")) for entry in step.entries} - {"unobserved", "bypass"})
    evidence = _evidence(step, "the engine's answer told nothing of what was reused")
    if claims:
        seen = f"outcome {', '.join(claims)}"
        return failed("an outcome was reported that nobody observed", "unobserved", seen, evidence)
    return passed("nothing was claimed that wasn't observed", evidence)


def counts_not_invented(expectation: Expectation, world: World) -> Judgement:
    """Where the engine tells no cached tokens, the response tells none either."""
    step, record, missing = _arrival(expectation, world)
    if record is None:
        return missing
    if step.chat is not None and step.chat.cached_tokens is not None:
        seen = f"cached_tokens {step.chat.cached_tokens}"
        return failed("token counts were invented", "no cached_tokens", seen, response_evidence(step))
    return passed("no counts were invented", response_evidence(step))


def error_mapped(expectation: Expectation, world: World) -> Judgement:
    """An engine's failure reaches the caller as one of `permitted` statuses with an error object.

    With `cut`, a response that breaks off as the engine's did tells it too.
    """
    step = world.observations[str(expectation.step)]
    may_break = bool(expectation.arguments.get("cut"))
    if step.error is not None:
        evidence = Evidence(Source.RESPONSE, f"{step.step.id}: {step.error}")
        if may_break and step.error.kind is ExchangeKind.BROKEN:
            return passed("the response broke off with the engine's", evidence)
        return failed("the caller got no answer", "an HTTP error", str(step.error), evidence)
    permitted = expectation.arguments["permitted"]
    status = step.response.status if step.response else 0
    evidence = response_evidence(step)
    if may_break and status == 200 and not step.answered:
        return passed("the response is visibly incomplete", evidence)
    if not isinstance(permitted, list) or status not in permitted:
        return failed("the engine's failure was told wrongly", f"HTTP {permitted}", step.outline, evidence)
    if step.chat is None or step.chat.error_message is None:
        return failed(
            "the error has no error object", "an error object with a message", step.outline, evidence
        )
    return passed(f"told as {status}", evidence)


def cancelled(expectation: Expectation, world: World) -> Judgement:
    """When the caller goes away, the engine's work for it is called off."""
    step, record, missing = _arrival(expectation, world)
    if record is None:
        return missing
    evidence = _evidence(step, f"ended as {record.ending}")
    if record.ending is Ending.CLIENT_GONE:
        return passed("called off", evidence)
    return failed(
        "the engine worked on for a caller who had gone", "called off", str(record.ending), evidence
    )


def _arrival(expectation: Expectation, world: World) -> tuple[Observation, EngineRecord | None, Judgement]:
    """Give the step, what arrived for it, and what to say where nothing did."""
    step = world.observations[str(expectation.step)]
    return step, _computed(step), _nothing_arrived(step, world)


def _computed(step: Observation) -> EngineRecord | None:
    """The last request for an answer that the engine got for a step."""
    return step.asked[-1] if step.asked else None


def _last_salts(step: Observation) -> Iterator["JsonValue | Absent"]:
    """Yield the salts under which the ends of a step's prompts stood, and those beside their regions.

    What an engine may read for no time at all is in nobody's partition.
    """
    for entry in step.asked:
        yield entry.cache_salt
        yield from (last.salt for last in entry.in_effect[-1:] if last.max_age_ms != 0)


def _nothing_arrived(step: Observation, world: World) -> Judgement:
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    quotation = missing_capability(world.needs, world.advertised)
    if quotation is not None and not step.answered:
        return Judgement(Result.UNSUPPORTED, quotation)
    return inconclusive(f"nothing arrived at the engine for {step.step.id}: {step.outline}")


def _places(member: str, members: dict[str, JsonValue]) -> Iterator[str]:
    """Yield where a member stands; what stands inside a tool's parameters or in text is content."""
    if member in members:
        yield f"/{member}"
    for kind in ("tools", "messages"):
        fragments = members.get(kind)
        for index, fragment in enumerate(fragments if isinstance(fragments, list) else ()):
            if not isinstance(fragment, dict):
                continue
            if member in fragment:
                yield f"/{kind}/{index}/{member}"
            for name in ("content", "function"):
                inner = fragment.get(name)
                for part in inner if isinstance(inner, list) else [inner]:
                    if isinstance(part, dict) and member in part:
                        yield f"/{kind}/{index}/{name}/{member}"


def _fragments(members: dict[str, Any]) -> list[str]:
    """The fragments of a body in order, each as canonical text without its own intent."""
    fragments = [*(members.get("tools") or ()), *(members.get("messages") or ())]
    for fragment in fragments:
        if isinstance(fragment, dict):
            fragment.pop("cache_intent", None)
    return [json.dumps(fragment, ensure_ascii=False) for fragment in fragments]


def _told_before(step: Observation, world: World) -> bool:
    """Whether another step was refused in the very same words."""
    told = [other.response for other in world.observations.values() if other is not step]
    return step.response is not None and any(
        (other.status, other.body) == (step.response.status, step.response.body) for other in told if other
    )


def _canaries(world: World, step: Observation) -> Iterator[str]:
    """Yield the marks of all other steps' computations."""
    for other in world.observations.values():
        if other is not step:
            for record in other.asked:
                yield from record.canaries


def _tellable(world: World, expectation: Expectation) -> Iterator[str]:
    caller = world.setting.callers.get(world.observations[str(expectation.step)].step.by)
    if caller is not None:
        yield from (name for name in (caller.tenant, caller.principal) if len(name) > 2)
    yield world.setting.nonce


def _in_words(record: EngineRecord) -> str:
    salt = record.cache_salt
    told = f"cache_salt of {len(salt)} characters" if isinstance(salt, str) else "no cache_salt"
    return f"{told}, {len(record.regions)} regions" if record.regions else told


def _salt(step: Observation) -> Evidence:
    record = _computed(step)
    return _evidence(step, _in_words(record) if record else "nothing arrived")


def _evidence(step: Observation, seen: str) -> Evidence:
    return Evidence(Source.ENGINE, f"{step.step.id}: {seen}")
