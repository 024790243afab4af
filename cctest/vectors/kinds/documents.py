"""Kind `document`: is it valid, and where not? Where there are several readers, they must agree."""

import base64
from collections.abc import Sequence
from typing import Any, Final

from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import Kind
from cctest.vectors.expectation import Expectation, Observation, compare, decide, is_choice, once
from cctest.vectors.implementation import Document, Implementation, NotOffered, Opinion
from cctest.vectors.model import Vector, VectorResult

_VALID: Final = "valid"
_INVALID: Final = "invalid"


def run(vector: Vector, implementation: Implementation) -> VectorResult:
    """Check whether the document is valid and, where the vector says so, at which pointer it isn't."""
    expected: Any = vector.content["expected"]
    opinions = once(lambda: implementation.validate(_document(vector)))
    wanted = expected
    if not is_choice(expected):
        wanted = _VALID if expected["valid"] else _INVALID
    expectations = [Expectation("valid", wanted, lambda: _valid(opinions(), wanted))]
    if "pointer" in expected:
        pointer = expected["pointer"]
        expectations.append(Expectation("pointer", pointer, lambda: _pointer(opinions(), pointer)))
    return decide(vector, expectations)


def _document(vector: Vector) -> Document:
    content, kind = vector.content, Kind(vector.content["of"])
    if "value" in content:
        return Document(kind, content["value"])
    raw = content["raw"].encode() if "raw" in content else base64.b64decode(content["raw_base64"])
    return Document(kind, raw=raw)


def _valid(opinions: Sequence[Opinion], wanted: Any) -> Observation:
    said = {opinion.who: _verdict(opinion) for opinion in opinions}
    reason = next((opinion.reason for opinion in opinions if opinion.reason), "")
    if len({*said.values()}) > 1:
        told = ", ".join(f"{who} says {verdict}" for who, verdict in said.items())
        return Observation(holds=False, seen={**said}, message=f"{told} ({reason})")
    compared = compare("the document", wanted, _verdict(opinions[0]))
    if compared.holds or not reason:
        return compared
    return Observation(compared.holds, compared.seen, f"{compared.message}: {reason}", compared.taken)


def _pointer(opinions: Sequence[Opinion], wanted: str) -> Observation:
    found: dict[str, tuple[str, ...]] = {}
    for opinion in opinions:
        if opinion.pointers is None:
            raise NotOffered(f"{opinion.who} doesn't say where a document is at fault")
        found[opinion.who] = opinion.pointers
    missed = [
        f"{who} finds fault at {', '.join(at) or 'nothing'}" for who, at in found.items() if wanted not in at
    ]
    message = "; ".join(missed) or "fault is found there"
    seen: list[JsonValue] = [*dict.fromkeys(pointer for at in found.values() for pointer in at)]
    return Observation(not missed, seen, message)


def _verdict(opinion: Opinion) -> str:
    return _VALID if opinion.valid else _INVALID
