"""The engine's template and tokenizer: all tools in array order, then all messages, then the answer's prompt.

It renders the members listed here and no others: a `cache_intent` or a `cache_salt` that a gateway left on a
fragment is no model input here, as in vLLM.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Final

from cctest.contract.source import JsonValue

TOKEN_BYTES: Final = 4
"""Most bytes of UTF-8 in a token."""

_NO_UTF_8: Final = b"\xff"

_TOOL: Final = ("type", "function", "custom")
_MESSAGE: Final = (
    *("role", "name", "content", "refusal", "reasoning_content"),
    *("tool_calls", "function_call", "tool_call_id"),
)
_FUNCTION: Final = ("name", "description", "parameters", "strict", "format")
_ENVELOPE: Final = ("chat_template", "chat_template_kwargs", "documents")


def render(tools: Iterable[JsonValue], messages: Iterable[JsonValue]) -> list[bytes]:
    """Give the tokens of the model input. Each fragment is tokenized by itself."""
    texts = [f"<|tool|>{_spell(_tool(tool))}<|end|>" for tool in tools]
    texts += [f"<|message|>{_spell(_message(message))}<|end|>" for message in messages]
    return [token for text in (*texts, "<|answer|>") for token in tokenize(text)]


def tokenize(text: str) -> list[bytes]:
    """Cut a text into tokens of at most four bytes."""
    encoded = text.encode("utf-8", "surrogatepass")
    return [encoded[start : start + TOKEN_BYTES] for start in range(0, len(encoded), TOKEN_BYTES)]


def token_octets(token: bytes) -> bytes:
    """Give a token as four bytes: those that it lacks are ones that no UTF-8 has."""
    return token.ljust(TOKEN_BYTES, _NO_UTF_8)


def token_number(token: bytes) -> int:
    """Give the number of a token, below 2**32."""
    return int.from_bytes(token_octets(token), "little")


def numbered_token(number: int) -> bytes:
    """Give the token of a number. Raises OverflowError for what is none."""
    return number.to_bytes(TOKEN_BYTES, "little").rstrip(_NO_UTF_8)


def execution_identity(model: str, members: Mapping[str, JsonValue]) -> bytes:
    """Hash what must be equal for state to be reusable, besides the tokens.

    Body members that change how the whole input is rendered count as part of it: state is not reused at all
    where they differ.
    """
    rendering = {name: members[name] for name in _ENVELOPE if members.get(name) is not None}
    return hashlib.sha256(_spell([model, rendering]).encode("utf-8", "surrogatepass")).digest()


def _spell(value: "JsonValue") -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _only(names: Iterable[str], value: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value[name] for name in names if value.get(name) is not None}


def _tool(tool: JsonValue) -> JsonValue:
    if not isinstance(tool, dict):
        return tool
    rendered = _only(_TOOL, tool)
    for name, value in rendered.items():
        if isinstance(value, dict):
            rendered[name] = _only(_FUNCTION, value)
    return rendered


def _message(message: JsonValue) -> JsonValue:
    if not isinstance(message, dict):
        return message
    rendered = _only(_MESSAGE, message)
    content = rendered.get("content")
    if isinstance(content, list):
        rendered["content"] = [_part(part) for part in content]
    return rendered


def _part(part: JsonValue) -> JsonValue:
    if not isinstance(part, dict):
        return part
    kind = part.get("type")
    return _only(("type", kind) if isinstance(kind, str) else (), part)
