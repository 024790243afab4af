"""Predicates about the capabilities object itself."""

from dataclasses import replace
from typing import Final

from cctest.contract.vocabulary import ErrorCode, OnUnenforceable, Outcome, Scope
from cctest.probe.case import Expectation
from cctest.probe.enforceability import told_as_bypass
from cctest.probe.judgement import (
    Advertised,
    Judgement,
    World,
    failed,
    inconclusive,
    missing_capability,
    passed,
    response_evidence,
)
from cctest.probe.observation import Observation, entry_of
from cctest.probe.predicates.status import without_status
from cctest.probe.prompt import substitute
from cctest.probe.witness import WITNESSES, Reuse, by_engine, rests_on_word
from cctest.target.chat import ABSENT
from cctest.verdict import Evidence, Result, Source

_VERSION: Final = 1
"""The version of every intent that a case sends as valid."""

_LOOKED_UP: Final = frozenset({Outcome.MISS, Outcome.EXACT_HIT, Outcome.APPROXIMATE_HIT})
"""Outcomes that tell what a look-up came to; a fallback makes none (STA-4)."""


def capabilities_exposed(expectation: Expectation, world: World) -> Judgement:
    """`GET /v1/cache_intent_capabilities` answers (CAP-1 is a SHOULD; BND-8)."""
    del expectation
    if world.advertised.exposed:
        return passed("exposed", _evidence(world.advertised))
    return failed(
        "the capabilities are not exposed", "HTTP 200", world.advertised.outline, _evidence(world.advertised)
    )


def capabilities_shape(expectation: Expectation, world: World) -> Judgement:
    """What is exposed has the shape of section 2.2, `on_unenforceable` among it (CAP-2, CAP-7)."""
    del expectation
    advertised = world.advertised
    if not advertised.exposed:
        return Judgement(Result.UNSUPPORTED, f"no capabilities are exposed: {advertised.outline}")
    if advertised.faults:
        return failed(
            "the capabilities object is malformed",
            "the object of section 2.2",
            "; ".join(advertised.faults),
            _evidence(advertised),
        )
    return passed("well-formed", _evidence(advertised))


def as_advertised(expectation: Expectation, world: World) -> Judgement:
    """What is advertised isn't refused as unenforceable; what isn't is treated as advertised (CAP-2, CAP-3).

    `uses` names the capabilities that the step's intent needs. Service under a stricter policy than asked is
    always permitted (INT-1), so only a refusal can break this; and service other than by fallback where the
    intent's version isn't advertised (INT-4). That a target serves by fallback what it says it rejects is a
    warning.
    """
    step = world.observations[str(expectation.step)]
    capabilities = world.advertised.capabilities
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    if capabilities is None:
        return Judgement(Result.UNSUPPORTED, f"no capabilities are exposed: {world.advertised.outline}")
    evidence = response_evidence(step)
    uses = expectation.arguments["uses"]
    lacking = missing_capability(tuple(map(str, uses)) if isinstance(uses, list) else (), world.advertised)
    refused = step.chat is not None and step.chat.error_code in tuple(ErrorCode)
    if not refused and not step.answered:
        if lacking is not None and _refused_in_other_words(step, world):
            expected = f"{ErrorCode.UNENFORCEABLE} (BND-9)"
            return failed(
                "what isn't advertised was refused with another code", expected, step.outline, evidence
            )
        return replace(inconclusive(f"{step.step.id} was not served: {step.outline}", evidence), retry=True)
    rejects = capabilities.on_unenforceable is OnUnenforceable.REJECT
    if lacking is not None and rejects and told_as_bypass(step, world):
        message = "reject is advertised, but the request was served by fallback"
        return Judgement(Result.WARN, message, f"{ErrorCode.UNENFORCEABLE}", step.outline, (evidence,))
    if _looked_up(step) and _VERSION not in capabilities.versions:
        expected = f"{_VERSION} among versions, or a refusal, or fallback"
        seen = f"versions {', '.join(map(str, capabilities.versions))}"
        return failed("a version that isn't advertised was served", expected, seen, evidence)
    if not refused:
        return passed(
            "served as advertised" if lacking is None else "served under a stricter policy", evidence
        )
    if lacking is None:
        return failed("what is advertised was refused", "service", step.outline, evidence)
    if capabilities.on_unenforceable is OnUnenforceable.BYPASS:
        return failed("bypass is advertised, but the request was rejected", "service", step.outline, evidence)
    return passed(f"rejected as advertised; {lacking}", evidence)


