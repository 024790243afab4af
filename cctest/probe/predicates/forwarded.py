"""Predicates about what a gateway sends on: intents and partitions stripped, all else as it was.

That is seen nowhere but at the engine. Cases that use these predicates are run only where an instrumented one
is attached.
"""

import json
from collections.abc import Iterator
from typing import Any

from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import ErrorCode
from cctest.probe.case import Expectation
from cctest.probe.judgement import (
    Judgement,
    World,
    failed,
    passed,
)
from cctest.probe.predicates.arrival import (
    arrival,
    evidence_of,
    salt_evidence,
)


def intents_removed(expectation: Expectation, world: World) -> Judgement:
    """No `cache_intent` arrives on a fragment, on a content part or beside them (BND-4)."""
    step, record, missing = arrival(expectation, world)
    if record is None and step.chat is not None and step.chat.error_code in tuple(ErrorCode):
        return passed(f"refused with {step.chat.error_code}", evidence_of(step, "nothing arrived"))
    if record is None:
        return missing
    left = [place for entry in step.records or () for place in _places("cache_intent", entry.members())]
    if left:
        seen = f"cache_intent at {', '.join(left)}"
        return failed("the intent was forwarded", "no cache_intent upstream", seen, evidence_of(step, seen))
    return passed("no intent arrived", evidence_of(step, "no cache_intent in the body"))


def arrives_unchanged(expectation: Expectation, world: World) -> Judgement:
    """Every fragment arrives as it was sent, in order, less its intent (CMP-10)."""
    step, record, missing = arrival(expectation, world)
    if record is None:
        return missing
    sent, arrived = _fragments(json.loads(step.built.body)), _fragments(record.members())
    for number, (one, other) in enumerate(zip(sent, arrived, strict=False)):
        if one != other:
            seen = f"fragment {number} arrived as {other[:200]}"
            return failed("a fragment was altered or moved", one[:200], seen, evidence_of(step, seen))
    if len(sent) != len(arrived):
        seen = f"{len(arrived)} of {len(sent)} fragments arrived"
        return failed(
            "fragments were added or left out", f"{len(sent)} fragments", seen, evidence_of(step, seen)
        )
    return passed("fragments arrived as sent", evidence_of(step, f"{len(sent)} fragments equal, in order"))


def salt_replaced(expectation: Expectation, world: World) -> Judgement:
    """The caller's own `cache_salt` doesn't arrive (BND-6)."""
    step, record, missing = arrival(expectation, world)
    if record is None:
        return missing
    own = json.loads(step.built.body).get("cache_salt")
    if any(own in entry.salts for entry in step.records or ()):
        return failed(
            "the caller's partition was forwarded", "another cache_salt", "the caller's", salt_evidence(step)
        )
    return passed("the caller's cache_salt was stripped", salt_evidence(step))


def salts_removed(expectation: Expectation, world: World) -> Judgement:
    """No `cache_salt` of the caller's arrives on a fragment or on a content part (BND-6)."""
    step, record, missing = arrival(expectation, world)
    if record is None and step.response is not None and 400 <= step.response.status < 500:
        return passed("refused", evidence_of(step, f"nothing arrived; {step.outline}"))
    if record is None:
        return missing
    places = {place for entry in step.records or () for place in _places("cache_salt", entry.members())}
    left = sorted(places - {"/cache_salt"})  # that beside the fragments is the gateway's own
    if left:
        seen = f"cache_salt at {', '.join(left)}"
        message = "a member that names a partition was forwarded"
        return failed(message, "no cache_salt but the gateway's own", seen, evidence_of(step, seen))
    return passed("no cache_salt of the caller's arrived", evidence_of(step, "none inside the fragments"))


def members_stripped(expectation: Expectation, world: World) -> Judgement:
    """None of `members` of the body arrives (BND-6)."""
    step, record, missing = arrival(expectation, world)
    if record is None:
        return missing
    names = expectation.arguments["members"]
    arrived = {name for entry in step.records or () for name in entry.members()}
    left = sorted({*map(str, names if isinstance(names, list) else ())} & arrived)
    if left:
        seen = f"{', '.join(left)} in the body"
        return failed("a member that names a partition was forwarded", "none", seen, evidence_of(step, seen))
    return passed("stripped", evidence_of(step, "no such member in the body"))


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
