"""`cache_intent_capabilities`: what an implementation can enforce or observe (section 2.2, CAP-1..7)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cctest.contract.intent import Constraints
from cctest.contract.shape import Inspection, ObjectShape, Word, as_integer
from cctest.contract.source import DocumentError, JsonValue, child
from cctest.contract.vocabulary import OnUnenforceable, RetentionMode, Reuse, Scope

_SHAPE: Final = ("CAP-7",)
_ON_UNENFORCEABLE: Final = ("CAP-2", "CAP-7")
_CAPABILITIES: Final = ObjectShape(
    "cache_intent_capabilities",
    required=("versions", "constraints", "on_unenforceable"),
    optional=("status", "per_fragment_share", "hints"),
    unknown=_SHAPE,
    missing=_SHAPE,
    missing_member={"on_unenforceable": _ON_UNENFORCEABLE},
    wrong_type=_SHAPE,
)
_CONSTRAINTS: Final = ObjectShape(
    "constraints",
    optional=("retention_modes", "retention_max_age", "reuse", "share_max", "namespace"),
    unknown=_SHAPE,
    wrong_type=_SHAPE,
)
_HINTS: Final = ObjectShape("hints", closed=False, wrong_type=_SHAPE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What is advertised. Empty, False and None all come from absence, which means unsupported (CAP-3)."""

    versions: tuple[int, ...]
    retention_modes: tuple[RetentionMode, ...] = ()
    retention_max_age: bool = False
    reuse: tuple[Reuse, ...] = ()
    share_max: tuple[Scope, ...] = ()
    namespace: bool = False
    on_unenforceable: OnUnenforceable
    status: bool | None = None
    per_fragment_share: bool | None = None
    hints: Mapping[str, JsonValue] = field(default_factory=dict, hash=False)

    @property
    def reuse_within_max(self) -> int | None:
        """The advertised maximum of the hint `reuse_within` in seconds; None if it isn't advertised."""
        return as_integer(self.hints.get("reuse_within_max"))


def read_capabilities(value: JsonValue, pointer: str = "") -> Capabilities:
    """Read the object inside the wrapper; `pointer` says where in the document it stands.

    Raises DocumentError with every fault (CAP-2, CAP-7).
    """
    inspection = Inspection()
    members = inspection.members(value, pointer, _CAPABILITIES)
    versions = _versions(inspection, members, pointer)
    on_unenforceable = _on_unenforceable(inspection, members, pointer)
    status = _flag(inspection, members, pointer, "status")
    per_fragment_share = _flag(inspection, members, pointer, "per_fragment_share")
    hints = _hints(inspection, members, pointer)
    place = child(pointer, "constraints")
    constraints = inspection.members(members.get("constraints", {}), place, _CONSTRAINTS)
    retention_modes = _words(inspection, constraints, place, "retention_modes", RetentionMode)
    retention_max_age = _flag(inspection, constraints, place, "retention_max_age")
    reuse = _words(inspection, constraints, place, "reuse", Reuse)
    share_max = _words(inspection, constraints, place, "share_max", Scope)
    namespace = _flag(inspection, constraints, place, "namespace")
    if inspection.faults or on_unenforceable is None:
        raise DocumentError(tuple(inspection.faults))
    return Capabilities(
        versions=versions,
        retention_modes=retention_modes,
        retention_max_age=bool(retention_max_age),
        reuse=reuse,
        share_max=share_max,
        namespace=bool(namespace),
        on_unenforceable=on_unenforceable,
        status=status,
        per_fragment_share=per_fragment_share,
        hints=hints,
    )


