"""Flips of how single values are read: words, numbers, labels, null, and JSON itself (INT-5, INT-6, INT-10, INT-12)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from flip import Flip, flip

from cctest.contract import capabilities, hints, shape, strict_json, strict_yaml
from cctest.contract.source import JsonValue, Parsed, SourceError


def _label_limit(limit: int) -> Any:
    def apply(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(shape, "LABEL_LIMIT", limit)

    return apply


def _label(measure: Any) -> Any:
    def apply(patch: pytest.MonkeyPatch) -> None:
        def label(self: Any, value: Any, *rest: Any) -> Any:
            if isinstance(value, str) and value.isprintable():
                return original(self, "a" * measure(value), *rest) and value
            return original(self, value, *rest)

        original = shape.Inspection.label
        patch.setattr(shape.Inspection, "label", label)

    return apply


def _booleans_are_integers(patch: pytest.MonkeyPatch) -> None:
    def as_integer(value: JsonValue) -> int | None:
        return int(value) if isinstance(value, bool) else original(value)

    original = shape.as_integer
    for module in (shape, capabilities, hints):
        patch.setattr(module, "as_integer", as_integer)


def _text_is_an_integer(patch: pytest.MonkeyPatch) -> None:
    def as_integer(value: JsonValue) -> int | None:
        return int(value) if isinstance(value, str) and value.isdecimal() else original(value)

    original = shape.as_integer
    for module in (shape, capabilities, hints):
        patch.setattr(module, "as_integer", as_integer)


def _fractions_are_cut(patch: pytest.MonkeyPatch) -> None:
    def as_integer(value: JsonValue) -> int | None:
        return int(value) if isinstance(value, float) else original(value)

    original = shape.as_integer
    for module in (shape, capabilities, hints):
        patch.setattr(module, "as_integer", as_integer)


def _no_minimum(patch: pytest.MonkeyPatch) -> None:
    def integer(self: Any, value: Any, pointer: str, least: int, rules: Any) -> Any:
        return original(self, value, pointer, min(least, -(2**64)), rules)

    original = shape.Inspection.integer
    patch.setattr(shape.Inspection, "integer", integer)


def _word(reading: Callable[[str, Any], str]) -> Any:
    """Make the flip that changes a word before it is looked up in its vocabulary."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        def word(self: Any, value: Any, pointer: str, vocabulary: Any, rules: Any) -> Any:
            changed = reading(value, vocabulary) if isinstance(value, str) else value
            return original(self, changed, pointer, vocabulary, rules)

        original = shape.Inspection.word
        patch.setattr(shape.Inspection, "word", word)

    return apply


def _widest_if_unknown(value: str, vocabulary: Any) -> str:
    known = [str(word) for word in vocabulary]
    return value if value in known else known[-1]


def _empty_arrays_pass(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        shape.Inspection,
        "items",
        lambda self, value, pointer, rules: value if isinstance(value, list) else [],
    )


