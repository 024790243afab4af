"""JSON's plain scalars, as strict JSON and strict YAML both read them."""

import math
import re
from collections.abc import Mapping
from typing import Final

WORDS: Final[Mapping[str, bool | None]] = {"null": None, "true": True, "false": False}
NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
DIGIT_LIMIT: Final = 4000
"""Most digits of an integer: converting more costs the square of their number."""


def read_integer(spelling: str) -> int:
    """Read a JSON integer. Raises ValueError if it is too long."""
    if len(spelling.lstrip("-")) > DIGIT_LIMIT:
        raise ValueError(f"integers may have at most {DIGIT_LIMIT} digits")
    return int(spelling)


def read_float(spelling: str) -> float:
    """Read a JSON number with a fraction or an exponent. Raises ValueError if it overflows to infinity."""
    number = float(spelling)
    if math.isinf(number):
        raise ValueError("the number is too large: it would overflow to infinity")
    return number


def read_number(spelling: str) -> int | float:
    """Read what `NUMBER` matches: `60` is an integer, `60.0` and `6e1` are floats.

    Raises ValueError if it is too long or too large.
    """
    if spelling.lstrip("-").isdecimal():
        return read_integer(spelling)
    return read_float(spelling)
