"""JSON texts changed member by member, each value kept exactly as it was spelt.

Numbers pass a gateway unrounded and unknown members unharmed this way: what isn't changed is never decoded
and encoded again. The texts must be JSON already; names must not occur twice in one object.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")


def members(text: str) -> dict[str, str]:
    """Give the text of each member's value, in order. Raises ValueError where `text` is no object."""
    spelt: dict[str, str] = {}
    at = _opened(text, "{")
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)  # past the colon
        _, end = _DECODER.raw_decode(text, start)
        spelt[name] = text[start:end]
        at = _next(text, end)
    return spelt


def elements(text: str) -> list[str]:
    """Give the text of each element. Raises ValueError where `text` is no array."""
    spelt: list[str] = []
    at = _opened(text, "[")
    while text[at] != "]":
        _, end = _DECODER.raw_decode(text, at)
        spelt.append(text[at:end])
        at = _next(text, end)
    return spelt


def spell_object(spelt: Mapping[str, str]) -> str:
    """Put an object together from the texts of its values."""
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in spelt.items()) + "}"


def without(text: str, names: Iterable[str]) -> str:
    r"""Leave members out of an object; what is no object stays as it is.

    The names must be ones that JSON can only spell as they are, or with `\u` escapes.
    """
    if not text.startswith("{") or not _may_hold(text, names):
        return text
    spelt = members(text)
    for name in names:
        spelt.pop(name, None)
    return spell_object(spelt)


def each(text: str, change: Callable[[str], str]) -> str:
    """Change each element of an array; what is no array stays as it is."""
    if not text.startswith("["):
        return text
    return "[" + ",".join(map(change, elements(text))) + "]"


def _may_hold(text: str, names: Iterable[str]) -> bool:
    """Tell quickly where a name can't occur; one that is spelt with escapes might be anywhere."""
    return "\\u" in text or any(f'"{name}"' in text for name in names)


def _opened(text: str, bracket: str) -> int:
    at = _skip(text, 0)
    if text[at : at + 1] != bracket:
        raise ValueError(f"{bracket} was expected")
    return _skip(text, at + 1)


def _next(text: str, end: int) -> int:
    at = _skip(text, end)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at
