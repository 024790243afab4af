"""Kinds `hint_tolerance` and `fail_closed`: what may be passed over, and what must not (INT-*, HNT-*)."""

from typing import Any, Final

from cctest.contract import capabilities, composition, hints, intent
from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import OnUnenforceable
from cctest.vectors.expectation import Expectation, Observation, compare, decide
from cctest.vectors.model import Vector, VectorResult

_UNCHANGED: Final = "constraints_unchanged"
_REFUSED: Final = "invalid"
_REJECT: Final = "reject"
_FALLBACK: Final = "fresh_no_retention_fallback"
_SERVED: Final = "served"
_ANSWERS: Final = {OnUnenforceable.REJECT: _REJECT, OnUnenforceable.BYPASS: _FALLBACK}


def run_hint_tolerance(vector: Vector) -> VectorResult:
    """Check that the hints leave the policy alone, and what is said about each of them."""
    expected: dict[str, JsonValue] = vector.content["expected"]
    return decide(
        vector,
        [
            _policy_expectation(vector, wanted)
            if name == _UNCHANGED
            else _report_expectation(vector, name, wanted)
            for name, wanted in expected.items()
        ],
    )


def _policy_expectation(vector: Vector, expected: JsonValue) -> Expectation:
    def observe() -> Observation:
        read = _with_hints(vector)
        alone = intent.read_constraints(vector.content["constraints"])
        # An intent that is refused for its hints (READ-26) weakens nothing either.
        unchanged = read is None or composition.compose([read.constraints]) == composition.compose([alone])
        return compare("whether the constraints are unchanged", expected, unchanged)

    return Expectation(_UNCHANGED, expected, observe)


def _report_expectation(vector: Vector, name: str, expected: JsonValue) -> Expectation:
    def observe() -> Observation:
        read = _with_hints(vector)
        if read is None:
            return compare(f"the hint `{name}`", expected, _REFUSED)
        reports = hints.report_hints(read.hints, vector.content.get("reuse_within_max"))
        # READ-20: a hint that isn't advertised may be left out of the report.
        return compare(f"the hint `{name}`", expected, str(reports.get(name, "ignored")))

    return Expectation(name, expected, observe)


def _with_hints(vector: Vector) -> intent.CacheIntent | None:
    members = {"version": 1, "constraints": vector.content["constraints"], "hints": vector.content["hints"]}
    try:
        return intent.read_intent(members)
    except intent.IntentError:
        return None


def run_fail_closed(vector: Vector) -> VectorResult:
    """Check what becomes of an intent that is at fault, or beyond what is advertised."""
    wanted: dict[str, Any] = vector.content["expected"]
    results: list[JsonValue] | None = wanted.get("result")

    def observe() -> Observation:
        seen = _result(vector)
        if results is None:
            return compare("the result", wanted, seen)
        holds = seen in results
        verb = "is" if holds else f"should be {' or '.join(map(str, results))} and is"
        return Observation(holds, seen, f"the result {verb} {seen}")

    return decide(vector, [Expectation("result", wanted if results is None else results, observe)])


def _result(vector: Vector) -> str:
    asked = vector.content.get("intent")
    if asked is None:
        asked = {"version": 1, "constraints": vector.content["constraints"]}
    try:
        constraints = intent.read_intent(asked).constraints
    except intent.IntentError:
        return _REJECT
    if "capabilities" not in vector.content:
        return _SERVED
    advertised = capabilities.read_capabilities(vector.content["capabilities"])
    if capabilities.unenforceable(advertised, constraints):
        return _ANSWERS[advertised.on_unenforceable]
    return _SERVED
