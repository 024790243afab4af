"""`cache_intent`: what an application asks for one fragment (section 2.1 of the contract)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from cctest.contract.shape import Inspection, ObjectShape, is_label
from cctest.contract.source import DocumentError, Fault, JsonValue, child
from cctest.contract.vocabulary import SUPPORTED_VERSIONS, ErrorCode, RetentionMode, Reuse, Scope

_INVALID: Final = ("INT-12",)
_INTENT: Final = ObjectShape(
    "cache_intent",
    required=("version", "constraints"),
    optional=("id", "hints"),
    unknown=("INT-9",),
    missing=_INVALID,
    missing_member={"constraints": ("INT-8",)},
    wrong_type=_INVALID,
)
_CONSTRAINTS: Final = ObjectShape(
    "constraints",
    required=("retention", "reuse", "share_max"),
    optional=("namespace",),
    unknown=("INT-7",),
    missing=("INT-8",),
    wrong_type=_INVALID,
)
_RETENTION: Final = ObjectShape(
    "retention",
    required=("mode",),
    optional=("max_age",),
    unknown=("INT-7",),
    missing=("INT-8",),
    wrong_type=_INVALID,
)
_HINTS: Final = ObjectShape("hints", closed=False, wrong_type=_INVALID)
_KEPT: Final = 1024
"""Most constraints kept ready, each with a namespace of 256 characters at most."""


@dataclass(frozen=True, slots=True)
class Retention:
    """Whether state may outlive the request, and for how long it may be reused.

    `max_age` is in seconds (RET-3), None for no bound; it goes only with `allow` (INT-12).
    """

    mode: RetentionMode
    max_age: int | None = None


@dataclass(frozen=True, slots=True)
class Constraints:
    """What must never be weakened (INT-1)."""

    retention: Retention
    reuse: Reuse
    share_max: Scope
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class CacheIntent:
    """One intent. `id` is a label and no part of cache identity (INT-13); hints are kept as they came."""

    version: int
    constraints: Constraints
    id: str | None = None
    hints: Mapping[str, JsonValue] = field(default_factory=dict, hash=False)


class IntentError(DocumentError):
    """An intent that must be rejected or served by fallback, and the code of the rejection (BND-9)."""

    def __init__(self, faults: tuple[Fault, ...], code: ErrorCode = ErrorCode.INVALID) -> None:
        super().__init__(faults)
        self.code = code


def read_intent(value: JsonValue, pointer: str = "") -> CacheIntent:
    """Read the object that rides on a fragment; `pointer` says where in the document it stands.

    Integral floats are read as integers (READ-11). A malformed known hint is kept and ignored like any
    other (READ-26), but `hints` itself must be an object.

    Raises IntentError with every fault. Its code is `cache_intent_unsupported_version` whenever the version
    is a positive integer that this core doesn't know (INT-4, READ-6), whatever else is wrong.
    """
    plain = _plain_intent(value)
    if plain is not None:
        return plain
    inspection = Inspection()
    members = inspection.members(value, pointer, _INTENT)
    version = _version(inspection, members, pointer)
    constraints = None
    if "constraints" in members:
        constraints = _constraints(inspection, members["constraints"], child(pointer, "constraints"))
    label = None
    if "id" in members:
        label = inspection.label(members["id"], child(pointer, "id"), ("INT-5",), _INVALID)
    hints = inspection.members(members.get("hints", {}), child(pointer, "hints"), _HINTS)
    if inspection.faults or version is None or constraints is None:
        raise IntentError(tuple(inspection.faults), _code(version))
    return CacheIntent(version, constraints, label, hints)


def read_constraints(value: JsonValue, pointer: str = "") -> Constraints:
    """Read a `constraints` object by itself. Raises IntentError with every fault."""
    inspection = Inspection()
    constraints = _constraints(inspection, value, pointer)
    if constraints is None:
        raise IntentError(tuple(inspection.faults))
    return constraints


def duplicate_ids(intents: Iterable[CacheIntent | None]) -> list[tuple[int, int, str]]:
    """Report ids that one request uses twice: index of the first use, of the later use, and the id.

    Uniqueness binds the application; what a receiver does about it is its own choice (READ-2). None stands
    for a fragment without an intent.
    """
    first: dict[str, int] = {}
    repeated: list[tuple[int, int, str]] = []
    for index, intent in enumerate(intents):
        if intent is None or intent.id is None:
            continue
        earlier = first.setdefault(intent.id, index)
        if earlier != index:
            repeated.append((earlier, index, intent.id))
    return repeated


def retention_to_json(retention: Retention) -> dict[str, JsonValue]:
    """Spell a retention as a JSON object, an absent `max_age` left out."""
    spelt: dict[str, JsonValue] = {"mode": str(retention.mode)}
    if retention.max_age is not None:
        spelt["max_age"] = retention.max_age
    return spelt


def _plain_intent(value: JsonValue) -> CacheIntent | None:
    """Read an intent that is plainly right, quickly; None for any that has to be looked at closely."""
    if not isinstance(value, dict):
        return None
    version, label, hints = value.get("version"), value.get("id"), value.get("hints")
    if type(version) is not int or version not in SUPPORTED_VERSIONS:
        return None
    if len(value) != 2 + (label is not None) + (hints is not None):
        return None
    constraints = _plain_constraints(value.get("constraints"))
    if constraints is None or not (label is None or is_label(label)):
        return None
    if hints is None:
        return CacheIntent(version, constraints, label)
    return CacheIntent(version, constraints, label, hints) if isinstance(hints, dict) else None


def _plain_constraints(value: JsonValue) -> Constraints | None:
    retention = value.get("retention") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(retention, dict):
        return None
    max_age, namespace = retention.get("max_age"), value.get("namespace")
    if len(value) != 3 + (namespace is not None) or len(retention) != 1 + (max_age is not None):
        return None
    if not (max_age is None or type(max_age) is int) or not (namespace is None or is_label(namespace)):
        return None
    mode, reuse, share_max = retention.get("mode"), value.get("reuse"), value.get("share_max")
    if not (isinstance(mode, str) and isinstance(reuse, str) and isinstance(share_max, str)):
        return None
    try:
        return _constraints_of(mode, max_age, reuse, share_max, namespace)
    except ValueError:
        return None


@lru_cache(maxsize=_KEPT)
def _constraints_of(
    mode: str, max_age: int | None, reuse: str, share_max: str, namespace: str | None
) -> Constraints:
    """Make constraints of plain values. Raises ValueError for values that aren't right."""
    if max_age is not None and (max_age < 0 or mode != RetentionMode.ALLOW):
        raise ValueError("no bound")
    return Constraints(Retention(RetentionMode(mode), max_age), Reuse(reuse), Scope(share_max), namespace)


