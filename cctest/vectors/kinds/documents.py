"""Kind `document`: is it valid, and where not? The hand-written reader and the JSON schema must agree."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from cctest.contract import documents, strict_json
from cctest.contract.source import Fault, JsonValue, SourceError
from cctest.contract.vocabulary import Kind
from cctest.datafile import contract_schemas
from cctest.vectors.expectation import Expectation, Observation, compare, decide, is_choice
from cctest.vectors.model import Vector, VectorResult

_VALID: Final = "valid"
_INVALID: Final = "invalid"


@dataclass(frozen=True, slots=True)
class _Faults:
    """What each of the two found; text that is no JSON never gets as far, and counts for both."""

    reader: tuple[Fault, ...]
    schema: tuple[Fault, ...]


def run(vector: Vector) -> VectorResult:
    """Check whether the document is valid and, where the vector says so, at which pointer it isn't."""
    expected: Any = vector.content["expected"]
    examined = cache(lambda: _examine(vector))
    wanted = expected
    if not is_choice(expected):
        wanted = _VALID if expected["valid"] else _INVALID
    expectations = [Expectation("valid", wanted, lambda: _valid(examined(), wanted))]
    if "pointer" in expected:
        pointer = expected["pointer"]
        expectations.append(Expectation("pointer", pointer, lambda: _pointer(examined(), pointer)))
    return decide(vector, expectations)


def _examine(vector: Vector) -> _Faults:
    try:
        value = _document(vector.content)
    except SourceError as error:
        return _Faults((error.fault,), (error.fault,))
    kind = Kind(vector.content["of"])
    return _Faults(
        documents.core_faults(value, kind),
        documents.schema_faults(value, kind, contract_schemas()),
    )


def _document(content: Mapping[str, Any]) -> JsonValue:
    if "value" in content:
        value: JsonValue = content["value"]
        return value
    raw = content["raw"].encode() if "raw" in content else base64.b64decode(content["raw_base64"])
    return strict_json.parse(raw).value


def _valid(faults: _Faults, wanted: Any) -> Observation:
    reader, schema = _verdict(faults.reader), _verdict(faults.schema)
    if reader != schema:
        found = faults.reader or faults.schema
        told = f"the hand-written reader says {reader}, the JSON schema says {schema} ({found[0]})"
        return Observation(holds=False, seen={"reader": reader, "schema": schema}, message=told)
    compared = compare("the document", wanted, reader)
    return compared if compared.holds or not faults.reader else _with_fault(compared, faults.reader[0])


def _with_fault(compared: Observation, fault: Fault) -> Observation:
    return Observation(compared.holds, compared.seen, f"{compared.message}: {fault}", compared.taken)


def _pointer(faults: _Faults, wanted: str) -> Observation:
    found = {
        "the hand-written reader": [fault.pointer for fault in faults.reader],
        "the JSON schema": [fault.pointer for fault in faults.schema],
    }
    missed = [
        f"{who} finds fault at {', '.join(at) or 'nothing'}" for who, at in found.items() if wanted not in at
    ]
    message = "; ".join(missed) or "both find fault there"
    seen: list[JsonValue] = [*dict.fromkeys(pointer for at in found.values() for pointer in at)]
    return Observation(not missed, seen, message)


def _verdict(faults: Sequence[Fault]) -> str:
    return _INVALID if faults else _VALID
