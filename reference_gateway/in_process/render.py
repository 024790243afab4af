"""The embedded engine's template and tokenizer.

The template renders all tools in array order, then all messages, then the prompt for an answer: that tools
come first is thus established by construction (BND-2). It reads the members listed here and no others, so
neither an intent nor a body member that names a partition is part of the model input (BND-4, BND-6); what
those members hold is rendered whole, whatever names occur inside.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from cctest.contract.source import JsonValue
from reference_gateway.request.intake import Fragment, Kind

TOKEN_BYTES: Final = 4
"""Most bytes of UTF-8 in a token."""

_MESSAGE_MEMBERS: Final = (
    "role",
    "name",
    "content",
    "refusal",
    "tool_calls",
    "function_call",
    "tool_call_id",
)
_FUNCTION_MEMBERS: Final = ("name", "description", "parameters", "strict")
_CUSTOM_MEMBERS: Final = ("name", "description", "format")


def render(fragment: Fragment) -> str:
    """Give the model input that a fragment is rendered as. Members keep the order of the template."""
    if fragment.kind is Kind.TOOL:
        return f"<|tool|>{_spell(_tool(fragment.value))}<|end|>"
    return f"<|message|>{_spell(_message(fragment.value))}<|end|>"


def tokenize(text: str) -> tuple[bytes, ...]:
    """Cut a text into tokens. Fragments are tokenized one by one, so that no token straddles two of them."""
    encoded = text.encode()
    return tuple(encoded[start : start + TOKEN_BYTES] for start in range(0, len(encoded), TOKEN_BYTES))


ANSWER_PROMPT: Final = tokenize("<|answer|>")
"""What the template puts after the last fragment."""


def _spell(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _only(members: Iterable[str], value: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value[name] for name in members if value.get(name) is not None}


def _tool(tool: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    kind = tool.get("type")
    rendered: dict[str, JsonValue] = {"type": kind}
    for name, members in (("function", _FUNCTION_MEMBERS), ("custom", _CUSTOM_MEMBERS)):
        described = tool.get(name)
        if isinstance(described, dict):
            rendered[name] = _only(members, described)
    return rendered


def _message(message: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    rendered = _only(_MESSAGE_MEMBERS, message)
    content = rendered.get("content")
    if isinstance(content, list):
        rendered["content"] = [_part(part) for part in content]
    return rendered


def _part(part: JsonValue) -> JsonValue:
    if not isinstance(part, dict):
        return part
    kind = part.get("type")
    return _only(("type", kind) if isinstance(kind, str) else (), part)
