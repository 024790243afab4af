"""JSON's plain scalars, as strict JSON and strict YAML both read them."""

import math
import re
from collections.abc import Mapping
from typing import Final, Self

WORDS: Final[Mapping[str, bool | None]] = {"null": None, "true": True, "false": False}
NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
DIGIT_LIMIT: Final = 4000
"""Most digits of an integer: converting more costs the square of their number."""
_EXPONENT_DIGITS: Final = 12
"""More than any text has digits to make up for."""


class NearInteger(float):
    """A number with a fraction so small that the nearest double has none: `1e-400`, `1.0000000000000000001`.

    It counts as no integer, wherever that is asked (INT-12), and equals none.
    """

    __slots__ = ("spelling",)

    def __new__(cls, spelling: str) -> Self:
        """Keep the spelling beside the nearest double."""
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number

    spelling: str

    def is_integer(self) -> bool:
        """Deny it, whatever the double says."""
        return False

    def __eq__(self, other: object) -> bool:
        """Compare spellings: a number that is spelt otherwise may be another."""
        return isinstance(other, NearInteger) and other.spelling == self.spelling

    def __ne__(self, other: object) -> bool:
        """Deny equality; that of doubles would be inherited."""
        return not self == other

    def __hash__(self) -> int:
        """Hash the spelling."""
        return hash(self.spelling)


def read_integer(spelling: str) -> int:
    """Read a JSON integer. Raises ValueError if it is too long."""
    if len(spelling.lstrip("-")) > DIGIT_LIMIT:
        raise ValueError(f"integers may have at most {DIGIT_LIMIT} digits")
    return int(spelling)


def read_number(spelling: str) -> int | float:
    """Read what `NUMBER` matches; a number with a fraction or an exponent is a float where that is exact.

    Where it isn't, an integer is read as an integer, and what is none is never taken for one. Raises
    ValueError for a number that is too long or overflows.
    """
    if spelling.lstrip("-").isdecimal():
        return read_integer(spelling)
    nearest = float(spelling)
    if math.isinf(nearest):
        raise ValueError("the number is too large: it would overflow to infinity")
    if not nearest.is_integer():
        return nearest
    exact = _integer(spelling)
    if exact is None:
        return NearInteger(spelling)
    return nearest if nearest == exact else exact


def _integer(spelling: str) -> int | None:
    """Give the integer that a number stands for, None if none; the number is within the range of doubles."""
    mantissa, _, exponent = spelling.lower().partition("e")
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).rstrip("0")
    if not digits:
        return 0
    power = _power(exponent) + len(whole) - len(digits)
    if power < 0:
        return None
    magnitude = int(digits.lstrip("0") + "0" * power)
    return -magnitude if spelling.startswith("-") else magnitude


def _power(exponent: str) -> int:
    """Read an exponent; of a huge one, which can only be negative, what is far enough below zero."""
    size = exponent.lstrip("+-0")[:_EXPONENT_DIGITS]
    return int(f"-{size}" if exponent.startswith("-") else size) if size else 0
