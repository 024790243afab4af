"""Checks of JSON shapes that collect every fault instead of stopping at the first."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeGuard, TypeVar

from cctest.contract.scalars import NearInteger
from cctest.contract.source import Fault, JsonValue, child
from cctest.contract.vocabulary import LABEL_LIMIT

Word = TypeVar("Word", bound=StrEnum)

_SHOWN_LIMIT: Final = 60
_SHOWN_BITS: Final = 256


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """Which members an object must and may have, and the rules that an extra or a missing one breaks.

    `name` is what messages call the object. A closed object refuses members that aren't listed.
    `missing_member` holds the rules for members whose absence breaks others than `missing`.
    """

    name: str
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    missing_member: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    wrong_type: tuple[str, ...] = ()
    closed: bool = True


@dataclass(slots=True)
class Inspection:
    """The faults found so far in one document."""

    faults: list[Fault] = field(default_factory=list)

    def fault(self, pointer: str, message: str, rules: tuple[str, ...]) -> None:
        """Note one fault."""
        self.faults.append(Fault(pointer, message, rules))

    def members(self, value: JsonValue, pointer: str, shape: ObjectShape) -> dict[str, JsonValue]:
        """Check an object's member names. Return it, or an empty one in place of something else."""
        if not isinstance(value, dict):
            self.fault(pointer, f"{shape.name} must be an object, not {shown(value)}", shape.wrong_type)
            return {}
        allowed = (*shape.required, *shape.optional)
        if shape.closed:
            for name in value:
                if name not in allowed:
                    message = f"unknown member; {shape.name} may have {listed(allowed)}"
                    self.fault(child(pointer, name), message, shape.unknown)
        for name in shape.required:
            if name not in value:
                rules = shape.missing_member.get(name, shape.missing)
                self.fault(pointer, f"{shape.name} needs the member {name}", rules)
        return value

    def integer(self, value: JsonValue, pointer: str, least: int, rules: tuple[str, ...]) -> int | None:
        """Read an integer that is at least `least`; an integral float counts (READ-11), a boolean doesn't."""
        number = as_integer(value)
        if number is None or number < least:
            self.fault(pointer, f"must be an integer, {least} or more, not {shown(value)}", rules)
            return None
        return number

    def flag(self, value: JsonValue, pointer: str, rules: tuple[str, ...]) -> bool | None:
        """Read a boolean."""
        if isinstance(value, bool):
            return value
        self.fault(pointer, f"must be true or false, not {shown(value)}", rules)
        return None

    def word(
        self, value: JsonValue, pointer: str, vocabulary: type[Word], rules: tuple[str, ...]
    ) -> Word | None:
        """Read one word of a closed vocabulary; spelling is exact."""
        word = vocabulary._value2member_map_.get(value) if isinstance(value, str) else None
        if isinstance(word, vocabulary):
            return word
        self.fault(pointer, f"must be one of {listed(vocabulary)}, not {shown(value)}", rules)
        return None

    def text(self, value: JsonValue, pointer: str, rules: tuple[str, ...]) -> str | None:
        """Read a string."""
        if isinstance(value, str):
            return value
        self.fault(pointer, f"must be a string, not {shown(value)}", rules)
        return None

    def label(
        self,
        value: JsonValue,
        pointer: str,
        length_rules: tuple[str, ...],
        type_rules: tuple[str, ...],
    ) -> str | None:
        """Read an `id` or a `namespace`: 1 to 256 code points (READ-4) that have a UTF-8 form."""
        if not isinstance(value, str):
            self.fault(pointer, f"must be a string, not {shown(value)}", type_rules)
        elif not 1 <= len(value) <= LABEL_LIMIT:
            message = f"must have 1 to {LABEL_LIMIT} characters, not {len(value)}"
            self.fault(pointer, message, length_rules)
        elif not has_utf8_form(value):
            self.fault(pointer, "must not contain a lone surrogate: it has no UTF-8 form", type_rules)
        else:
            return value
        return None

    def items(self, value: JsonValue, pointer: str, rules: tuple[str, ...]) -> list[JsonValue]:
        """Read a non-empty array. Return it, or an empty one in place of something else."""
        if not isinstance(value, list):
            self.fault(pointer, f"must be an array, not {shown(value)}", rules)
            return []
        if not value:
            self.fault(pointer, "must not be empty; leave the member out instead", rules)
        return value

    def distinct(self, items: Iterable[object], pointer: str, rules: tuple[str, ...]) -> None:
        """Check that no item of an array (already read; None where unreadable) occurs twice."""
        first: dict[object, int] = {}
        for index, item in enumerate(items):
            if item is not None and first.setdefault(item, index) != index:
                message = f"must not repeat item {first[item]}"
                self.fault(child(pointer, index), message, rules)


def as_integer(value: JsonValue) -> int | None:
    """Give the integer that a JSON number stands for, as JSON Schema has it (READ-11); None if none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def is_label(value: JsonValue) -> TypeGuard[str]:
    """Tell whether a value can be an `id` or a `namespace`."""
    return isinstance(value, str) and 1 <= len(value) <= LABEL_LIMIT and has_utf8_form(value)


def has_utf8_form(text: str) -> bool:
    """Tell whether a string can be encoded, that is, holds no lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: object) -> str:
    """Spell a JSON value for a message: as JSON, cut to one short line."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, int) and value.bit_length() > _SHOWN_BITS:
        return "a very large integer"
    if isinstance(value, NearInteger):
        return value.spelling if len(value.spelling) <= _SHOWN_LIMIT else "a number with a fraction"
    if isinstance(value, str) and len(value) > _SHOWN_LIMIT:
        return f"{json.dumps(value[: _SHOWN_LIMIT // 2])}..."
    return json.dumps(value)


def listed(words: Iterable[str]) -> str:
    """Join words for a message: `a, b or c`."""
    *head, last = (str(word) for word in words)
    return f"{', '.join(head)} or {last}" if head else last