def _refused_in_other_words(step: Observation, world: World) -> bool:
    """Whether a step is refused as a bad request, and others are served that differ in their intent alone."""
    bad_request = step.response is not None and step.response.status == 400
    return bad_request and any(other.answered for other in world.observations.values())


def _looked_up(step: Observation) -> bool:
    """Whether the target's own status tells of a look-up, which a fallback doesn't make (STA-4)."""
    outcomes = {entry.get("outcome") for entry in step.entries or ()}
    return step.answered and not outcomes.isdisjoint(_LOOKED_UP)


def boundary_as_advertised(expectation: Expectation, world: World) -> Judgement:
    """A public fragment in front of a narrower one is shared only where `per_fragment_share` says so (CAP-6).

    Shared reuse is never owed, so where it is advertised its absence says nothing.
    """
    step = world.observations[str(expectation.step)]
    control = world.observations[str(expectation.control)]
    text = str(expectation.arguments["fragment"])
    capabilities = world.advertised.capabilities
    if capabilities is None:
        return Judgement(Result.UNSUPPORTED, f"no capabilities are exposed: {world.advertised.outline}")
    if not step.answered:
        return inconclusive(f"{step.step.id} was not served: {step.outline}", response_evidence(step))
    for name, witness in WITNESSES:
        reuse, evidence = witness(step, text)
        if evidence is None or witness(control, text)[0] is not Reuse.SEEN:
            continue
        if capabilities.per_fragment_share and reuse is Reuse.SEEN:
            return passed(f"the public part is shared as advertised, by {name}", evidence)
        if not capabilities.per_fragment_share and reuse is Reuse.UNSEEN:
            return passed(f"one boundary for the whole request, as advertised, by {name}", evidence)
        if not capabilities.per_fragment_share and reuse is Reuse.SEEN:
            expected = "one boundary, the narrowest, for the whole request"
            told = failed(
                "per-fragment boundaries are in force, and not advertised", expected, str(reuse), evidence
            )
            return replace(told, rests_on=rests_on_word(witness, step, text))
    return Judgement(Result.UNSUPPORTED, "no sharing of the public part was seen; none is owed")


def boundary_of_its_own(expectation: Expectation, world: World) -> Judgement:
    """Where `per_fragment_share` is advertised, what follows a fragment doesn't narrow its boundary (CAP-6).

    In step `alone` nothing behind it asks for less, so that what the target narrows anyway isn't held against
    it (SHR-2). Whoever can't establish the order of rendering applies one boundary to the whole request,
    whatever is advertised (CMP-11), and so expectations of this kind are of level SHOULD.
    """
    step = world.observations[str(expectation.step)]
    alone = world.observations[str(expectation.arguments["alone"])]
    text = str(expectation.arguments["fragment"])
    capabilities = world.advertised.capabilities
    if capabilities is None or not capabilities.per_fragment_share:
        return Judgement(Result.UNSUPPORTED, "capabilities: per_fragment_share is not true")
    for one in (step, alone):
        if not one.answered:
            return inconclusive(f"{one.step.id} was not served: {one.outline}", response_evidence(one))
    used, by_itself = _share(step, text), _share(alone, text)
    if used is None or by_itself is None:
        return without_status(world)
    seen = f"effective_share {used} for {text} in {step.step.id}, {by_itself} in {alone.step.id}"
    evidence = Evidence(Source.STATUS, seen)
    if used.rank < by_itself.rank:
        message = "what follows narrowed the boundary, though each fragment is said to have its own"
        return replace(failed(message, f"effective_share {by_itself}", seen, evidence), repeatable=True)
    return passed("a boundary of its own", evidence)


