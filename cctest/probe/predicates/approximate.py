"""Predicates about approximate reuse, for targets that say they do any."""

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
from cctest.probe.witness import WITNESSES, Reuse
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
    for name, witness in WITNESSES:
        reuse, evidence = witness(step, text)
        if evidence is None or reuse is Reuse.UNKNOWN:
            continue
        if reuse is Reuse.UNSEEN:
            return passed(f"computed afresh, by {name}", evidence)
        seen = f"{text} was {reuse}"
        return failed("approximate state was served as exact", f"{text} computed afresh", seen, evidence)
    return inconclusive(f"nothing shows whether {step.step.id} reused anything")


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
            return failed(
                "approximate reuse was not reported", expected, f"outcome {outcome}", evidence, claim
            )
    return inconclusive(f"no approximate reuse was seen in {step.step.id}; none is owed")


def _approximated(step: Observation) -> bool:
    return any(entry.get("outcome") == "approximate_hit" for entry in step.entries or ())
