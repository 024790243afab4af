"""Conversations whose rendering shows in which order a model's template puts fragments.

Each fragment holds markers: words of random letters that no template and no tokenizer knows or changes, and
that occur nowhere else in the conversation. So where a marker stands in the model input, its fragment stands.
"""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Final

from cctest.contract.source import JsonValue
from reference_gateway.request.intake import Fragment, Kind
from reference_gateway.request.misplaced import CACHE_INTENT

_LETTERS: Final = "bcdfghjklmnpqrstvwxz"
_LENGTH: Final = 12
_CALL: Final = "call12345"
"""The id of a call: some templates take nothing but nine letters and digits."""
_ALSO: Final = {"user": "name", "assistant": "reasoning_content"}
"""A further member of the messages of a role, which a template may or may not render."""
_MESSAGE_MEMBERS: Final = frozenset(
    {
        *("role", "content", "name", "tool_calls", "tool_call_id", "reasoning", "reasoning_content"),
        CACHE_INTENT,
    }
)


class Trait(StrEnum):
    """What requests have or haven't, and templates and engines are known to render in places of their own."""

    TOOLS = "tools"
    SYSTEM = "system message"
    DEVELOPER = "developer message"
    CALLS = "tool calls"
    LATE = "late instructions"
    """A system or developer message after others."""


Shape = frozenset[Trait]


@dataclass(frozen=True, slots=True)
class Sentinel:
    """A fragment named `place`, as it is sent, and the words to look for. `place` is like `tools/0`."""

    place: str
    value: dict[str, JsonValue]
    markers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """Fragments in declared order (BND-1)."""

    shape: Shape
    fragments: tuple[Sentinel, ...]

    @property
    def name(self) -> str:
        """Say what it is in words."""
        return f"a dialogue with {', '.join(sorted(self.shape))}" if self.shape else "a plain dialogue"

    def elements(self, kind: Kind) -> list[JsonValue]:
        """Give the elements of one of the body's members, `tools` or `messages`."""
        return [one.value for one in self.fragments if one.place.startswith(f"{kind}/")]


def shape_of(fragments: Iterable[Fragment]) -> Shape | None:
    """Give the traits of a request; None where it has something that no sentinel has."""
    traits = set()
    begun = False
    for one in fragments:
        if not _is_known(one):
            return None
        if one.kind is Kind.TOOL:
            traits.add(Trait.TOOLS)
            continue
        role = one.value.get("role")
        if role in ("system", "developer"):
            leading = Trait.SYSTEM if role == "system" else Trait.DEVELOPER
            traits.add(Trait.LATE if begun else leading)
            continue
        begun = True
        if role == "tool" or one.value.get("tool_calls"):
            traits.add(Trait.CALLS)
        elif role not in ("user", "assistant"):
            return None
    return frozenset(traits)


def _is_known(fragment: Fragment) -> bool:
    """Tell whether a fragment has no members or parts but those that sentinels have."""
    if fragment.kind is Kind.TOOL:
        return fragment.value.get("type") == "function"
    members = {name for name, value in fragment.value.items() if value is not None and value != []}
    content = fragment.value.get("content")
    parts = content if isinstance(content, list) else []
    return members <= _MESSAGE_MEMBERS and all(
        isinstance(part, dict) and part.get("type") == "text" for part in parts
    )


def conversations() -> Iterator[Conversation]:
    """Make a conversation of each shape with fresh markers, the plainest first."""
    for count in range(len(Trait) + 1):
        for chosen in combinations(Trait, count):
            yield _conversation(frozenset(chosen))


def _conversation(shape: Shape) -> Conversation:
    roles = ["system"] if Trait.SYSTEM in shape else []
    roles += ["developer"] if Trait.DEVELOPER in shape else []
    roles += ["user", "call", "tool", "assistant"] if Trait.CALLS in shape else ["user", "assistant"]
    roles += ["system", "user", "developer", "user"] if Trait.LATE in shape else ["user"]
    fragments = [_tool(index) for index in range(3 if Trait.TOOLS in shape else 0)]
    fragments += [_message(index, role) for index, role in enumerate(roles)]
    return Conversation(shape, tuple(fragments))


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
        return _call(place, content)
    value: dict[str, JsonValue] = {"role": role, "content": content}
    if role == "tool":
        value["tool_call_id"] = _CALL
    if role in _ALSO:
        more = _marker()
        return Sentinel(place, {**value, _ALSO[role]: more}, (content, more))
    return Sentinel(place, value, (content,))


def _call(place: str, content: str) -> Sentinel:
    name, argument = _marker(), _marker()
    call: JsonValue = {
        "id": _CALL,
        "type": "function",
        "function": {"name": name, "arguments": f'{{"value": "{argument}"}}'},
    }
    value: dict[str, JsonValue] = {"role": "assistant", "content": content, "tool_calls": [call]}
    return Sentinel(place, value, (content, name, argument))


def _marker(first: str = "") -> str:
    drawn = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH - len(first)))
    return first + drawn