def _share(step: Observation, text: str) -> Scope | None:
    """The boundary that a step's status tells of a fragment; None where it tells none of ours."""
    told = (entry_of(step, text) or {}).get("effective_share")
    return Scope(told) if isinstance(told, str) and told in tuple(Scope) else None


def listed_if_reused(expectation: Expectation, world: World) -> Judgement:
    """What was kept under an intent and is read back under it was supported, and so is advertised (CAP-3).

    `uses` names the capabilities without which such an intent can only be served by computing afresh.
    """
    step = world.observations[str(expectation.step)]
    text = str(expectation.arguments["fragment"])
    if world.advertised.capabilities is None:
        return Judgement(Result.UNSUPPORTED, f"no capabilities are exposed: {world.advertised.outline}")
    uses = substitute(expectation.arguments["uses"], world.setting)
    lacking = missing_capability(tuple(map(str, uses)) if isinstance(uses, list) else (), world.advertised)
    if lacking is None:
        return passed("advertised", _evidence(world.advertised))
    if not step.answered:
        return Judgement(Result.UNSUPPORTED, lacking, evidence=(response_evidence(step),))
    for name, witness in WITNESSES:
        reuse, evidence = witness(step, text)
        if reuse is Reuse.SEEN and evidence is not None:
            message = f"what isn't advertised was kept and read back; {lacking}"
            told = failed(message, "advertised, or computed afresh", evidence.seen, evidence)
            word = rests_on_word(witness, step, text)
            return replace(told, repeatable=witness is not by_engine, rests_on=word)
        if reuse is Reuse.UNSEEN and evidence is not None:
            return passed(f"neither advertised nor in use, by {name}", evidence)
    return Judgement(Result.UNSUPPORTED, f"{lacking}, and nothing shows whether it is in use all the same")


def status_listed(expectation: Expectation, world: World) -> Judgement:
    """Who tells in a status what look-ups came to advertises that (CAP-3).

    Entries that tell of no look-up take nothing but the request itself, and so may come without.
    """
    del expectation
    capabilities = world.advertised.capabilities
    if capabilities is None:
        return Judgement(Result.UNSUPPORTED, f"no capabilities are exposed: {world.advertised.outline}")
    if capabilities.status:
        return passed("advertised", _evidence(world.advertised))
    telling = [step for step in world.observations.values() if _looked_up(step)]
    if telling:
        stated = "absent" if capabilities.status is None else "false"
        seen = f"cache_status with outcomes of look-ups in {', '.join(step.step.id for step in telling)}"
        evidence = Evidence(Source.STATUS, seen)
        return failed(f"capabilities: status is {stated}, and it is told", "status: true", seen, evidence)
    return passed("neither advertised nor told", _evidence(world.advertised))


def status_promised(expectation: Expectation, world: World) -> Judgement:
    """Where the capabilities say `status: true`, governed responses carry one (READ-34)."""
    del expectation
    capabilities = world.advertised.capabilities
    if capabilities is None or not capabilities.status:
        return Judgement(Result.UNSUPPORTED, "capabilities: status is not true")
    governed = [
        step
        for step in world.observations.values()
        if step.answered and any(fragment.governed for fragment in step.built.fragments)
    ]
    if not governed:
        return inconclusive("no governed request was served")
    silent = [step.step.id for step in governed if step.chat and step.chat.cache_status is ABSENT]
    evidence = Evidence(
        Source.RESPONSE, f"{len(governed)} governed responses, {len(silent)} without a status"
    )
    if silent:
        message = "a status is advertised, and was omitted (which BND-7 permits)"
        return failed(message, "cache_status", f"none in {', '.join(silent)}", evidence)
    return passed("every governed response carried a status", evidence)


def _evidence(advertised: Advertised) -> Evidence:
    return Evidence(Source.RESPONSE, f"GET /v1/cache_intent_capabilities: {advertised.outline}")