def _repetitions_pass(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(shape.Inspection, "distinct", lambda self, items, pointer, rules: None)


def _null_is_absent(patch: pytest.MonkeyPatch) -> None:
    def members(self: Any, value: Any, *rest: Any) -> Any:
        if isinstance(value, dict):
            value = {name: member for name, member in value.items() if member is not None}
        return original(self, value, *rest)

    original = shape.Inspection.members
    patch.setattr(shape.Inspection, "members", members)


def _duplicates_pass(patch: pytest.MonkeyPatch) -> None:
    def parse(data: bytes | str, *, max_depth: int = 64) -> Parsed:
        try:
            return original(data, max_depth=max_depth)
        except SourceError as error:
            if "INT-10" not in error.fault.rules:
                raise
            return Parsed(json.loads(data))

    original = strict_json.parse
    patch.setattr(strict_json, "parse", parse)


def _lax_json(patch: pytest.MonkeyPatch) -> None:
    def parse(data: bytes | str, *, max_depth: int = 64) -> Parsed:
        text = data if isinstance(data, str) else data.decode(errors="replace")
        try:
            return Parsed(json.loads(text, strict=False))
        except ValueError:
            return original(data, max_depth=max_depth)

    original = strict_json.parse
    patch.setattr(strict_json, "parse", parse)


def _numbers_are_doubles(patch: pytest.MonkeyPatch) -> None:
    for module in (strict_json, strict_yaml):
        patch.setattr(
            module, "read_number", lambda text: int(text) if text.lstrip("-").isdecimal() else float(text)
        )


FLIPS: tuple[Flip, ...] = (
    flip(
        "256-off-by-one-below",
        _label_limit(255),
        "id-of-256-ascii-characters",
        "namespace-of-256-ascii-characters",
    ),
    flip(
        "256-off-by-one-above",
        _label_limit(257),
        "id-of-257-ascii-characters",
        "namespace-of-257-ascii-characters",
    ),
    flip(
        "256-counted-in-bytes",
        _label(lambda text: len(text.encode())),
        "namespace-of-256-two-byte-characters",
        "id-of-128-four-byte-characters",
    ),
    flip(
        "256-counted-in-utf-16-units",
        _label(lambda text: len(text.encode("utf-16-le")) // 2),
        "namespace-of-129-four-byte-characters",
    ),
    flip(
        "256-counted-after-composing",
        _label(lambda text: len(text) - text.count("\u0301")),
        "namespace-of-129-letters-with-combining-marks",
        "id-of-129-letters-with-combining-marks",
    ),
    flip(
        "boolean-accepted-as-integer",
        _booleans_are_integers,
        "version-true",
        "max-age-true",
        "max-age-false",
        "capabilities-with-a-maximum-of-true",
        "hint-as-boolean",
    ),
    flip(
        "text-accepted-as-integer", _text_is_an_integer, "version-as-text", "max-age-as-text", "hint-as-text"
    ),
    flip("fraction-cut-off", _fractions_are_cut, "version-with-a-fraction", "max-age-with-a-fraction"),
    flip(
        "numbers-are-doubles",
        _numbers_are_doubles,
        "max-age-of-less-than-any-double",
        "max-age-negative-by-less-than-any-double",
        "max-age-next-to-one",
        "max-age-next-to-sixty",
        "max-age-with-a-fraction-beyond-double-precision",
        "version-next-to-one",
        "capabilities-with-a-version-next-to-one",
        "capabilities-with-a-maximum-below-zero-by-a-hair",
        "bound-with-a-point-keeps-its-last-digit",
        "bound-with-an-exponent-keeps-its-value",
        "bound-that-a-double-makes-whole-has-no-policy",
        "fraction-that-a-double-loses-is-not-served",
        "least-negative-bound-is-not-served",
        "hint-above-its-maximum-by-a-fraction",
        "hint-with-a-point-beyond-double-precision",
    ),
    flip(
        "null-read-as-absent",
        _null_is_absent,
        "namespace-null",
        "id-null",
        "max-age-null",
        "entry-with-a-null-id",
    ),
    flip(
        "duplicate-names-pass",
        _duplicates_pass,
        "duplicate-share-max",
        "duplicate-in-escaped-spelling",
        "duplicate-deep-inside-an-unknown-hint",
        "duplicate-intent",
        "duplicate-name-is-not-served",
        "duplicate-name-in-a-hint-is-not-served",
        "bound-given-twice-has-no-policy",
        "second-intent-with-a-name-given-twice-has-no-policy",
        "hint-given-twice-is-refused",
    ),
    flip(
        "empty-label-accepted",
        _label(lambda text: len(text) or 1),
        "id-empty",
        "namespace-empty",
        "empty-id-is-not-served",
        "empty-namespace-is-not-served",
    ),
    flip("label-trimmed", _label(lambda text: len(text.strip())), "id-of-1-space", "namespace-of-1-space"),
    flip(
        "no-minimum",
        _no_minimum,
        "max-age-negative",
        "capabilities-with-version-zero",
        "capabilities-with-a-negative-maximum",
    ),
    flip(
        "words-in-any-case", _word(lambda value, vocabulary: value.lower()), "retention-mode-in-another-case"
    ),
    flip("words-trimmed", _word(lambda value, vocabulary: value.strip()), "share-max-with-a-space"),
    flip(
        "unknown-words-read-as-the-widest",
        _word(_widest_if_unknown),
        "share-max-unknown",
        "reuse-unknown",
        "unknown-scope-is-not-served",
        "on-unenforceable-ignore",
        "capabilities-with-an-unknown-scope",
        "entry-with-an-unknown-outcome",
        "entry-with-the-mode-for-its-retention",
    ),
    flip(
        "empty-arrays-pass",
        _empty_arrays_pass,
        "capabilities-with-no-version",
        "capabilities-with-an-empty-list-of-modes",
    ),
    flip(
        "repetitions-pass",
        _repetitions_pass,
        "capabilities-with-a-version-twice",
        "capabilities-with-a-scope-twice",
    ),
    flip(
        "lax-json",
        _lax_json,
        "text-with-not-a-number",
        "text-with-a-raw-line-end-in-a-string",
        "text-that-is-not-utf-8",
        "text-with-overlong-utf-8",
        "duplicate-share-max",
    ),
)
