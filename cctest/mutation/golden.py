"""Golden values: each value that a vector expects is changed in turn, which has to turn that vector red.

A vector that stays green with another expected value asserts nothing by it.
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from cctest.contract.digest import namespace_digest
from cctest.contract.source import JsonValue, child, tokens_of
from cctest.mutation.mutant import Finding, Status, Verdict
from cctest.vectors.expectation import is_choice
from cctest.vectors.model import Vector, VectorKind
from cctest.vectors.run import run_vector
from cctest.verdict import Result

_WORDS: Final = {
    "allow": "forbid",
    "forbid": "allow",
    "none": "exact",
    "exact": "none",
    "approximate": "exact",
    "request": "public",
    "session": "request",
    "principal": "session",
    "tenant": "principal",
    "public": "tenant",
    "accepted": "clipped",
    "clipped": "accepted",
    "ignored": "accepted",
}
_A_POLICY: Final = {"reuse": "exact"}
_ABSENT: Final = {"max_age": "reuse", "namespace_identity": "reuse"}


def alterations(vector: Vector) -> Iterator[tuple[str, Vector]]:
    """Yield the vector with each value that it expects changed, and the pointer of that value."""
    for pointer in _expected(vector):
        content = copy.deepcopy(dict(vector.content))
        *path, last = tokens_of(pointer)
        holder: Any = content
        for token in path:
            holder = holder[int(token)] if isinstance(holder, list) else holder[token]
        key: Any = int(last) if isinstance(holder, list) else last
        holder[key] = _altered(vector, holder, key)
        yield pointer, replace(vector, content=content)


def _altered(vector: Vector, holder: Any, key: str | int) -> JsonValue:
    value: JsonValue = holder[key]
    if value is None and vector.kind is VectorKind.COMPOSITION:
        return dict(_A_POLICY)
    if (
        vector.kind is VectorKind.DIGEST
        and key == "digest"
        and not vector.content["expected"]["digests_match"]
    ):
        return namespace_digest(holder["namespaces"])  # of a wrong value, only the right one is another
    return _another(value)


def judge_golden(vectors: Sequence[Vector]) -> list[Verdict]:
    """Judge every alteration of every vector; names are `golden:VECTOR/POINTER`."""
    return [
        _verdict(f"golden:{vector.name}{pointer}", altered)
        for vector in vectors
        for pointer, altered in alterations(vector)
    ]


def _verdict(name: str, altered: Vector) -> Verdict:
    checks = run_vector(altered).checks
    failed = [check for check in checks if check.result is Result.FAIL]
    findings = tuple(Finding(check.id, check.rules, check.message) for check in failed)
    broke = [check for check in checks if check.result is Result.ERROR]
    status = Status.KILLED if failed else Status.BROKE if broke else Status.SURVIVED
    note = broke[0].message if status is Status.BROKE else ""
    return Verdict(name, status, len(checks), findings, whole=True, note=note)


def _expected(vector: Vector) -> Iterator[str]:
    """Yield the pointers of the single values that a vector expects."""
    if vector.kind in (VectorKind.DIGEST, VectorKind.ELIGIBILITY):
        member = "digest" if vector.kind is VectorKind.DIGEST else "eligible"
        yield from (f"/cases/{index}/{member}" for index in range(len(vector.content["cases"])))
    if vector.kind is not VectorKind.ELIGIBILITY:
        yield from _leaves(vector.content["expected"], "/expected")


def _leaves(value: JsonValue, pointer: str) -> Iterator[str]:
    if is_choice(value):
        return  # whatever is permitted is no golden value
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _leaves(inner, child(pointer, name))
    elif isinstance(value, list) and len(value) > 1 and not pointer.endswith("/absent"):
        yield pointer  # several results are permitted: together they are one value
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, child(pointer, index))
    else:
        yield pointer


def _another(value: JsonValue) -> JsonValue:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return ["something"]
    if isinstance(value, str):
        return _WORDS.get(value) or _ABSENT.get(value) or f"{value}x"
    return "something"
