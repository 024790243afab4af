"""`cache_status`: what happened to each governed fragment (section 2.3, STA-1..12)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from cctest.contract.shape import Inspection, ObjectShape, shown
from cctest.contract.source import DocumentError, JsonValue, child
from cctest.contract.vocabulary import HintReport, Outcome, RetentionReport, Scope

SATISFIED: Final = "satisfied"
"""The only value of `constraint_result` (STA-8)."""

_SHAPE: Final = ("STA-12",)
_RESULT: Final = ("STA-8", "STA-12")
_ENTRY: Final = ObjectShape(
    "a cache_status entry",
    required=("outcome", "constraint_result"),
    optional=("id", "effective_share", "retention", "hints"),
    unknown=_SHAPE,
    missing=_SHAPE,
    missing_member={"constraint_result": _RESULT},
    wrong_type=_SHAPE,
)
_HINTS: Final = ObjectShape("hints", closed=False, wrong_type=_SHAPE)


@dataclass(frozen=True, slots=True)
class StatusEntry:
    """What happened to one fragment. `effective_share` is the boundary actually used (STA-7)."""

    outcome: Outcome
    id: str | None = None
    effective_share: Scope | None = None
    retention: RetentionReport | None = None
    hints: Mapping[str, HintReport] | None = field(default=None, hash=False)


def read_status(value: JsonValue, pointer: str = "") -> tuple[StatusEntry, ...]:
    """Read the array; `pointer` says where in the document it stands.

    Raises DocumentError with every fault (STA-8, STA-12).
    """
    inspection = Inspection()
    entries: list[StatusEntry] = []
    if isinstance(value, list):
        for index, item in enumerate(value):
            entry = _entry(inspection, item, child(pointer, index))
            if entry is not None:
                entries.append(entry)
    else:
        inspection.fault(pointer, f"cache_status must be an array, not {shown(value)}", _SHAPE)
    if inspection.faults:
        raise DocumentError(tuple(inspection.faults))
    return tuple(entries)


def to_json(entries: Iterable[StatusEntry]) -> list[JsonValue]:
    """Spell the array, absent members left out."""
    return [_spelt(entry) for entry in entries]


def _spelt(entry: StatusEntry) -> dict[str, JsonValue]:
    spelt: dict[str, JsonValue] = {}
    if entry.id is not None:
        spelt["id"] = entry.id
    spelt["outcome"] = str(entry.outcome)
    if entry.effective_share is not None:
        spelt["effective_share"] = str(entry.effective_share)
    if entry.retention is not None:
        spelt["retention"] = str(entry.retention)
    if entry.hints is not None:
        spelt["hints"] = {name: str(report) for name, report in entry.hints.items()}
    spelt["constraint_result"] = SATISFIED
    return spelt


def _entry(inspection: Inspection, value: JsonValue, pointer: str) -> StatusEntry | None:
    members = inspection.members(value, pointer, _ENTRY)
    result = members.get("constraint_result", SATISFIED)
    if result != SATISFIED:
        place = child(pointer, "constraint_result")
        inspection.fault(place, f"must be {SATISFIED}, not {shown(result)}", _RESULT)
    outcome = label = share = retention = None
    if "outcome" in members:
        outcome = inspection.word(members["outcome"], child(pointer, "outcome"), Outcome, _SHAPE)
    if "id" in members:
        label = inspection.text(members["id"], child(pointer, "id"), _SHAPE)
    if "effective_share" in members:
        place = child(pointer, "effective_share")
        share = inspection.word(members["effective_share"], place, Scope, _SHAPE)
    if "retention" in members:
        place = child(pointer, "retention")
        retention = inspection.word(members["retention"], place, RetentionReport, _SHAPE)
    hints = _hints(inspection, members, pointer)
    return None if outcome is None else StatusEntry(outcome, label, share, retention, hints)


def _hints(
    inspection: Inspection, members: Mapping[str, JsonValue], pointer: str
) -> dict[str, HintReport] | None:
    if "hints" not in members:
        return None
    place = child(pointer, "hints")
    hints = inspection.members(members["hints"], place, _HINTS)
    reports: dict[str, HintReport] = {}
    for name, value in hints.items():
        report = inspection.word(value, child(place, name), HintReport, _SHAPE)
        if report is not None:
            reports[name] = report
    return reports
