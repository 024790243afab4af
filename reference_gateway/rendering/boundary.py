"""Where in the prompt the text of leading fragments ends, seen in what an engine renders behind them.

They are rendered twice with a sentinel in place of the fragment that comes next. The sentinels differ from
their first character on and in length, so the tokens that both renders begin with hold nothing but the
leading fragments and the template's own words, wherever the template puts things. What really comes next
takes no part: of it only the kind and the role are used.
"""

import hashlib
import secrets
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from cctest.contract.source import JsonValue
from reference_gateway.request.intake import Fragment, Kind

Conversation: TypeAlias = dict[str, list[JsonValue]]
"""The members `tools` and `messages` of a body; `tools` only where there are any."""

_FIRST: Final = {"Qq0": 8, "Zz1": 14}
"""How the sentinels of the two renders begin, and the characters that follow: a template may tell lengths."""
_LEADING: Final = ("system", "developer")
_ROLES: Final = (*_LEADING, "user", "assistant", "tool")
_MOST_TOKEN: Final = 2**32 - 1
_UNSURE: Final = 1
"""Tokens at the end of what two renders have in common that other text may join with its first letters.

Where no word begins like a sentinel, the space in front of it is a token; in front of most words it isn't.
"""


@dataclass(frozen=True, slots=True)
class Successor:
    """All that is used of the fragment that comes next; `role` is None for a tool."""

    kind: Kind
    role: str | None

    @classmethod
    def of(cls, fragment: Fragment) -> "Successor":
        """Take it from a fragment."""
        role = fragment.value.get("role") if fragment.kind is Kind.MESSAGE else None
        return cls(fragment.kind, role if isinstance(role, str) else None)


@dataclass(frozen=True, slots=True)
class TokenBoundary:
    """So many tokens of the prompt are those of leading fragments, whole blocks of them, with this digest.

    `rest` is the most bytes of text that these fragments have beyond, in the block that isn't whole.
    """

    tokens: int
    digest: bytes
    rest: int


@dataclass(frozen=True, slots=True)
class CommonPrefix:
    """The tokens that two renders begin with: those in whole blocks, and the rest."""

    whole: tuple[int, ...]
    rest: tuple[int, ...]

    def boundary(self, rest: int) -> TokenBoundary:
        """Give the boundary; `rest` is in bytes."""
        return TokenBoundary(len(self.whole), token_digest(self.whole), rest)


def token_digest(tokens: Sequence[int]) -> bytes:
    """Digest tokens as the engine does for a boundary: SHA-256 of each as four bytes, the lowest first."""
    return hashlib.sha256(struct.pack(f"<{len(tokens)}I", *tokens)).digest()


def followed(leading: Conversation, successor: Successor) -> tuple[Conversation, Conversation] | None:
    """Give the two conversations to be rendered; None where there is none that an engine would take."""
    one, other = (_followed(leading, successor, first) for first in _FIRST)
    return None if one is None or other is None else (one, other)


def common_prefix(one: JsonValue, other: JsonValue, block_size: int) -> CommonPrefix | None:
    """Compare what two renders gave as their tokens.

    None where it is no tokens, or where the sentinel doesn't show: then nothing is known.
    """
    tokens, others = _tokens(one), _tokens(other)
    if tokens is None or others is None:
        return None
    pairs = enumerate(zip(tokens, others, strict=False))
    common = next((at for at, (token, another) in pairs if token != another), None)
    if common is None:
        return None
    sure = max(0, common - _UNSURE)
    whole = sure - sure % block_size
    return CommonPrefix(tuple(tokens[:whole]), tuple(tokens[whole:common]))


def _tokens(value: JsonValue) -> list[int] | None:
    if not isinstance(value, list):
        return None
    tokens = [one for one in value if type(one) is int and 0 <= one <= _MOST_TOKEN]
    return tokens if len(tokens) == len(value) else None


def _followed(leading: Conversation, successor: Successor, first: str) -> Conversation | None:
    tools, messages = list(leading.get(Kind.TOOL, ())), list(leading.get(Kind.MESSAGE, ()))
    if successor.kind is Kind.TOOL:
        tools.append(_tool(first))
    else:
        message = _message(messages, successor.role, first)
        if message is None:
            return None
        messages.append(message)
    if successor.role in _LEADING or not any(_role(one) == "user" for one in messages):
        messages.append({"role": "user", "content": _word(first)})  # some templates insist on one
    return {Kind.TOOL: tools, Kind.MESSAGE: messages} if tools else {Kind.MESSAGE: messages}


def _tool(first: str) -> JsonValue:
    parameters: JsonValue = {"type": "object", "properties": {}}
    function: JsonValue = {"name": _word(first), "description": _word(first), "parameters": parameters}
    return {"type": "function", "function": function}


def _message(before: Sequence[JsonValue], role: str | None, first: str) -> JsonValue:
    """Make a message of a role; None where none is possible after those before."""
    if role not in _ROLES:
        return None
    if role != "tool":
        return {"role": role, "content": _word(first)}
    call = _last_call(before)
    return None if call is None else {"role": role, "content": _word(first), "tool_call_id": call}


def _last_call(messages: Sequence[JsonValue]) -> str | None:
    """Give the id of the first call that isn't answered, or else of the last call; None without any."""
    calls: list[str] = []
    answered: set[JsonValue] = set()
    for message in messages:
        if not isinstance(message, dict):
            continue
        made = message.get("tool_calls")
        ids = [one.get("id") for one in made if isinstance(one, dict)] if isinstance(made, list) else []
        calls += [one for one in ids if isinstance(one, str)]
        told = message.get("tool_call_id")
        if isinstance(told, str):
            answered.add(told)
    return next((one for one in calls if one not in answered), calls[-1] if calls else None)


def _role(message: JsonValue) -> JsonValue:
    return message.get("role") if isinstance(message, dict) else None


def _word(first: str) -> str:
    return first + secrets.token_hex(_FIRST[first] // 2)
