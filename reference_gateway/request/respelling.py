"""A JSON text edited by reading and spelling it again: much faster than `jsontext`, and equivalent.

Numbers with a fraction or an exponent keep their digits, the order of members is kept, and strings keep their
characters, if not their escapes. Integers that the fast writer doesn't take, or would change, are left to
`jsontext`.
"""

import re
from collections.abc import Mapping
from typing import Final, cast

import orjson
from jiter import LosslessFloat, from_json

from cctest.contract.source import JsonValue
from reference_gateway.request import jsontext
from reference_gateway.request.jsontext import Edit, Spell

_NOTHING: Final = object()
_NEGATIVE_ZERO: Final = re.compile(r"-0(?![0-9.eE])(?<![^\[,: \t\r\n]-0)")
"""An integer without its like in Python, or something that looks like one within a string."""


def respelt(text: str, edit: Edit) -> bytes:
    """Give a text in UTF-8 with one edit made. The text must be strict JSON."""
    if _NEGATIVE_ZERO.search(text):
        return jsontext.edited(text, edit).encode()
    try:
        value = from_json(text.encode(), float_mode="lossless-float", cache_mode="keys")
        _change(value, edit)
        return orjson.dumps(value, default=_number)
    except (TypeError, ValueError):
        return jsontext.edited(text, edit).encode()


def _change(value: JsonValue, edit: Edit) -> None:
    if isinstance(value, dict):
        for name in value.keys() & edit.drop:
            del value[name]
        for name, inner in edit.inner.items():
            if name in value:
                _change(value[name], inner)
        _put(value, edit.put)
    elif isinstance(value, list) and edit.each is not None:
        for item in value:
            _change(item, edit.each)


def _put(members: dict[str, JsonValue], put: Mapping[str, Spell]) -> None:
    for name, spell in put.items():
        old = members.get(name, _NOTHING)
        text = None if old is _NOTHING else orjson.dumps(old, default=_number).decode()
        members[name] = cast(JsonValue, orjson.Fragment(spell(text)))  # goes out as it is


def _number(value: object) -> orjson.Fragment:
    if isinstance(value, LosslessFloat):
        return orjson.Fragment(bytes(value))
    raise TypeError(f"no JSON: {type(value)}")
