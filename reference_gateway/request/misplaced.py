"""Find a `cache_intent` that stands where the binding has none (BND-3, READ-22).

What the caller's own schemas, arguments and texts contain is content, whatever its members are called; so
the search goes by place and stops at the members that hold content.
"""

from collections.abc import Iterator
from typing import Final

from cctest.contract.source import Fault, JsonValue, descend

CACHE_INTENT: Final = "cache_intent"

_CONTENT: Final = frozenset(
    {
        ("tools", "*", "function", "parameters"),
        ("tools", "*", "custom", "format"),
        ("messages", "*", "tool_calls", "*", "function", "arguments"),
        ("messages", "*", "tool_calls", "*", "custom", "input"),
        ("messages", "*", "function_call", "arguments"),
        ("functions", "*", "parameters"),
        ("response_format", "json_schema", "schema"),
        ("metadata",),
    }
)
_CONTENT_PART: Final = ("messages", "*", "content", "*")


def misplaced_intent(value: JsonValue, pointer: str, place: tuple[str, ...]) -> Fault | None:
    """Find the first intent in or under `value`, which stands at `pointer`.

    `place` is the pointer's path from the top of the body, with `*` for any array index. The caller leaves
    out the intents that stand where they should.
    """
    for path, found_place in _intents(value, (), place):
        found_pointer = descend(pointer, path)
        if found_place == _CONTENT_PART:
            message = "a content part is no fragment and takes no intent; put it on the message"
            return Fault(found_pointer, message, ("BND-3",))
        return Fault(found_pointer, "an intent may only stand on an element of tools or messages", ("BND-1",))
    return None


def _intents(
    value: JsonValue, path: tuple[str | int, ...], place: tuple[str, ...]
) -> Iterator[tuple[tuple[str | int, ...], tuple[str, ...]]]:
    """Yield each intent's path under the value, and the place of the object that holds it, in document order.

    Paths and no pointers: to copy a long name for every value under it would take seconds.
    """
    if place in _CONTENT:
        return
    if isinstance(value, dict):
        for name, item in value.items():
            if name == CACHE_INTENT:
                yield (*path, name), place
            elif isinstance(item, dict | list):
                yield from _intents(item, (*path, name), (*place, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                yield from _intents(item, (*path, index), (*place, "*"))
