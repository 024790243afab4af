"""The predicates about reuse: isolation checks with their positive controls."""

from dataclasses import replace
from typing import Final

from cctest.probe.callers import UNCREDENTIALED
from cctest.probe.case import Expectation, role_in
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
from cctest.probe.witness import (
    WITNESSES,
    Reuse,
    Witness,
    by_engine,
    by_status,
    engine_counts,
    rests_on_word,
    usage_counts,
)
from cctest.verdict import Evidence, Result, Source


def not_reused(expectation: Expectation, world: World) -> Judgement:
    """The step must not have reused `fragment`, and its control must show that reuse was there to be had.

    A hit by any witness is a failure, unless a stronger one shows that there was none. A hit that is nothing
    but the target's word for some of the fragment has to be held against a blank. A pass needs one
    witness that saw the control hit and saw the step not hit, and no stronger one that denies the control;
    which one it was is part of the verdict. `provided` lists steps that would themselves have left fresh
    state had they not hit; unless all of them did, a hit means nothing. Only if step `only_if_reused` did
    reuse the fragment has the check anything to show. A `refusable` step may also be turned away.
    """
    text = str(expectation.arguments["fragment"])
    step = world.observations[str(expectation.step)]
    if not step.answered:
        if expectation.arguments.get("refusable") and _refused(step):
            return passed(f"turned away: {step.outline}", response_evidence(step))
        return _unanswered(step, world)
    found: list[Evidence] = []
    for _, witness in WITNESSES:
        reuse, evidence = witness(step, text)
        if evidence is not None:
            found.append(evidence)
        if reuse is Reuse.SEEN or (reuse is Reuse.PARTLY and witness is by_engine):
            return _hit(expectation, world, reuse, witness, tuple(found))
        if reuse is Reuse.PARTLY:
            message = f"{step.step.id} reused {text} in part, which may be the template's own tokens"
            return replace(inconclusive(message, *found), retry=True)
        if reuse is Reuse.UNSEEN and _proven(witness, expectation, world):
            break  # a weaker claim of reuse that didn't happen is another check's business
    return _without_hit(expectation, world, tuple(found))


def _refused(step: Observation) -> bool:
    """Whether a step was turned away for good; 429 only puts it off."""
    return step.response is not None and 400 <= step.response.status < 500 and step.response.status != 429


def _proven(witness: Witness, expectation: Expectation, world: World) -> bool:
    """Whether a witness that saw no reuse would have seen some: it is the engine, or saw the control."""
    control = world.observations[str(expectation.control)]
    text = str(expectation.arguments.get("control_fragment", expectation.arguments["fragment"]))
    return witness is by_engine or witness(control, text)[0] is Reuse.SEEN


def _reused(step: Observation, text: str) -> bool:
    """Whether the strongest witness that knows saw the step reuse a fragment."""
    known = (witness(step, text)[0] for _, witness in WITNESSES)
    return next((reuse for reuse in known if reuse is not Reuse.UNKNOWN), Reuse.UNKNOWN) is Reuse.SEEN


def _hit(
    expectation: Expectation, world: World, reuse: Reuse, witness: Witness, found: tuple[Evidence, ...]
) -> Judgement:
    text = str(expectation.arguments["fragment"])
    step = world.observations[str(expectation.step)]
    provided = expectation.arguments.get("provided")
    for name in provided if isinstance(provided, list) else ():
        if witness(world.observations[str(name)], text)[0] is not Reuse.SEEN:
            quotation = missing_capability(world.needs, world.advertised)
            if quotation is not None:
                return Judgement(Result.UNSUPPORTED, quotation, evidence=found)
            message = f"{step.step.id} hit, but {name} had not, so that it may have left fresh state"
            return replace(inconclusive(message, *found), retry=True)
    maker = expectation.arguments.get("only_if_reused")
    if maker is not None and not _reused(world.observations[str(maker)], text):
        message = f"{maker} computed afresh, and so left state of its own that may be reused"
        return Judgement(Result.UNSUPPORTED, message, evidence=found, retry=True)
    return Judgement(
        Result.FAIL,
        f"{role_in(world.setting.cell, step.step.by)} was served state that it must not reuse",
        expected=f"{step.step.id} computes {text} afresh",
        seen=f"{text} was {reuse}",
        evidence=found,
        repeatable=witness is not by_engine,
        rests_on=rests_on_word(witness, step, text),
    )


