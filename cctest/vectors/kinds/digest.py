"""Kinds `digest` and `identity`: the namespace digest and what it keeps apart (DIG-1..3, NS-1..3)."""

from typing import Any

from cctest.vectors.expectation import Expectation, Observation, compare, decide, word
from cctest.vectors.implementation import Implementation
from cctest.vectors.model import Vector, VectorResult


def run_digest(vector: Vector, implementation: Implementation) -> VectorResult:
    """Check each digest of the vector, for being the right one or for not being it."""
    match: bool = vector.content["expected"]["digests_match"]
    return decide(
        vector,
        [
            _digest_expectation(implementation, f"digest-{index}", case, match=match)
            for index, case in enumerate(vector.content["cases"])
        ],
    )


def _digest_expectation(implementation: Implementation, name: str, case: Any, *, match: bool) -> Expectation:
    def observe() -> Observation:
        seen = implementation.digest(case["namespaces"])
        subject = f"the digest of {word(case['namespaces'])}"
        if match:
            return compare(subject, case["digest"], seen)
        verb = "is the wrong value" if seen == case["digest"] else "is another value than the wrong one:"
        return Observation(seen != case["digest"], seen, f"{subject} {verb} {word(seen)}")

    return Expectation(name, case["digest"] if match else {"not": case["digest"]}, observe)


def run_identity(vector: Vector, implementation: Implementation) -> VectorResult:
    """Check whether the vector's two requests have the same cache identity.

    Identity is the model input together with the digest, if any; equal digests never make up for other input
    (NS-2).
    """
    expected = vector.content["expected"]["cache_match"]

    def observe() -> Observation:
        match = implementation.identical(
            _namespaces(vector, 1),
            _namespaces(vector, 2),
            same_input=vector.content["same_model_input"],
        )
        return compare("the match of the two requests", expected, match)

    return decide(vector, [Expectation("cache_match", expected, observe)])


def _namespaces(vector: Vector, request: int) -> list[str]:
    single = vector.content.get(f"request_{request}_namespace")
    if single is not None:
        return [single]
    several: list[str] = vector.content[f"request_{request}_namespaces"]
    return several
