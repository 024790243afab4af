"""Predicates about what the engine kept, and what it took from there: by its record, which alone tells."""

from dataclasses import replace

from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import RetentionReport
from cctest.instrument.client import EngineRecord
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
from cctest.probe.predicates.arrival import evidence_of, nothing_arrived
from cctest.probe.predicates.status import without_status
from cctest.probe.witness import Reuse, by_engine
from cctest.verdict import Result


def not_read_late(expectation: Expectation, world: World) -> Judgement:
    """The step, which waits in the engine, finds nothing of `fragment` once its bound has passed (RET-3).

    Too late is `bound` seconds or more after step `made_by` was computed, on the engine's clock. That the
    step is called off before, turned away, or has another partition is as good. Where nobody got the
    answer, a late read has to be seen twice: whoever calls off may have been stopped himself.
    """
    step, control = world.observations[str(expectation.step)], world.observations[str(expectation.control)]
    maker = world.observations[str(expectation.arguments["made_by"])]
    text = str(expectation.arguments["fragment"])
    bound = float(str(expectation.arguments["bound"]))
    in_control, shown = by_engine(control, text)
    made = [entry.looked_up for entry in maker.asked if entry.looked_up is not None]
    if in_control is not Reuse.SEEN or shown is None or not made:
        return _uncontrolled(control, world)
    ages = [entry.looked_up - max(made) for entry in step.asked if entry.looked_up is not None]
    if not ages:
        return passed("never looked anything up", shown, evidence_of(step, f"no look-up; {step.outline}"))
    reuse, found = by_engine(step, text)
    told = evidence_of(step, f"looked up {min(ages):.3f} s after {maker.step.id}")
    evidence = tuple(one for one in (shown, told, found) if one is not None)
    if min(ages) < bound:
        return replace(inconclusive(f"{step.step.id} looked up within the bound", *evidence), retry=True)
    if reuse in (Reuse.SEEN, Reuse.PARTLY):
        message = "a look-up after the bound had passed found the state"
        late = failed(message, f"{text} computed afresh, or not at all", f"{text} was {reuse}", *evidence)
        return replace(late, repeatable=not step.answered)
    return passed("looked up after the bound had passed, and found nothing", *evidence)


def retained_as_reported(expectation: Expectation, world: World) -> Judgement:
    """No entry says `retained` where the engine kept nothing (STA-6)."""
    step = world.observations[str(expectation.step)]
    computed = _computed(step)
    if not computed:
        return _nothing_computed(step, world)
    if step.entries is None:
        return without_status(world)
    if any(entry.retained for entry in computed):
        return inconclusive(f"the engine kept something of {step.step.id}")
    evidence = evidence_of(step, "the engine kept nothing")
    if any(entry.get("retention") == RetentionReport.RETAINED for entry in step.entries):
        return failed("what was not kept was reported as retained", "unobserved", "retained", evidence)
    return passed("nothing was reported as retained", evidence)


def not_recalled(expectation: Expectation, world: World) -> Judgement:
    """What step `by` had sent isn't put into this step, which names something else alike (SHR-4)."""
    step = world.observations[str(expectation.step)]
    by = world.observations[str(expectation.arguments["by"])]
    for one in (by, step):
        if not _computed(one):
            return _nothing_computed(one, world)
    if any(entry.recalled for entry in _computed(step)):
        seen = "an item that came before under its name was put in its place"
        message = "a caller got at another tenant's input by its name"
        return failed(message, "the caller's own", seen, evidence_of(step, seen))
    if _names(step) & _names(by):
        return replace(inconclusive(f"what {by.step.id} had sent was no longer there"), retry=True)
    return passed(
        "no name finds what another tenant sent", evidence_of(step, f"no name that {by.step.id} had")
    )


def _uncontrolled(control: Observation, world: World) -> Judgement:
    quotation = missing_capability(world.needs, world.advertised)
    if quotation is not None:
        return Judgement(Result.UNSUPPORTED, quotation)
    if not control.answered:
        return inconclusive(f"the control was not served: {control.outline}", response_evidence(control))
    message = f"the control {control.step.id} showed no reuse, so that nothing was there to be found late"
    return replace(inconclusive(message), retry=True, uncontrolled=True)


def _computed(step: Observation) -> list[EngineRecord]:
    return [entry for entry in step.asked if entry.prompt_tokens is not None]


def _nothing_computed(step: Observation, world: World) -> Judgement:
    return nothing_arrived(step, world, "the engine computed nothing")


def _names(step: Observation) -> set[str]:
    """The names that a step's content parts have where they arrive."""
    messages = [one for entry in _computed(step) for one in _listed(entry.members().get("messages"))]
    contents = [message.get("content") for message in messages if isinstance(message, dict)]
    parts = [part for content in contents for part in _listed(content) if isinstance(part, dict)]
    return {str(part["uuid"]) for part in parts if part.get("uuid") is not None}


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
