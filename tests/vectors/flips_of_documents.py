"""Flips of intake: what is accepted as an intent, a capabilities object or a status (INT-4..12, CAP-3, STA-8)."""

from dataclasses import replace
from typing import Any

import pytest
from flip import Flip, flip

from cctest.contract import capabilities, documents, hints, intent, status
from cctest.contract.intent import Retention
from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import HintReport, Kind, OnUnenforceable


def _shape(module: Any, name: str, **changes: Any) -> Any:
    def apply(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(module, name, replace(getattr(module, name), **changes))

    return apply


def _max_age_beside_forbid(patch: pytest.MonkeyPatch) -> None:
    def retention(inspection: Any, value: Any, pointer: str) -> Retention | None:
        if isinstance(value, dict) and value.get("mode") == "forbid":
            value = {name: member for name, member in value.items() if name != "max_age"}
        return original(inspection, value, pointer)

    original = intent._retention
    patch.setattr(intent, "_retention", retention)


def _defaults(**members: JsonValue) -> Any:
    """Make the flip that fills in constraints that are missing."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        def constraints(inspection: Any, value: Any, pointer: str) -> Any:
            return original(inspection, {**members, **value} if isinstance(value, dict) else value, pointer)

        original = intent._constraints
        patch.setattr(intent, "_constraints", constraints)

    return apply


def _versions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(intent, "SUPPORTED_VERSIONS", (1, 2))


def _clipped_at_the_maximum(patch: pytest.MonkeyPatch) -> None:
    def report(given: Any, maximum: int | None) -> dict[str, HintReport]:
        reports = original(given, maximum)
        if given.get("reuse_within") == maximum and reports:
            return {"reuse_within": HintReport.CLIPPED}
        return reports

    original = hints.report_hints
    patch.setattr(hints, "report_hints", report)


def _maximum_of_zero_is_none(patch: pytest.MonkeyPatch) -> None:
    original = hints.report_hints
    patch.setattr(hints, "report_hints", lambda given, maximum: original(given, maximum or None))


def _hints_are_constraints(patch: pytest.MonkeyPatch) -> None:
    def read(value: Any, pointer: str = "") -> Any:
        words = {
            name: word for name, word in value.get("hints", {}).items() if name in ("share_max", "reuse")
        }
        return original(
            {**value, "constraints": {**value["constraints"], **words}} if words else value, pointer
        )

    original = intent.read_intent
    patch.setattr(intent, "read_intent", read)


def _everything_is_enforceable(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(capabilities, "unenforceable", lambda advertised, constraints: ())


def _wrapper_open(patch: pytest.MonkeyPatch) -> None:
    original = documents._wrapper
    patch.setattr(documents, "_wrapper", lambda kind: replace(original(kind), closed=False))


def _constraint_result_unchecked(patch: pytest.MonkeyPatch) -> None:
    def entry(inspection: Any, value: Any, pointer: str) -> Any:
        if isinstance(value, dict) and "constraint_result" in value:
            value = {**value, "constraint_result": status.SATISFIED}
        return original(inspection, value, pointer)

    original = status._entry
    patch.setattr(status, "_entry", entry)


def _reject_by_default(patch: pytest.MonkeyPatch) -> None:
    def read(value: Any, pointer: str = "") -> capabilities.Capabilities:
        stated = {"on_unenforceable": "reject", **value} if isinstance(value, dict) else value
        return original(stated, pointer)

    original = capabilities.read_capabilities
    readers = {**documents._READERS, Kind.CACHE_INTENT_CAPABILITIES: read}
    patch.setattr(documents, "_READERS", readers)


def _always_reject(patch: pytest.MonkeyPatch) -> None:
    def read(value: JsonValue, pointer: str = "") -> capabilities.Capabilities:
        return replace(original(value, pointer), on_unenforceable=OnUnenforceable.REJECT)

    original = capabilities.read_capabilities
    patch.setattr(capabilities, "read_capabilities", read)


def _never_clipped(patch: pytest.MonkeyPatch) -> None:
    original = hints.report_hints
    patch.setattr(
        hints,
        "report_hints",
        lambda given, maximum: dict.fromkeys(original(given, maximum), HintReport.ACCEPTED),
    )


FLIPS: tuple[Flip, ...] = (
    flip(
        "unknown-constraints-tolerated",
        _shape(intent, "_CONSTRAINTS", closed=False),
        "unknown-constraint-is-not-served",
        "unknown-constraint",
        "caller-cannot-name-a-tenant",
        "constraints-name-a-tenant",
    ),
    flip(
        "unknown-retention-members-tolerated",
        _shape(intent, "_RETENTION", closed=False),
        "retention-with-another-member",
        "unknown-retention-member-is-not-served",
    ),
    flip(
        "unknown-intent-members-tolerated",
        _shape(intent, "_INTENT", closed=False),
        "unknown-intent-member",
        "unknown-intent-member-is-not-served",
        "constraint-beside-the-constraints",
    ),
    flip(
        "open-wrapper",
        _wrapper_open,
        "wrapper-with-another-member",
        "capabilities-wrapper-with-another-member",
    ),
    flip(
        "unknown-hints-refused",
        _shape(intent, "_HINTS", closed=True, optional=("reuse_within",)),
        "unknown-hints-are-ignored",
        "hints-unknown",
    ),
    flip("unsupported-version-served", _versions, "version-two", "unsupported-version-is-not-served"),
    flip(
        "max-age-accepted-beside-forbid",
        _max_age_beside_forbid,
        "max-age-beside-forbid",
        "max-age-of-zero-beside-forbid",
        "max-age-beside-forbid-is-not-served",
    ),
    flip(
        "missing-share-max-is-public",
        _defaults(share_max="public"),
        "share-max-missing",
        "missing-share-max-is-not-served",
    ),
    flip("missing-reuse-is-exact", _defaults(reuse="exact"), "reuse-missing", "missing-reuse-is-not-served"),
    flip(
        "missing-retention-is-allowed",
        _defaults(retention={"mode": "allow"}),
        "retention-missing",
        "missing-retention-is-not-served",
    ),
    flip(
        "capabilities-constraints-open",
        _shape(capabilities, "_CONSTRAINTS", closed=False),
        "capabilities-with-an-unknown-constraint",
    ),
    flip(
        "everything-is-enforceable",
        _everything_is_enforceable,
        "max-age-that-cannot-be-bounded-where-all-is-kept-is-rejected",
        "forbid-that-cannot-be-kept-is-bypassed",
        "nothing-advertised-is-nothing-supported",
    ),
    flip("clipped-at-the-maximum", _clipped_at_the_maximum, "hint-at-its-maximum-is-not-clipped"),
    flip("maximum-of-zero-is-none", _maximum_of_zero_is_none, "maximum-of-zero-clips"),
    flip("hints-read-as-constraints", _hints_are_constraints, "hints-named-like-constraints-change-nothing"),
    flip(
        "constraint-result-unchecked",
        _constraint_result_unchecked,
        "entry-with-a-violated-constraint",
        "entry-with-constraint-result-true",
    ),
    flip(
        "constraint-result-optional",
        _shape(status, "_ENTRY", required=("outcome",), optional=("constraint_result", "id")),
        "entry-without-constraint-result",
    ),
    flip(
        "outcome-optional",
        _shape(status, "_ENTRY", required=(), optional=("outcome", "constraint_result", "id")),
        "entry-without-outcome",
    ),
    flip(
        "unknown-entry-members-tolerated",
        _shape(status, "_ENTRY", closed=False),
        "entry-with-an-unknown-member",
    ),
    flip("on-unenforceable-optional", _reject_by_default, "capabilities-without-on-unenforceable"),
    flip("on-unenforceable-disregarded", _always_reject, "max-age-that-cannot-be-bounded-is-bypassed"),
    flip(
        "never-clipped",
        _never_clipped,
        "hint-above-its-maximum-is-clipped",
        "hint-beyond-double-precision-is-clipped",
    ),
)