def to_json(capabilities: Capabilities) -> dict[str, JsonValue]:
    """Spell the object inside the wrapper; what isn't supported is left out (CAP-3)."""
    arrays = {
        "retention_modes": capabilities.retention_modes,
        "reuse": capabilities.reuse,
        "share_max": capabilities.share_max,
    }
    constraints: dict[str, JsonValue] = {
        name: [str(word) for word in words] for name, words in arrays.items() if words
    }
    if capabilities.retention_max_age:
        constraints["retention_max_age"] = True
    if capabilities.namespace:
        constraints["namespace"] = True
    spelt: dict[str, JsonValue] = {
        "versions": list(capabilities.versions),
        "constraints": constraints,
        "on_unenforceable": str(capabilities.on_unenforceable),
    }
    if capabilities.status is not None:
        spelt["status"] = capabilities.status
    if capabilities.per_fragment_share is not None:
        spelt["per_fragment_share"] = capabilities.per_fragment_share
    if capabilities.hints:
        spelt["hints"] = dict(capabilities.hints)
    return spelt


def unenforceable(capabilities: Capabilities, constraints: Constraints) -> tuple[str, ...]:
    """Name what an implementation would have to advertise to serve these constraints, but doesn't.

    The answer holds JSON pointers into the capabilities object, none if all can be enforced. A value counts
    as enforceable if it or a stricter one is advertised, since a stricter policy is always permitted
    (INT-1; READ-7 and READ-27 in their first reading).
    """
    return tuple(f"/constraints/{name}" for name in _lacking(capabilities, constraints))


def _lacking(capabilities: Capabilities, constraints: Constraints) -> list[str]:
    retention = constraints.retention
    lacking: list[str] = []
    forbids = retention.mode is RetentionMode.FORBID
    if not capabilities.retention_modes or (
        forbids and RetentionMode.FORBID not in capabilities.retention_modes
    ):
        lacking.append("retention_modes")
    # Where nothing is ever retained, any bound on its age is kept.
    retains = RetentionMode.ALLOW in capabilities.retention_modes
    if retention.max_age is not None and retains and not capabilities.retention_max_age:
        lacking.append("retention_max_age")
    if not any(reuse.rank <= constraints.reuse.rank for reuse in capabilities.reuse):
        lacking.append("reuse")
    if not any(scope.rank <= constraints.share_max.rank for scope in capabilities.share_max):
        lacking.append("share_max")
    if constraints.namespace is not None and not capabilities.namespace:
        lacking.append("namespace")
    return lacking


def _versions(inspection: Inspection, members: Mapping[str, JsonValue], pointer: str) -> tuple[int, ...]:
    if "versions" not in members:
        return ()
    place = child(pointer, "versions")
    items = inspection.items(members["versions"], place, _SHAPE)
    versions = [inspection.integer(item, child(place, index), 1, _SHAPE) for index, item in enumerate(items)]
    inspection.distinct(versions, place, _SHAPE)
    return tuple(version for version in versions if version is not None)


def _on_unenforceable(
    inspection: Inspection, members: Mapping[str, JsonValue], pointer: str
) -> OnUnenforceable | None:
    if "on_unenforceable" not in members:
        return None
    place = child(pointer, "on_unenforceable")
    return inspection.word(members["on_unenforceable"], place, OnUnenforceable, _ON_UNENFORCEABLE)


def _hints(inspection: Inspection, members: Mapping[str, JsonValue], pointer: str) -> dict[str, JsonValue]:
    place = child(pointer, "hints")
    hints = inspection.members(members.get("hints", {}), place, _HINTS)
    if "reuse_within_max" in hints:
        inspection.integer(hints["reuse_within_max"], child(place, "reuse_within_max"), 0, _SHAPE)
    return hints


def _flag(inspection: Inspection, members: Mapping[str, JsonValue], pointer: str, name: str) -> bool | None:
    if name not in members:
        return None
    return inspection.flag(members[name], child(pointer, name), _SHAPE)


def _words(
    inspection: Inspection,
    members: Mapping[str, JsonValue],
    pointer: str,
    name: str,
    vocabulary: type[Word],
) -> tuple[Word, ...]:
    if name not in members:
        return ()
    place = child(pointer, name)
    items = inspection.items(members[name], place, _SHAPE)
    words = [
        inspection.word(item, child(place, index), vocabulary, _SHAPE) for index, item in enumerate(items)
    ]
    inspection.distinct(words, place, _SHAPE)
    return tuple(word for word in words if word is not None)
