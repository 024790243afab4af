"""Kinds `hint_tolerance` and `fail_closed`: what may be passed over, and what must not (INT-*, HNT-*)."""

from functools import partial
from typing import Any, Final

from cctest.contract.source import JsonValue
from cctest.vectors.expectation import Expectation, Observation, compare, decide, once
from cctest.vectors.implementation import Implementation, Intent, Refused, json_text
from cctest.vectors.model import Vector, VectorResult

_UNCHANGED: Final = "constraints_unchanged"
_REFUSED: Final = "invalid"


def run_hint_tolerance(vector: Vector, implementation: Implementation) -> VectorResult:
    """Check that the hints leave the policy alone, and what is said about each of them."""
    expected: dict[str, JsonValue] = vector.content["expected"]
    alone = json_text({"version": 1, "constraints": vector.content["constraints"]})
    hints: str = vector.content.get("hints_text") or json_text(vector.content["hints"])
    hinting = f'{alone.removesuffix("}")},"hints":{hints}}}'
    advertised: int | None = vector.content.get("reuse_within_max")
    reports = once(lambda: implementation.hints(hinting, advertised))

    def unchanged() -> Observation:
        try:
            with_hints = implementation.compose([hinting])
        except Refused:
            same = True  # An intent that is refused for its hints (READ-26) weakens nothing either.
        else:
            same = with_hints == implementation.compose([alone])
        return compare("whether the constraints are unchanged", expected[_UNCHANGED], same)

    def report(name: str) -> Observation:
        try:
            # READ-20: a hint that isn't advertised may be left out of the report.
            said = reports().get(name, "ignored")
        except Refused:
            said = _REFUSED
        return compare(f"the hint `{name}`", expected[name], said)

    return decide(
        vector,
        [
            Expectation(name, wanted, unchanged if name == _UNCHANGED else partial(report, name))
            for name, wanted in expected.items()
        ],
    )


def run_fail_closed(vector: Vector, implementation: Implementation) -> VectorResult:
    """Check what becomes of an intent that is at fault, or beyond what is advertised."""
    wanted: dict[str, Any] = vector.content["expected"]
    results: list[JsonValue] | None = wanted.get("result")

    def observe() -> Observation:
        seen = _result(vector, implementation)
        if results is None:
            return compare("the result", wanted, seen)
        holds = seen in results
        verb = "is" if holds else f"should be {' or '.join(map(str, results))} and is"
        return Observation(holds, seen, f"the result {verb} {seen}")

    return decide(vector, [Expectation("result", wanted if results is None else results, observe)])


def _result(vector: Vector, implementation: Implementation) -> str:
    asked: Intent | None = vector.content.get("intent_text") or vector.content.get("intent")
    if asked is None:
        asked = {"version": 1, "constraints": vector.content["constraints"]}
    return implementation.intake(asked, vector.content.get("capabilities"))
