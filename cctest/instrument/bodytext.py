"""Whether a request's body holds a text, however the text is spelt in JSON."""

import json
import re
from collections.abc import Iterator
from typing import Final

from cctest.contract.source import JsonValue

_NEVER_ESCAPED: Final = re.compile(r'[^"\\/\x00-\x1f\x7f-\U0010ffff]*')
"""Text that JSON can only spell as itself, or with `\\u` escapes."""


def holds(body: bytes, text: str) -> bool:
    """Tell whether a string or a member name in a JSON body contains `text`.

    A body without backslashes, and one that is no JSON, is searched as it is.
    """
    plain = text.encode("utf-8", "surrogatepass")
    if b"\\" not in body:
        return plain in body
    if plain not in body and b"\\u" not in body and _NEVER_ESCAPED.fullmatch(text):
        return False
    try:
        value: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        return plain in body
    return any(text in string for string in _strings(value))


def _strings(value: JsonValue) -> Iterator[str]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            yield from item
            waiting += item.values()
