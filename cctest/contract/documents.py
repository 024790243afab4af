"""Stand-alone documents of the three kinds: each object in the wrapper that is named after it."""

from collections.abc import Iterable, Mapping
from typing import Final

from cctest.contract.capabilities import read_capabilities
from cctest.contract.document_order import in_document_order
from cctest.contract.intent import CacheIntent, read_intent
from cctest.contract.schema import compiled
from cctest.contract.shape import Inspection, ObjectShape
from cctest.contract.source import DocumentError, Fault, JsonValue, child
from cctest.contract.status import read_status
from cctest.contract.vocabulary import Kind

_RULES: Final = {
    Kind.CACHE_INTENT: ("INT-9",),
    Kind.CACHE_INTENT_CAPABILITIES: ("CAP-7",),
    Kind.CACHE_STATUS: ("STA-12",),
}
_READERS: Final = {
    Kind.CACHE_INTENT: read_intent,
    Kind.CACHE_INTENT_CAPABILITIES: read_capabilities,
    Kind.CACHE_STATUS: read_status,
}


def detect(value: JsonValue) -> Kind | None:
    """Tell the kind of a document by its wrapper member; None if it has none of the three, or several."""
    if not isinstance(value, dict):
        return None
    found = [kind for kind in Kind if kind in value]
    return found[0] if len(found) == 1 else None


def schema_faults(value: JsonValue, kind: Kind, schemas: Mapping[str, JsonValue]) -> tuple[Fault, ...]:
    """Validate a document against the schema of its kind; faults come in document order, without rules.

    `schemas` maps any names to the parsed schemas. It is compiled once and must not be changed afterwards.
    """
    return compiled(schemas).faults(value, f"urn:cctest:schema:{kind}")


def core_faults(value: JsonValue, kind: Kind) -> tuple[Fault, ...]:
    """Validate a document with the readers of this package; faults come in document order, with rules."""
    inspection = Inspection()
    members = inspection.members(value, "", _wrapper(kind))
    if kind in members:
        try:
            _READERS[kind](members[kind], child("", kind))
        except DocumentError as error:
            inspection.faults.extend(error.faults)
    return in_document_order(value, inspection.faults)


def check_document(value: JsonValue, kind: Kind, schemas: Mapping[str, JsonValue]) -> tuple[Fault, ...]:
    """Validate a document both ways. Where both find fault with a member, the readers' words are kept."""
    found = core_faults(value, kind)
    known = {fault.pointer for fault in found}
    more = [fault for fault in schema_faults(value, kind, schemas) if fault.pointer not in known]
    return in_document_order(value, (*found, *more))


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


def _wrapper(kind: Kind) -> ObjectShape:
    rules = _RULES[kind]
    # A chat response is a document that holds cache_status beside its own members.
    closed = kind is not Kind.CACHE_STATUS
    return ObjectShape(
        "the document",
        required=(kind,),
        unknown=rules,
        missing=rules,
        wrong_type=rules,
        closed=closed,
    )
