"""Kinds `eligibility` and `admission`: what may be reused, how long and by whom (RET-3, SHR-*, POL-*)."""

from collections.abc import Mapping
from typing import Any

from cctest.vectors.expectation import Expectation, Observation, compare, decide, is_choice, once, word
from cctest.vectors.implementation import Implementation, Party, Retained
from cctest.vectors.model import Vector, VectorResult


def run_eligibility(vector: Vector, implementation: Implementation) -> VectorResult:
    """Check of each case whether the state is still eligible at that instant."""
    return decide(
        vector,
        [_case(implementation, f"case-{index}", case) for index, case in enumerate(vector.content["cases"])],
    )


def _case(implementation: Implementation, name: str, case: Any) -> Expectation:
    def observe() -> Observation:
        seen = implementation.eligible(case["materialized_at"], case["max_age"], case["now"])
        moment = f"eligibility at {word(case['now'])} of state from {word(case['materialized_at'])}"
        return compare(f"{moment} with max_age {word(case['max_age'])}", case["eligible"], seen)

    return Expectation(name, case["eligible"], observe)


def run_admission(vector: Vector, implementation: Implementation) -> VectorResult:
    """Check whether the requester may read the state, and how widely what it computes from it is shared."""
    expected: Mapping[str, Any] = vector.content["expected"]
    retained, requester = vector.content["retained"], vector.content["requester"]
    state = Retained(
        # The two are different requests unless the vector says otherwise.
        party=_party(retained, "earlier"),
        scope=retained["scope"],
        materialized_at=retained.get("materialized_at", 0),
        max_age=retained.get("max_age"),
    )
    admission = once(
        lambda: implementation.admit(
            state, _party(requester, "later"), requester.get("now", 0), vector.content["share_max"]
        )
    )

    def may_read() -> Observation:
        return compare("leave to read", expected["may_read"], admission().may_read)

    def boundary() -> Observation:
        answer = admission()
        if answer.boundary is None and not answer.may_read and is_choice(expected["may_read"]):
            return Observation(holds=True, seen=None, message="nothing is computed from what isn't read")
        return compare("the boundary of the result", expected["boundary"], answer.boundary)

    expectations = [Expectation("may_read", expected["may_read"], may_read)]
    if "boundary" in expected:
        expectations.append(Expectation("boundary", expected["boundary"], boundary))
    return decide(vector, expectations)


def _party(party: Mapping[str, Any], request: str) -> Party:
    return Party(
        tenant=party["tenant"],
        principal=party["principal"],
        session=party.get("session"),
        request=party.get("request", request),
        namespaces=tuple(party.get("namespaces", ())),
    )
