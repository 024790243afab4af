"""Asks an engine how it renders conversations of sentinels (CMP-11, BND-2).

vLLM has two end points for that. `/v1/chat/completions/render` takes the very path that a chat request takes,
but has to be enabled. `/tokenize` is always there, yet for some models it renders otherwise than chat does:
so one chat request for a single token, on a partition of its own, has to agree with it.
"""

import asyncio
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from cctest.contract.source import JsonValue
from reference_gateway.rendering.rendered_order import Order, RenderedOrder, Rendering, judge
from reference_gateway.rendering.sentinels import Conversation, conversations
from reference_gateway.request.intake import Kind

_RENDER: Final = "/v1/chat/completions/render"
_TOKENIZE: Final = "/tokenize"
_DETOKENIZE: Final = "/detokenize"
_CHAT: Final = "/v1/chat/completions"
_TOKENS: Final = {_RENDER: "token_ids", _TOKENIZE: "tokens", _CHAT: "prompt_token_ids"}
"""The member of each answer that holds the prompt's tokens."""
_AT_ONCE: Final = 4
"""Conversations under way at a time."""
_ABSENT: Final = (404, 405, 501)
_REFUSED: Final = (400, 422)


class Engine(Protocol):
    """What answers a POST of `body` to `path`: the status and the JSON; None where no such answer comes."""

    async def ask(self, path: str, body: bytes) -> tuple[int, JsonValue] | None:
        """Ask once."""


class _Unanswered(Exception):
    """An end point that isn't there, or fails; the message says which and how."""


@dataclass(frozen=True, slots=True)
class _Refused:
    why: str


async def survey(engine: Engine, model: str) -> RenderedOrder:
    """Establish the rendered order of `model`; never raises for what the engine does."""
    reasons = []
    for path in (_RENDER, _TOKENIZE):
        try:
            renderings = await _renderings(engine, model, path)
            order = judge(renderings)
            if order.shapes and path == _TOKENIZE:
                await _check_against_chat(engine, model, _most_telling(renderings))
        except _Unanswered as unanswered:
            reasons.append(str(unanswered))
        else:
            return order
    return RenderedOrder(Order.NOT_ESTABLISHED, "; ".join(reasons))


def _most_telling(renderings: Sequence[Rendering]) -> Conversation:
    rendered = [one.conversation for one in renderings if one.prompt is not None]
    return max(rendered, key=lambda conversation: len(conversation.fragments))


async def _renderings(engine: Engine, model: str, path: str) -> list[Rendering]:
    """Have all conversations rendered; the first by itself, since it shows whether the end point is there."""
    first, *rest = conversations()
    found = [await _rendering(engine, model, path, first)]
    for start in range(0, len(rest), _AT_ONCE):
        asked = rest[start : start + _AT_ONCE]
        found += await asyncio.gather(*(_rendering(engine, model, path, one) for one in asked))
    return found


async def _rendering(engine: Engine, model: str, path: str, conversation: Conversation) -> Rendering:
    tokens = await _tokens(engine, model, path, conversation)
    if isinstance(tokens, _Refused):
        return Rendering(conversation, None, tokens.why)
    # Words are looked for in the text, since how a tokenizer cuts them depends on what stands beside them.
    told = await _told(engine, _DETOKENIZE, {"model": model, "tokens": tokens})
    prompt = None if isinstance(told, _Refused) else told.get("prompt")
    if not isinstance(prompt, str):
        raise _Unanswered(f"{_DETOKENIZE} gave no text")
    return Rendering(conversation, prompt)


async def _tokens(
    engine: Engine, model: str, path: str, conversation: Conversation
) -> list[JsonValue] | _Refused:
    body = _body(model, conversation)
    told = await _told(engine, path, _chat_body(body) if path == _CHAT else body)
    if isinstance(told, _Refused):
        return told
    tokens = told.get(_TOKENS[path])
    if not isinstance(tokens, list) or not tokens:
        raise _Unanswered(f"{path} gave no tokens")
    return tokens


async def _check_against_chat(engine: Engine, model: str, conversation: Conversation) -> None:
    """Have one conversation rendered both ways. Raises _Unanswered where they differ or can't be compared."""
    tokenized = await _tokens(engine, model, _TOKENIZE, conversation)
    chatted = await _tokens(engine, model, _CHAT, conversation)
    if isinstance(chatted, _Refused) or chatted != tokenized:
        raise _Unanswered(f"{_TOKENIZE} renders otherwise than chat does")


def _body(model: str, conversation: Conversation) -> dict[str, JsonValue]:
    body: dict[str, JsonValue] = {"model": model, "messages": conversation.elements(Kind.MESSAGE)}
    tools = conversation.elements(Kind.TOOL)
    return {**body, "tools": tools} if tools else body


def _chat_body(body: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Ask for one token, and for those of the prompt; in a partition that no caller's request is in."""
    return {**body, "max_tokens": 1, "return_token_ids": True, "cache_salt": secrets.token_hex(32)}


async def _told(engine: Engine, path: str, body: Mapping[str, JsonValue]) -> dict[str, JsonValue] | _Refused:
    """Ask once, or twice: without a parser for tool calls, an engine takes tools if none may be called."""
    told = await _answer(engine, path, body)
    if isinstance(told, _Refused) and "tools" in body:
        return await _answer(engine, path, {**body, "tool_choice": "none"})
    return told


async def _answer(
    engine: Engine, path: str, body: Mapping[str, JsonValue]
) -> dict[str, JsonValue] | _Refused:
    answer = await engine.ask(path, json.dumps(body).encode())
    if answer is None:
        raise _Unanswered(f"no answer from {path}")
    status, told = answer
    if status in _REFUSED:
        return _Refused(_message(told))
    if status in _ABSENT:
        raise _Unanswered(f"the engine has no {path}")
    if status != 200 or not isinstance(told, dict):
        raise _Unanswered(f"{path} failed with status {status}")
    return told


def _message(told: JsonValue) -> str:
    """Give what an error body says, in one short line."""
    error = told.get("error") if isinstance(told, dict) else None
    message = error.get("message") if isinstance(error, dict) else None
    return " ".join(str(message or "no reason given").split())[:200]
