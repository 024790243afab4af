"""Predicates about the partitions that a gateway chooses, by the record of an instrumented engine."""

from collections.abc import Iterator
from typing import Final

from cctest.contract.vocabulary import ErrorCode
from cctest.probe.case import Expectation
from cctest.probe.judgement import (
    Judgement,
    World,
    failed,
    inconclusive,
    passed,
)
from cctest.probe.predicates.arrival import arrival, computed, last_salts, nothing_arrived, salt_evidence
from cctest.verdict import Evidence, Result

_SALT_LIMIT: Final = 128


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
        record = computed(step)
        if record is None and step.chat is not None and step.chat.error_code == ErrorCode.UNENFORCEABLE:
            continue  # rejected instead of bypassed: nothing was sent that would need a partition
        if record is None:
            return nothing_arrived(step, world)
        evidence.append(salt_evidence(step))
        for salt in last_salts(step):
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
    step, record, missing = arrival(expectation, world)
    first = computed(world.observations[str(expectation.arguments["as"])])
    again = computed(world.observations[str(expectation.control)])
    if record is None or first is None or again is None:
        return missing
    if first.partitions != again.partitions:
        return Judgement(Result.UNSUPPORTED, "the same request gets another partition each time")
    if record.partitions != first.partitions:
        return failed(
            "the id entered the partition", "the same cache_salt", "another one", salt_evidence(step)
        )
    return passed("the id made no difference", salt_evidence(step))


def partition_safe(expectation: Expectation, world: World) -> Judgement:
    """The partition is one that vLLM takes, and tells neither tenant nor namespace."""
    step, record, missing = arrival(expectation, world)
    if record is None:
        return missing
    if not isinstance(record.cache_salt, str):
        return inconclusive(f"{step.step.id} got no partition", salt_evidence(step))
    tellable = tuple(_tellable(world, expectation))
    for salt in map(str, record.salts):
        if len(salt) > _SALT_LIMIT or set(salt) & set("@/\\\0"):
            return failed(
                "the partition is one that an engine may refuse",
                f"at most {_SALT_LIMIT} characters, none of @ / \\ NUL",
                f"{len(salt)} characters",
                salt_evidence(step),
            )
        told = next((one for one in tellable if one in salt), None)
        if told is not None:
            message = "the partition tells what it is made of"
            return failed(message, "an opaque value", f"{told!r} in it", salt_evidence(step))
    return passed("the partition is opaque and within bounds", salt_evidence(step))


def _tellable(world: World, expectation: Expectation) -> Iterator[str]:
    caller = world.setting.callers.get(world.observations[str(expectation.step)].step.by)
    if caller is not None:
        yield from (name for name in (caller.tenant, caller.principal) if len(name) > 2)
    yield world.setting.nonce
