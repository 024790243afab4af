"""Kind `composition`: the policy after each fragment (CMP-1..9), asked for in one pass."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from cctest.contract.source import JsonValue
from cctest.vectors.expectation import Expectation, Observation, compare, decide, once, word
from cctest.vectors.implementation import Implementation, Intent, Refused
from cctest.vectors.model import Vector, VectorResult

AFTER_FRAGMENT: Final = "after_fragment_"
"""What the names of this kind's expectations begin with; the index of a fragment follows."""

REFUSED: Final = "refused"
"""The expectation whether an intent is refused; without it, none is."""

_MEMBERS: Final = ("retention", "reuse", "share_max", "namespace_identity")


def run(vector: Vector, implementation: Implementation) -> VectorResult:
    """Check each policy that the vector expects, and whether an intent is refused where that is expected."""
    intents = [_intent(fragment) for fragment in vector.content["fragments"]]
    policies = once(lambda: implementation.compose(intents))
    expected: Mapping[str, Any] = vector.content["expected"]
    after = {name: policy for name, policy in expected.items() if name != REFUSED}

    def refused() -> Observation:
        return compare("whether an intent is refused", expected[REFUSED], _refusal(policies) is not None)

    def policy(name: str) -> Observation:
        if REFUSED in expected and (refusal := _refusal(policies)) is not None:
            # Whether that is permitted is an expectation by itself.
            return Observation(holds=True, seen=None, message=f"there is none; {refusal}")
        return _observe(policies, int(name.removeprefix(AFTER_FRAGMENT)), after[name])

    return decide(
        vector,
        [
            Expectation(name, wanted, refused if name == REFUSED else partial(policy, name))
            for name, wanted in expected.items()
        ],
        unasserted=sum(_unasserted(each) for each in after.values()),
    )


def _refusal(policies: Callable[[], Sequence[JsonValue]]) -> Refused | None:
    try:
        policies()
    except Refused as refusal:
        return refusal
    return None


def _intent(fragment: Mapping[str, Any]) -> Intent | None:
    if "text" in fragment:
        text: str = fragment["text"]
        return text
    return {"version": 1, **fragment} if "constraints" in fragment else None


def _observe(policies: Callable[[], Sequence[JsonValue]], index: int, expected: Any) -> Observation:
    policy: Any = policies()[index]
    if expected is None or policy is None:
        return compare("the policy", expected, policy)
    compared = [
        compare(member, expected[member], policy.get(member)) for member in _MEMBERS if member in expected
    ]
    compared += [_absence(member, policy) for member in expected.get("absent", ())]
    wrong = [each.message for each in compared if not each.holds]
    taken = tuple(pair for each in compared for pair in each.taken)
    message = "; ".join(wrong) or "the policy is the expected one"
    return Observation(not wrong, policy, message, taken)


def _absence(member: str, policy: Mapping[str, Any]) -> Observation:
    holder = policy["retention"] if member == "max_age" else policy
    seen = holder.get(member)
    return Observation(
        member not in holder,
        seen,
        f"{member} should be absent and is {word(seen)}" if member in holder else "",
    )


def _unasserted(expected: Mapping[str, Any] | None) -> int:
    """Count members of a policy that are neither expected nor expected to be absent."""
    if expected is None:
        return 0
    asserted = {*expected, *expected.get("absent", ())}
    return sum(member not in asserted for member in _MEMBERS)
