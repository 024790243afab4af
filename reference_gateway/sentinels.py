"""Conversations whose rendering shows in which order a model's template puts fragments.

Each fragment holds markers: words of random letters that no template and no tokenizer knows or changes, and
that occur nowhere else in the conversation. So where a marker stands in the model input, its fragment stands.
"""

import secrets
from dataclasses import dataclass
from typing import Final

from cctest.contract.source import JsonValue
from reference_gateway.intake import Kind

_LETTERS: Final = "bcdfghjklmnpqrstvwxz"
_LENGTH: Final = 12
_CALL: Final = "call12345"
"""The id of a call: some templates take nothing but nine letters and digits."""


@dataclass(frozen=True, slots=True)
class Sentinel:
    """A fragment named `place`, as it is sent, and the words to look for. `place` is like `tools/0`."""

    place: str
    value: dict[str, JsonValue]
    markers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Fragments in declared order (BND-1). `required`: every template worth trusting can render it."""

    name: str
    fragments: tuple[Sentinel, ...]
    required: bool = False

    def elements(self, kind: Kind) -> list[JsonValue]:
        """Give the elements of one of the body's members, `tools` or `messages`."""
        return [one.value for one in self.fragments if one.place.startswith(f"{kind}/")]


def conversations() -> tuple[Conversation, ...]:
    """Make conversations with fresh markers.

    Between them they tell tools first from tools in the system turn, before the last user message, last or
    not at all; messages in order from messages moved to the front; and tools in order from sorted ones.
    """
    return (
        _conversation("a dialogue", "user", "assistant", "user", required=True),
        _conversation("tools and a user message", "user", tools=3, required=True),
        _conversation("tools and a dialogue", "user", "assistant", "user", tools=2, required=True),
        _conversation("a system message and a dialogue", "system", "user", "assistant", "user"),
        _conversation("tools, a system and a user message", "system", "user", tools=3),
        _conversation("a tool's result", "system", "user", "call", "tool", "assistant", "user", tools=2),
        _conversation("a developer message", "developer", "user", tools=2),
        _conversation("two system messages", "system", "system", "user", tools=2),
        _conversation("a late system message", "user", "system", "user"),
        _conversation("a late developer message", "user", "developer", "user"),
    )


def _conversation(name: str, *roles: str, tools: int = 0, required: bool = False) -> Conversation:
    fragments = [_tool(index) for index in range(tools)]
    fragments += [_message(index, role) for index, role in enumerate(roles)]
    return Conversation(name, tuple(fragments), required)


def _tool(index: int) -> Sentinel:
    # The names of tools m, z, b are sorted neither up nor down.
    name, description, parameter = (_marker(first) for first in ("mzb"[index], "", ""))
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"value": {"type": "string", "description": parameter}},
        "required": ["value"],
    }
    function: JsonValue = {"name": name, "description": description, "parameters": parameters}
    return Sentinel(
        f"{Kind.TOOL}/{index}", {"type": "function", "function": function}, (name, description, parameter)
    )


def _message(index: int, role: str) -> Sentinel:
    content = _marker()
    place = f"{Kind.MESSAGE}/{index}"
    if role == "call":
        name, argument = _marker(), _marker()
        call: JsonValue = {
            "id": _CALL,
            "type": "function",
            "function": {"name": name, "arguments": f'{{"value": "{argument}"}}'},
        }
        value: dict[str, JsonValue] = {"role": "assistant", "content": content, "tool_calls": [call]}
        return Sentinel(place, value, (content, name, argument))
    value = {"role": role, "content": content}
    if role == "tool":
        value["tool_call_id"] = _CALL
    return Sentinel(place, value, (content,))


def _marker(first: str = "") -> str:
    drawn = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH - len(first)))
    return first + drawn
