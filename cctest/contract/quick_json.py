"""The quick half of strict JSON: reads what is plainly right, and leaves every doubt to the scanner.

`jiter` refuses duplicate names, NaN, lone surrogates, a byte order mark and what isn't UTF-8. What it lets
pass and strict reading doesn't is looked for here: deep nesting, numbers that overflow, very long integers.
"""

import math
import re
from typing import Final

from jiter import from_json

from cctest.contract.scalars import DIGIT_LIMIT
from cctest.contract.source import JsonValue

_LARGE_EXPONENT: Final = re.compile(rb"[0-9][eE]\+?[0-9]{3}")
_DIGITS: Final = re.compile(rb"[0-9]{2}")
_STRIDE: Final = 100
"""No number with fewer than twice as many digits in a row is too large, with a two-digit exponent or none."""
_LONGEST: Final = 10**DIGIT_LIMIT


class DoubtError(ValueError):
    """The text is not strict JSON, as far as the quick reader can tell.

    `duplicate` tells whether it met a name for the second time in an object (INT-10).
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.duplicate = "duplicate key" in message


def loads(data: bytes | str, *, max_depth: int) -> JsonValue:
    """Read a document that is strict JSON beyond doubt. Raises DoubtError for any other."""
    try:
        encoded = data.encode() if isinstance(data, str) else data
        value: JsonValue = from_json(
            encoded, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys"
        )
    except (ValueError, RecursionError) as error:
        raise DoubtError(str(error)) from None
    if _may_exceed(encoded, max_depth) and not _within(value, max_depth):
        raise DoubtError(f"nested more than {max_depth} levels deep, or a number is too large")
    return value


def _may_exceed(text: bytes, max_depth: int) -> bool:
    """Tell quickly where depth and numbers can't be out of bounds; brackets and digits in strings count."""
    return (
        text.count(b"[") + text.count(b"{") > max_depth
        or _LARGE_EXPONENT.search(text) is not None
        or _DIGITS.search(text[::_STRIDE]) is not None
    )


def _within(value: JsonValue, max_depth: int) -> bool:
    """Tell whether nesting and numbers are within bounds, level by level."""
    level = [[value]]
    for _ in range(max_depth + 1):
        inner: list[list[JsonValue]] = []
        for items in level:
            for item in items:
                if isinstance(item, str):
                    continue
                if isinstance(item, dict):
                    inner.append(list(item.values()))
                elif isinstance(item, list):
                    inner.append(item)
                elif _is_large(item):
                    return False
        if not inner:
            return True
        level = inner
    return False


def _is_large(value: int | float | None) -> bool:
    if isinstance(value, float):
        return math.isinf(value)
    return value is not None and not -_LONGEST < value < _LONGEST
