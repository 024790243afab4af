"""What a vector is, and what running it gives."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cctest.verdict import Check, Reading


class VectorKind(StrEnum):
    """The kinds of `schemas/vectors.schema.json`. The first five have the published shape."""

    COMPOSITION = "composition"
    IDENTITY = "identity"
    DIGEST = "digest"
    FAIL_CLOSED = "fail_closed"
    HINT_TOLERANCE = "hint_tolerance"
    DOCUMENT = "document"
    ELIGIBILITY = "eligibility"
    ADMISSION = "admission"


@dataclass(frozen=True, slots=True)
class Vector:
    """One vector.

    `content` is the whole object of the file, already checked against the schema of its kind. `where`
    names file, line and column. `rules` is empty for published vectors, which name none.
    """

    name: str
    kind: VectorKind
    rules: tuple[str, ...]
    title: str
    content: Mapping[str, Any]
    where: str


@dataclass(frozen=True, slots=True)
class VectorResult:
    """What came of one vector. `unasserted` counts members that its expected policies leave open."""

    checks: tuple[Check, ...]
    readings: tuple[Reading, ...] = ()
    unasserted: int = 0
