"""Cases made of vectors: every invalid `cache_intent` document, sent for real.

A document that is broken as JSON would break the whole request, which is another matter (READ-23). One that
may be read either way proves nothing, and a null intent may be taken for none (READ-14). They are left out.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from cctest.contract.source import JsonValue
from cctest.probe.case import Case, Expectation, FragmentSpec, Role, Step
from cctest.vectors.model import Vector, VectorKind

GROUP: Final = "documents"
"""The group of these cases."""

_VALID: Final[JsonValue] = {
    "version": 1,
    "constraints": {"retention": {"mode": "allow"}, "reuse": "exact", "share_max": "tenant"},
}
_INNER: Final = re.compile(r'\{\s*"cache(?:_|\\u005f)intent"\s*:\s*(.*)\}\s*', re.DOTALL)


def document_cases(vectors: Iterable[Vector]) -> Iterator[Case]:
    """Yield a case for each vector that no implementation may take at its word."""
    for vector in vectors:
        intent = _invalid_intent(vector)
        if intent is not None:
            yield _case(vector, intent)


def _invalid_intent(vector: Vector) -> JsonValue:
    content = vector.content
    if vector.kind is not VectorKind.DOCUMENT or content["of"] != "cache_intent":
        return None
    expected = content["expected"]
    if expected.get("valid") is not False or not str(expected.get("pointer")).startswith("/cache_intent"):
        return None
    if "value" in content:
        value: JsonValue = content["value"]["cache_intent"]
        return None if value is None else {"raw": json.dumps(value)}
    match = _INNER.fullmatch(str(content.get("raw", "")))
    return {"raw": match[1]} if match and _is_json(match[0]) else None


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse)
    except ValueError:
        return False
    return True


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


def _case(vector: Vector, intent: JsonValue) -> Case:
    def step(name: str, intent_name: str, by: Role = Role.SELF) -> Step:
        return Step(name, by, (FragmentSpec("prefix", intent_name), FragmentSpec("question")))

    def computes(name: str, step: str, arguments: dict[str, JsonValue]) -> Expectation:
        fragment: dict[str, JsonValue] = {"fragment": "prefix"}
        return Expectation(
            name, "not_reused", vector.rules, fragment | arguments, step=step, control="control"
        )

    return Case(
        id=f"document-{vector.name}",
        title=vector.title or f"The invalid document {vector.name} is refused or served by fallback",
        rules=vector.rules,
        texts={"prefix": 0.5, "question": 0.05},
        intents={"invalid": intent, "valid": _VALID},
        steps=(
            step("invalid", "invalid"),
            step("foreigner", "invalid", Role.OTHER_TENANT),
            step("valid", "valid"),
            step("control", "valid"),
        ),
        expectations=(
            Expectation(
                "refused-or-fallback", "refused_or_fallback", (*vector.rules, "BND-9"), {}, step="invalid"
            ),
            computes("nothing-retained", "valid", {}),
            computes("foreigner-computes", "foreigner", {"refusable": True}),
        ),
        needs=("share_max=tenant",),
        axes={"stream": ("plain", "streamed")},
        group=GROUP,
    )
