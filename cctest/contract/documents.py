"""Stand-alone documents of the three kinds: each object in the wrapper that is named after it."""

from typing import Final

from cctest.contract.capabilities import read_capabilities
from cctest.contract.document_order import in_document_order
from cctest.contract.intent import read_intent
from cctest.contract.schema import SchemaSet
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


def schema_faults(value: JsonValue, kind: Kind, schemas: SchemaSet) -> tuple[Fault, ...]:
    """Validate a document against the schema of its kind; faults come in document order, without rules."""
    return schemas.faults(value, f"urn:cctest:schema:{kind}")


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


def check_document(value: JsonValue, kind: Kind, schemas: SchemaSet) -> tuple[Fault, ...]:
    """Validate a document both ways. Where both find fault with a member, the readers' words are kept."""
    found = core_faults(value, kind)
    known = {fault.pointer for fault in found}
    more = [fault for fault in schema_faults(value, kind, schemas) if fault.pointer not in known]
    return in_document_order(value, (*found, *more))


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