def _without_hit(expectation: Expectation, world: World, found: tuple[Evidence, ...]) -> Judgement:
    text = str(expectation.arguments["fragment"])
    maker = expectation.arguments.get("only_if_reused")
    if maker is not None and not _reused(world.observations[str(maker)], text):
        message = f"{maker} computed afresh, so that there was nothing for it to extend"
        return Judgement(Result.UNSUPPORTED, message, evidence=found, retry=True)
    control_text = str(expectation.arguments.get("control_fragment", text))
    step = world.observations[str(expectation.step)]
    control = world.observations[str(expectation.control)]
    gathered = list(found)
    for name, witness in WITNESSES:
        in_control, shown = witness(control, control_text)
        in_step, denied = witness(step, text)
        if shown is not None:
            gathered.append(shown)
        if in_control is Reuse.SEEN and in_step is Reuse.UNSEEN:
            caution = "; it rests on the target's word alone" if witness is by_status else ""
            pair = [evidence for evidence in (shown, denied) if evidence is not None]
            return passed(f"no reuse where the control did reuse, by {name}{caution}", *pair)
        if in_control is Reuse.UNSEEN:
            break  # a weaker witness can't prove a control that a stronger one denies
    quotation = missing_capability(world.needs, world.advertised)
    if quotation is not None:
        return Judgement(Result.UNSUPPORTED, quotation, evidence=tuple(gathered))
    if not control.answered:
        return inconclusive(f"the control was not served: {control.outline}", response_evidence(control))
    message = f"the control {control.step.id} showed no reuse, so its absence in {step.step.id} means nothing"
    return replace(inconclusive(message, *gathered), retry=True, uncontrolled=True)


def read_no_further(expectation: Expectation, world: World) -> Judgement:
    """The step reads no more tokens than the steps `than`, which have `fragment` replaced by fresh texts.

    Finer than `not_reused`: it shows a single block that begins in front of the fragment and reaches into it.
    Caches evict, so the others have to agree with each other before more than theirs means anything.
    """
    step = world.observations[str(expectation.step)]
    control = world.observations[str(expectation.control)]
    text = str(expectation.arguments["fragment"])
    names = expectation.arguments["than"]
    others = [world.observations[str(name)] for name in (names if isinstance(names, list) else ())]
    if not step.answered:
        return _unanswered(step, world)
    for name, source, counts in _COUNTS:
        read, besides = counts(step), [one[1] for one in map(counts, others) if one is not None]
        if read is None or len(besides) < len(others):
            continue
        seen = f"{read[1]} tokens cached in {step.step.id}, {besides} with other texts in its place"
        evidence = Evidence(source, seen)
        if read[1] > max(besides):
            if min(besides) < max(besides):
                return replace(inconclusive(f"eviction may be why it differs: {seen}", evidence), retry=True)
            told = failed(
                f"some of {text} was reused that must not be", "no more than theirs", seen, evidence
            )
            return replace(told, repeatable=source is not Source.ENGINE)
        if (counts(control) or (0, 0))[1] > max(besides):
            return passed(f"none of {text} was reused where the control did reuse it, by {name}", evidence)
    quotation = missing_capability(world.needs, world.advertised)
    if quotation is not None:
        return Judgement(Result.UNSUPPORTED, quotation)
    if all(counts(control) is None for _, _, counts in _COUNTS):
        return Judgement(Result.UNSUPPORTED, "no tokens are counted as cached")
    message = f"the control {control.step.id} showed no reuse, so its absence in {step.step.id} means nothing"
    return replace(inconclusive(message), retry=True, uncontrolled=True)


_COUNTS: Final = (
    ("the engine's record", Source.ENGINE, engine_counts),
    ("usage counts", Source.USAGE, usage_counts),
)
"""What counts tokens, strongest first."""


def _unanswered(step: Observation, world: World) -> Judgement:
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    if step.step.by in UNCREDENTIALED and step.response is not None and step.response.status in (401, 403):
        if step.entries is not None:
            return failed("a caller who was turned away got a status", "no cache_status", "cache_status")
        return passed(f"turned away with {step.response.status}", response_evidence(step))
    quotation = missing_capability(world.needs, world.advertised)
    if quotation is not None:
        return Judgement(Result.UNSUPPORTED, quotation, evidence=(response_evidence(step),))
    missing = inconclusive(f"{step.step.id} was not served: {step.outline}", response_evidence(step))
    return replace(missing, retry=True)
