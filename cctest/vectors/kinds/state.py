"""Kinds `eligibility` and `admission`: what may be reused, how long and by whom (RET-3, SHR-*, POL-*)."""

from collections.abc import Mapping
from typing import Any

from cctest.contract import digest, eligibility, sharing
from cctest.contract.vocabulary import Scope
from cctest.vectors.expectation import Expectation, Observation, compare, decide, word
from cctest.vectors.model import Vector, VectorResult


def run_eligibility(vector: Vector) -> VectorResult:
    """Check of each case whether the state is still eligible at that instant."""
    return decide(
        vector, [_case(f"case-{index}", case) for index, case in enumerate(vector.content["cases"])]
    )


def _case(name: str, case: Any) -> Expectation:
    def observe() -> Observation:
        seen = eligibility.eligible(case["materialized_at"], case["max_age"], case["now"])
        moment = f"eligibility at {word(case['now'])} of state from {word(case['materialized_at'])}"
        return compare(f"{moment} with max_age {word(case['max_age'])}", case["eligible"], seen)

    return Expectation(name, case["eligible"], observe)


def run_admission(vector: Vector) -> VectorResult:
    """Check whether the requester may read the state, and how widely what it computes from it is shared."""
    expected: Mapping[str, Any] = vector.content["expected"]
    expectations = [Expectation("may_read", expected["may_read"], lambda: _may_read(vector))]
    if "boundary" in expected:
        expectations.append(Expectation("boundary", expected["boundary"], lambda: _published(vector)))
    return decide(vector, expectations)


def _may_read(vector: Vector) -> Observation:
    retained, requester = vector.content["retained"], vector.content["requester"]
    state = sharing.RetainedState(
        boundary=_recorded(retained),
        namespace_digest=digest.namespace_digest(retained.get("namespaces", ())),
        materialized_at=retained.get("materialized_at", 0),
        max_age=retained.get("max_age"),
    )
    admitted = sharing.may_read(
        state,
        _context(requester),
        _request(requester, "later"),
        digest.namespace_digest(requester.get("namespaces", ())),
        requester.get("now", 0),
    )
    return compare("leave to read", vector.content["expected"]["may_read"], admitted)


def _published(vector: Vector) -> Observation:
    requester = vector.content["requester"]
    requesting = sharing.boundary(
        Scope(vector.content["share_max"]), _context(requester), _request(requester, "later")
    )
    published = sharing.published_boundary(_recorded(vector.content["retained"]), requesting)
    seen = None if published is None else str(published.scope)
    return compare("the boundary of the result", vector.content["expected"]["boundary"], seen)


def _recorded(retained: Mapping[str, Any]) -> sharing.Boundary:
    return sharing.boundary(Scope(retained["scope"]), _context(retained), _request(retained, "earlier"))


def _context(party: Mapping[str, Any]) -> sharing.Context:
    return sharing.Context(party["tenant"], party["principal"], party.get("session"))


def _request(party: Mapping[str, Any], default: str) -> str:
    """Name a request; the two of a vector are different ones unless it says otherwise."""
    return str(party.get("request", default))
