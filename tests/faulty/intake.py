"""Faults of intake: intents that mustn't be taken at their word, and are."""

import json
from typing import Any

from cctest.contract.intent import CacheIntent, Constraints, IntentError, Retention
from cctest.contract.vocabulary import RetentionMode, Reuse, Scope
from reference_gateway.refusal import RefusalError

from . import edits, seams
from .model import Word, fault

_CONSTRAINTS = frozenset({"retention", "reuse", "share_max", "namespace"})
_MEMBERS = frozenset({"version", "id", "constraints", "hints"})


@fault(
    rules=("INT-7", "INT-2", "INT-1"),
    checks=("unknown-constraint#refused-or-fallback", "unknown-constraint#nothing-retained"),
)
def unknown_constraint_ignored() -> None:
    """A constraint that isn't known is dropped, and the rest is served."""
    edits.edit_constraints_json(
        lambda stated: {name: value for name, value in stated.items() if name in _CONSTRAINTS}
    )


@fault(rules=("INT-8",), checks=("missing-constraint#refused-or-fallback",))
def missing_constraint_defaulted() -> None:
    """Where reuse isn't stated it is taken to be exact."""
    edits.edit_constraints_json(lambda stated: {"reuse": "exact", **stated})


@fault(rules=("INT-9",), checks=("unknown-member#refused-or-fallback",))
def unknown_member_ignored() -> None:
    """A member that isn't known beside the constraints is dropped."""
    edits.edit_intent_json(lambda intent: {name: value for name, value in intent.items() if name in _MEMBERS})


@fault(
    rules=("INT-10",),
    checks=(
        "duplicate-member#refused-or-fallback",
        "duplicate-member-escaped#refused-or-fallback",
        "duplicate-intent#refused-or-fallback",
    ),
)
def last_duplicate_wins() -> None:
    """The JSON library keeps the last of several members of one name."""
    seams.PARSE.wrap(lambda original: lambda body: _lenient(body) or original(body))


def _lenient(body: bytes) -> Any:
    """What the language's own reader makes of a body; None where it makes nothing of it."""
    try:
        return json.loads(body)
    except ValueError:
        return None


@fault(rules=("INT-10",), checks=("duplicate-member-escaped#refused-or-fallback",))
def duplicates_sought_in_the_raw_text() -> None:
    """Duplicates are found by their spelling, so that an escaped one isn't."""
    seams.PARSE.wrap(
        lambda original: lambda body: json.loads(body) if b"share\\u005fmax" in body else original(body)
    )


@fault(rules=("INT-10",), checks=("duplicate-intent#refused-or-fallback",))
def last_intent_of_a_fragment_wins() -> None:
    """Two intents on one fragment are one too many, and the second is taken."""

    def make(original: Any) -> Any:
        def parse(body: bytes) -> Any:
            try:
                return original(body)
            except RefusalError as error:
                if not (error.param or "").endswith("/cache_intent"):
                    raise
                return json.loads(body)

        return parse

    seams.PARSE.wrap(make)


@fault(rules=("INT-4", "INT-12"), checks=("unsupported-version#refused-or-fallback",))
def later_version_served_as_the_first() -> None:
    """A version that isn't defined yet is read as version 1."""
    edits.edit_intent_json(
        lambda intent: {**intent, "version": 1} if type(intent.get("version")) is int else intent
    )


@fault(rules=("INT-5",), checks=("id-too-long#refused-or-fallback",))
def long_id_cut() -> None:
    """An id that is too long is cut."""
    edits.edit_intent_json(
        lambda intent: {**intent, "id": intent["id"][:256]} if isinstance(intent.get("id"), str) else intent
    )


@fault(rules=("INT-5",), checks=("id-empty#refused-or-fallback",))
def empty_id_taken_for_none() -> None:
    """An empty id is taken for an absent one."""
    edits.edit_intent_json(
        lambda intent: {name: value for name, value in intent.items() if (name, value) != ("id", "")}
    )


@fault(rules=("INT-6",), checks=("namespace-too-long#refused-or-fallback",))
def long_namespace_cut() -> None:
    """A namespace that is too long is cut."""
    edits.edit_constraints_json(
        lambda stated: (
            {**stated, "namespace": stated["namespace"][:256]}
            if isinstance(stated.get("namespace"), str)
            else stated
        )
    )


@fault(rules=("INT-6",), checks=("namespace-empty#refused-or-fallback",))
def empty_namespace_taken_for_none() -> None:
    """An empty namespace is taken for an absent one."""
    edits.edit_constraints_json(
        lambda stated: {name: value for name, value in stated.items() if (name, value) != ("namespace", "")}
    )


