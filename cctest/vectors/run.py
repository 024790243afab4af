"""Run vectors against an implementation, our own core unless another is given."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from cctest.vectors.core import Core
from cctest.vectors.implementation import Implementation
from cctest.vectors.kinds import composition, digest, documents, hints, state
from cctest.vectors.model import Vector, VectorKind, VectorResult
from cctest.verdict import Check, Reading, Result

_RUNNERS: Final[Mapping[VectorKind, Callable[[Vector, Implementation], VectorResult]]] = {
    VectorKind.COMPOSITION: composition.run,
    VectorKind.IDENTITY: digest.run_identity,
    VectorKind.DIGEST: digest.run_digest,
    VectorKind.FAIL_CLOSED: hints.run_fail_closed,
    VectorKind.HINT_TOLERANCE: hints.run_hint_tolerance,
    VectorKind.DOCUMENT: documents.run,
    VectorKind.ELIGIBILITY: state.run_eligibility,
    VectorKind.ADMISSION: state.run_admission,
}
_REPRODUCED: Final = (Result.FAIL, Result.ERROR)
CORE: Final = Core()


def run_vector(vector: Vector, implementation: Implementation = CORE) -> VectorResult:
    """Run one vector. An exception inside the implementation becomes an error of the check that met it.

    Checks that didn't come out well hold what was asked for this vector.
    """
    result = _RUNNERS[vector.kind](vector, implementation)
    asked = implementation.asked()
    if not asked:
        return result
    checks = [
        replace(check, reproduce=asked) if check.result in _REPRODUCED else check for check in result.checks
    ]
    return replace(result, checks=tuple(checks))


def run_vectors(
    vectors: Iterable[Vector], implementation: Implementation = CORE
) -> tuple[tuple[Check, ...], tuple[Reading, ...], int]:
    """Run vectors in order.

    Returns all checks, the readings that the implementation was seen to take, and how many members of
    expected policies were not asserted.
    """
    results = [run_vector(vector, implementation) for vector in vectors]
    return (
        tuple(check for result in results for check in result.checks),
        tuple(reading for result in results for reading in result.readings),
        sum(result.unasserted for result in results),
    )
