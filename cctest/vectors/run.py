"""Run vectors against the core."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from cctest.vectors.kinds import composition, digest, documents, hints, state
from cctest.vectors.model import Vector, VectorKind, VectorResult
from cctest.verdict import Check, Reading

_RUNNERS: Final[Mapping[VectorKind, Callable[[Vector], VectorResult]]] = {
    VectorKind.COMPOSITION: composition.run,
    VectorKind.IDENTITY: digest.run_identity,
    VectorKind.DIGEST: digest.run_digest,
    VectorKind.FAIL_CLOSED: hints.run_fail_closed,
    VectorKind.HINT_TOLERANCE: hints.run_hint_tolerance,
    VectorKind.DOCUMENT: documents.run,
    VectorKind.ELIGIBILITY: state.run_eligibility,
    VectorKind.ADMISSION: state.run_admission,
}


def run_vector(vector: Vector) -> VectorResult:
    """Run one vector. An exception inside the core becomes an error of the check that met it."""
    return _RUNNERS[vector.kind](vector)


def run_vectors(vectors: Iterable[Vector]) -> tuple[tuple[Check, ...], tuple[Reading, ...], int]:
    """Run vectors in order.

    Returns all checks, the readings that the core was seen to take, and how many members of expected policies
    were not asserted.
    """
    results = [run_vector(vector) for vector in vectors]
    return (
        tuple(check for result in results for check in result.checks),
        tuple(reading for result in results for reading in result.readings),
        sum(result.unasserted for result in results),
    )
