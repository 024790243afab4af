"""Predicates about what becomes of an engine's answer or failure, and whether the engine was asked at all."""

from collections.abc import Iterator

from cctest.instrument.record import Ending
from cctest.probe.case import Expectation
from cctest.probe.judgement import (
    Judgement,
    World,
    failed,
    inconclusive,
    passed,
    response_evidence,
)
from cctest.probe.observation import Observation
from cctest.probe.predicates.arrival import arrival, computed, evidence_of
from cctest.probe.predicates.status import without_status
from cctest.target.exchange import ExchangeKind
from cctest.verdict import Evidence, Result, Source


def reached_engine(expectation: Expectation, world: World) -> Judgement:
    """The answer was computed for this request; neither it nor a failure was replayed from an earlier one."""
    step = world.observations[str(expectation.step)]
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    if not step.answered:
        if not step.asked and _told_before(step, world):
            evidence = evidence_of(step, "nothing arrived")
            return failed("an earlier failure was replayed", "a request", step.outline, evidence)
        return inconclusive(f"{step.step.id} was not served: {step.outline}", response_evidence(step))
    record = computed(step)
    if record is None:
        evidence = evidence_of(step, "nothing arrived")
        return failed("an answer came although the engine was not asked", "a request", "none", evidence)
    content = step.chat.content if step.chat else ""
    strange = [canary for canary in _canaries(world, step) if canary in content]
    if strange:
        evidence = Evidence(
            Source.CANARY, f"{step.step.id}: the answer carries the mark of another computation"
        )
        return failed("an earlier answer was replayed", "the mark of this computation", strange[0], evidence)
    return passed("computed by the engine", evidence_of(step, f"request {record.number}"))


def says_unobserved(expectation: Expectation, world: World) -> Judgement:
    """Where the engine tells nothing of what it reused, no entry claims a hit or a miss.

    It tells no counts then, or impossible ones (STA-5, BND-7), or it looked nothing up (STA-4).
    """
    step, record, missing = arrival(expectation, world)
    if record is None:
        return missing
    if step.entries is None:
        return without_status(world)
    claims = sorted({str(entry.get("outcome")) for entry in step.entries} - {"unobserved", "bypass"})
    evidence = evidence_of(step, "the engine's answer told nothing of what was reused")
    if claims:
        seen = f"outcome {', '.join(claims)}"
        return failed("an outcome was reported that nobody observed", "unobserved", seen, evidence)
    return passed("nothing was claimed that wasn't observed", evidence)


def counts_not_invented(expectation: Expectation, world: World) -> Judgement:
    """Where the engine tells no cached tokens, the response tells none either."""
    step, record, missing = arrival(expectation, world)
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
    step, record, missing = arrival(expectation, world)
    if record is None:
        return missing
    evidence = evidence_of(step, f"ended as {record.ending}")
    if record.ending is Ending.CLIENT_GONE:
        return passed("called off", evidence)
    return failed(
        "the engine worked on for a caller who had gone", "called off", str(record.ending), evidence
    )


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