def _version(inspection: Inspection, members: Mapping[str, JsonValue], pointer: str) -> int | None:
    if "version" not in members:
        return None
    place = child(pointer, "version")
    version = inspection.integer(members["version"], place, 1, _INVALID)
    if version is not None and version not in SUPPORTED_VERSIONS:
        known = ", ".join(str(supported) for supported in SUPPORTED_VERSIONS)
        inspection.fault(place, f"unsupported version; supported: {known}", ("INT-4",))
    return version


def _code(version: int | None) -> ErrorCode:
    if version is None or version in SUPPORTED_VERSIONS:
        return ErrorCode.INVALID
    return ErrorCode.UNSUPPORTED_VERSION


def _constraints(inspection: Inspection, value: JsonValue, pointer: str) -> Constraints | None:
    before = len(inspection.faults)
    members = inspection.members(value, pointer, _CONSTRAINTS)
    retention = reuse = share_max = namespace = None
    if "retention" in members:
        retention = _retention(inspection, members["retention"], child(pointer, "retention"))
    if "reuse" in members:
        reuse = inspection.word(members["reuse"], child(pointer, "reuse"), Reuse, _INVALID)
    if "share_max" in members:
        share_max = inspection.word(members["share_max"], child(pointer, "share_max"), Scope, _INVALID)
    if "namespace" in members:
        place = child(pointer, "namespace")
        namespace = inspection.label(members["namespace"], place, ("INT-6",), _INVALID)
    if len(inspection.faults) > before or retention is None or reuse is None or share_max is None:
        return None
    return Constraints(retention, reuse, share_max, namespace)


def _retention(inspection: Inspection, value: JsonValue, pointer: str) -> Retention | None:
    members = inspection.members(value, pointer, _RETENTION)
    mode = max_age = None
    if "mode" in members:
        mode = inspection.word(members["mode"], child(pointer, "mode"), RetentionMode, _INVALID)
    if "max_age" in members:
        place = child(pointer, "max_age")
        if mode is RetentionMode.FORBID:
            inspection.fault(place, "must not stand beside mode forbid: nothing is retained", _INVALID)
        else:
            max_age = inspection.integer(members["max_age"], place, 0, _INVALID)
    return None if mode is None else Retention(mode, max_age)
