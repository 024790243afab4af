"""What a step asks of the target, held against what the target says that it can enforce."""

from collections.abc import Iterator
from typing import Final

from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import ErrorCode, OnUnenforceable
from cctest.probe.case import Expectation, Step
from cctest.probe.judgement import World, missing_capability
from cctest.probe.observation import Observation
from cctest.probe.prompt import substitute

_BYPASS: Final = "bypass"


def lacking(step: Step, world: World) -> str | None:
    """Quote the first capability that a step's intents need and the target lacks; None without one."""
    needs = tuple(need for constraints in _constraints(step, world) for need in _needs(constraints))
    return missing_capability(needs, world.advertised)


def unlisted(step: Step, world: World) -> str | None:
    """Quote what lets a target serve a step's intents under narrower ones of its own choice (READ-27).

    None where it advertises all that they need.
    """
    if world.advertised.capabilities is None:
        return f"no capabilities are exposed: {world.advertised.outline}"
    return lacking(step, world)


def refused_as_announced(expectation: Expectation, world: World) -> str | None:
    """Quote why a step of an expectation was refused, where the capabilities announce the refusal."""
    capabilities = world.advertised.capabilities
    if capabilities is None or capabilities.on_unenforceable is not OnUnenforceable.REJECT:
        return None
    for name, seen in world.observations.items():
        code = seen.chat.error_code if seen.chat is not None and not seen.answered else None
        quotation = lacking(seen.step, world) if code == ErrorCode.UNENFORCEABLE else None
        if quotation is not None and (name == expectation.step or expectation.control is not None):
            return f"{name} was refused as announced; {quotation}"
    return None


def told_as_bypass(seen: Observation, world: World) -> bool:
    """Whether the target's own status calls all of a step a bypass, and that means a fallback.

    It doesn't where requests are called so, too, that ask for nothing but reuse that the target can enforce:
    a text may be too short to be looked up, or nothing may ever be (STA-4).
    """
    if not all_bypassed(seen):
        return False
    return any(
        other is not seen and other.entries and not all_bypassed(other) and _plainly_reuses(other, world)
        for other in world.observations.values()
    )


def all_bypassed(seen: Observation) -> bool:
    """Whether every entry of a step's status says `bypass`."""
    return seen.answered and {entry.get("outcome") for entry in seen.entries or ()} == {_BYPASS}


def _plainly_reuses(seen: Observation, world: World) -> bool:
    """Whether a step asks for reuse that isn't lacking, and for nothing that rules reuse out."""
    asked = list(_constraints(seen.step, world))
    return bool(asked) and all(map(_permits_reuse, asked)) and lacking(seen.step, world) is None


def _permits_reuse(constraints: dict[str, JsonValue]) -> bool:
    kept = _retention(constraints).get("mode") == "allow"
    return kept and constraints.get("reuse") != "none" and constraints.get("share_max") != "request"


def _constraints(step: Step, world: World) -> Iterator[dict[str, JsonValue]]:
    """Yield the constraints of the step's intents, as far as they are objects at all."""
    for fragment in step.fragments:
        intent = world.setting.case.intents.get(fragment.intent) if fragment.intent is not None else None
        built = substitute(intent, world.setting)
        constraints = built.get("constraints") if isinstance(built, dict) else None
        if isinstance(constraints, dict):
            yield constraints


def _needs(constraints: dict[str, JsonValue]) -> Iterator[str]:
    retention = _retention(constraints)
    yield f"retention_modes={retention.get('mode')}"
    if "max_age" in retention:
        yield "retention_max_age"
    for member in ("reuse", "share_max"):
        yield f"{member}={constraints.get(member)}"
    if "namespace" in constraints:
        yield "namespace"


def _retention(constraints: dict[str, JsonValue]) -> dict[str, JsonValue]:
    retention = constraints.get("retention")
    return retention if isinstance(retention, dict) else {}