@fault(rules=("INT-12", "RET-1"), checks=("max-age-with-forbid#refused-or-fallback",))
def bound_beats_forbid() -> None:
    """A bound beside a prohibition is taken to mean retention within the bound."""

    def allowed(stated: dict[str, Any]) -> dict[str, Any]:
        retention = stated.get("retention")
        if not isinstance(retention, dict) or not {*retention} >= {"mode", "max_age"}:
            return stated
        return {**stated, "retention": {**retention, "mode": "allow"}}

    edits.edit_constraints_json(allowed)


@fault(rules=("INT-12",), checks=("negative-max-age#refused-or-fallback",))
def negative_bound_taken_for_none() -> None:
    """A negative bound is taken for none."""

    def unbounded(stated: dict[str, Any]) -> dict[str, Any]:
        retention = stated.get("retention")
        negative = isinstance(retention, dict) and retention.get("max_age") == -1
        return {**stated, "retention": {"mode": "allow"}} if negative else stated

    edits.edit_constraints_json(unbounded)


@fault(rules=("INT-12", "SHR-3"), checks=("unknown-scope#refused-or-fallback",))
def unknown_scope_taken_for_the_widest() -> None:
    """A scope that isn't known is taken for public."""
    edits.edit_constraints_json(
        lambda stated: stated if stated.get("share_max") in [*Scope] else {**stated, "share_max": "public"}
    )


@fault(rules=("INT-12",), checks=("scope-spelling#refused-or-fallback",))
def words_read_in_any_case() -> None:
    """The words of the vocabularies are read without regard to case."""
    edits.edit_constraints_json(
        lambda stated: {
            name: value.lower() if isinstance(value, str) and name != "namespace" else value
            for name, value in stated.items()
        }
    )


@fault(rules=("INT-12", "INT-4"), checks=("version-as-text#refused-or-fallback",))
def version_read_from_text() -> None:
    """A version that is a string is read as the number in it."""
    edits.edit_intent_json(
        lambda intent: {**intent, "version": 1} if intent.get("version") == "1" else intent
    )


@fault(rules=("INT-12", "INT-4"), checks=("document-version-true#refused-or-fallback",))
def true_taken_for_one() -> None:
    """True is a number to the language, so that it is version 1."""
    edits.edit_intent_json(
        lambda intent: {**intent, "version": 1} if intent.get("version") is True else intent
    )


@fault(
    rules=("INT-1", "INT-2", *(f"INT-{number}" for number in (4, 5, 6, 7, 8, 9, 12)), "SHR-3"),
    checks=("unknown-constraint#nothing-retained", "missing-constraint#nothing-retained"),
    status=Word.SILENT,
    public="D31",
)
def invalid_intent_dropped() -> None:
    """An intent that is invalid is dropped, and the request served as if there had been none."""

    def make(original: Any) -> Any:
        def read(value: Any, pointer: str) -> CacheIntent | None:
            try:
                intent: CacheIntent = original(value, pointer)
            except IntentError:
                return None
            return intent

        return read

    seams.READ_INTENT.wrap(make)


@fault(
    rules=("INT-2", *(f"INT-{number}" for number in (4, 5, 6, 7, 8, 9, 12)), "SHR-3"),
    checks=("unknown-constraint#nothing-retained", "missing-constraint#nothing-retained"),
    status=Word.LIES,
)
def fallback_retains_what_it_computed() -> None:
    """A request with an invalid intent is said to be served by fallback, and its state is retained."""
    served = CacheIntent(
        1,
        Constraints(Retention(RetentionMode.ALLOW), Reuse.EXACT, Scope.TENANT),
        hints={"invalid": True},
    )

    def make(original: Any) -> Any:
        def read(value: Any, pointer: str) -> CacheIntent:
            try:
                intent: CacheIntent = original(value, pointer)
            except IntentError:
                return served
            return intent

        return read

    seams.READ_INTENT.wrap(make)
    edits.edit_status(
        lambda entries, plan: [
            {**entry, "outcome": "bypass", "retention": "declined", "effective_share": "request"}
            if any(planned.fragment.intent is served for planned in plan.fragments)
            else entry
            for entry in entries
        ]
    )


@fault(rules=("BND-3", "BND-1", "INT-1"), checks=("part-intent#refused",), status=Word.SILENT)
def intent_on_a_part_ignored() -> None:
    """An intent on a content part is dropped."""
    seams.MISPLACED.wrap(lambda _: lambda value, pointer, place: None)
