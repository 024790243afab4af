"""Predicates about approximate reuse, for targets that say they do any."""

from dataclasses import replace

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
from cctest.probe.observation import Observation, entry_of
from cctest.probe.witness import WITNESSES, Reuse, by_engine, rests_on_word
from cctest.verdict import Evidence, Result, Source


def not_laundered(expectation: Expectation, world: World) -> Judgement:
    """State that step `by` made with approximate reuse isn't served as exact by `step` (APX-3)."""
    quotation = missing_capability(world.needs, world.advertised)
    if quotation is not None:
        return Judgement(Result.UNSUPPORTED, quotation)
    step = world.observations[str(expectation.step)]
    maker = world.observations[str(expectation.arguments["by"])]
    if not step.answered:
        return inconclusive(f"{step.step.id} was not served: {step.outline}", response_evidence(step))
    if not _approximated(maker):
        return inconclusive(f"no approximate reuse was seen in {maker.step.id}; none is owed")
    text = str(expectation.arguments["fragment"])
    control = world.observations[str(expectation.control)]
    for name, witness in WITNESSES:
        reuse, evidence = witness(step, text)
        if evidence is None or reuse is Reuse.UNKNOWN:
            continue
        if reuse is Reuse.UNSEEN and (witness is by_engine or witness(control, text)[0] is Reuse.SEEN):
            return passed(f"computed afresh, by {name}", evidence)
        if reuse is Reuse.SEEN:
            told = failed(
                "approximate state was served as exact",
                f"{text} computed afresh",
                f"{text} was {reuse}",
                evidence,
            )
            word = rests_on_word(witness, step, text)
            return replace(told, repeatable=witness is not by_engine, rests_on=word)
    message = f"nothing proves whether {step.step.id} reused anything: its control showed no reuse either"
    return replace(inconclusive(message), retry=True)


def approximate_reported(expectation: Expectation, world: World) -> Judgement:
    """Reuse for input that was never sent before is reported as approximate (APX-4)."""
    quotation = missing_capability(world.needs, world.advertised)
    if quotation is not None:
        return Judgement(Result.UNSUPPORTED, quotation)
    step = world.observations[str(expectation.step)]
    text = str(expectation.arguments["fragment"])
    if not step.answered:
        return inconclusive(f"{step.step.id} was not served: {step.outline}", response_evidence(step))
    entry = entry_of(step, text)
    outcome = entry.get("outcome") if entry else None
    claim = Evidence(Source.STATUS, f"{step.step.id}: outcome {outcome} reported for {text}")
    if outcome == "approximate_hit":
        return passed("reported as approximate", claim)
    for _, witness in WITNESSES:
        reuse, evidence = witness(step, text)
        if reuse is Reuse.SEEN and evidence is not None:
            expected = "outcome approximate_hit"
            told = failed(
                "approximate reuse was not reported", expected, f"outcome {outcome}", evidence, claim
            )
            return replace(told, rests_on=rests_on_word(witness, step, text))
    return inconclusive(f"no approximate reuse was seen in {step.step.id}; none is owed")


def _approximated(step: Observation) -> bool:
    return any(entry.get("outcome") == "approximate_hit" for entry in step.entries or ())
