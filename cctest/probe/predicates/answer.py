"""Predicates about the response as such: served, refused, refused in the right way."""

from collections.abc import Sequence

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
    response_evidence,
)
from cctest.probe.observation import Observation
from cctest.probe.witness import Reuse, by_engine, by_usage
from cctest.verdict import Result

_CODES = tuple(str(code) for code in ErrorCode)


def answered(expectation: Expectation, world: World) -> Judgement:
    """The step is served: a chat completion comes back."""
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
    return failed("a valid request was not served", "HTTP 200", step.outline, evidence)


def refused(expectation: Expectation, world: World) -> Judgement:
    """The step is refused with HTTP 400 and one of `codes` (all three codes if none are listed)."""
    step = world.observations[str(expectation.step)]
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    codes = _strings(expectation.arguments.get("codes")) or _CODES
    return _refusal(step, codes)


def refused_or_fallback(expectation: Expectation, world: World) -> Judgement:
    """The step is refused (HTTP 400 with a code of BND-9) or served by fallback.

    A fallback shows itself in a status whose every entry says `bypass`. Without a status the response alone
    can't tell a fallback from service under a weaker policy.
    """
    step = world.observations[str(expectation.step)]
    if step.error is not None:
        return Judgement(Result.ERROR, f"{step.step.id}: {step.error}")
    if not step.answered:
        return _refusal(step, _CODES)
    evidence = response_evidence(step)
    entries = step.entries
    if not entries:
        return inconclusive("served without a status: fallback or not can't be told from outside", evidence)
    outcomes = sorted({str(entry.get("outcome")) for entry in entries})
    retained = any(entry.get("retention") == "retained" for entry in entries)
    if outcomes != ["bypass"] or retained:
        seen = f"outcomes {', '.join(outcomes)}" + (", state retained" if retained else "")
        return failed(
            "an invalid intent was served other than by fallback",
            "HTTP 400 with a code of BND-9, or bypass in every entry and nothing retained",
            seen,
            evidence,
        )
    for fragment in step.built.fragments:
        for witness in (by_engine, by_usage):
            reuse, shown = witness(step, fragment.text)
            if reuse is Reuse.SEEN and shown is not None:
                return failed("the fallback reused state", "fresh computation", shown.seen, shown)
    return passed("served by fallback, by the target's own status", evidence)


def _refusal(step: Observation, codes: Sequence[str]) -> Judgement:
    evidence = response_evidence(step)
    expected = f"HTTP 400 with error code {' or '.join(codes)}"
    if step.answered:
        return failed("the request was served", expected, step.outline, evidence)
    status = step.response.status if step.response else 0
    code = step.chat.error_code if step.chat else None
    if status != 400 or code not in codes:
        return failed("the refusal has another shape", expected, step.outline, evidence)
    return passed(f"refused with {code}", evidence)


def _strings(value: JsonValue) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
