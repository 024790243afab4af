"""The quick half of strict JSON: reads what is plainly right, and leaves every doubt to the scanner.

`jiter` refuses duplicate names, NaN, lone surrogates, a byte order mark and what isn't UTF-8. What it lets
pass and strict reading doesn't is looked for here: deep nesting, very long integers, and numbers that no
double is equal to.
"""

import re
from typing import Any, Final

from jiter import LosslessFloat, from_json

from cctest.contract.scalars import DIGIT_LIMIT, read_number
from cctest.contract.source import JsonValue

_EXPONENT: Final = re.compile(rb"[0-9][eE][+-]?[0-9]")
_LONG_FRACTION: Final = re.compile(rb"\.[0-9](?:[0-9]{7}|(?<=[0-9]{8}\.[0-9]))")
"""A number with a point and more than 15 digits has eight on one side of it. Up to 15, a double that has no
fraction is the number that is written."""
_DIGITS: Final = re.compile(rb"[0-9]{2}")
_STRIDE: Final = 100
"""No integer with fewer than twice as many digits in a row is too long."""
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
        closely = _may_exceed(encoded, max_depth)
        value: JsonValue = from_json(
            encoded,
            allow_inf_nan=False,
            catch_duplicate_keys=True,
            cache_mode="keys",
            float_mode="lossless-float" if closely else "float",
        )
        return _closely_read(value, max_depth) if closely else value
    except (ValueError, RecursionError) as error:
        raise DoubtError(str(error)) from None


def _may_exceed(text: bytes, max_depth: int) -> bool:
    """Tell quickly where depth and numbers can't be out of bounds; brackets and digits in strings count."""
    return (
        text.count(b"[") + text.count(b"{") > max_depth
        or _EXPONENT.search(text) is not None
        or _LONG_FRACTION.search(text) is not None
        or _DIGITS.search(text[::_STRIDE]) is not None
    )


def _closely_read(document: JsonValue, max_depth: int) -> JsonValue:
    """Read the numbers of a document exactly, level by level. Raises ValueError for what is out of bounds."""
    root = [document]
    level: list[Any] = [root]
    for _ in range(max_depth + 1):
        inner: list[Any] = []
        for container in level:
            for place, value in container.items() if isinstance(container, dict) else enumerate(container):
                if isinstance(value, dict | list):
                    inner.append(value)
                elif isinstance(value, LosslessFloat):
                    container[place] = read_number(bytes(value).decode())
                elif isinstance(value, int) and not -_LONGEST < value < _LONGEST:
                    raise ValueError("an integer is too long")
        if not inner:
            return root[0]
        level = inner
    raise ValueError(f"nested more than {max_depth} levels deep")
