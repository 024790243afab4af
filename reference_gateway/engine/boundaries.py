"""The token boundaries between groups of fragments, asked of the engine that renders them, and remembered.

Nothing rests on an answer being right: the engine compares the tokens that it gets with the digest. A wrong
one, or none, costs reuse.

What is remembered is remembered under the salt of its group, whoever asks: that a boundary is known already,
and so comes sooner, can be seen only by those who may share the state itself (STA-11). It is forgotten after
a minute, since templates may hold the date, and no later than the state may be reused. Of a group of which
nothing may be retained, no end is ever asked for.
"""

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from cctest.contract.source import JsonValue
from reference_gateway.engine.forwarding import forwarded_fragments
from reference_gateway.lowering.regions import MOST_GROUPS, Group
from reference_gateway.plan import Plan
from reference_gateway.rendering.boundary import Successor, TokenBoundary, common_prefix, followed
from reference_gateway.request.intake import Kind

SECONDS: Final = 2.0
"""Most seconds that a request waits for its boundaries."""
LIFETIME: Final = 60.0
"""Seconds for which a boundary is remembered."""
RETRY_SECONDS: Final = 5.0
"""Where none was found, it is asked for again after this time."""
CAPACITY: Final = 4096
"""Boundaries remembered."""
MOST_BYTES: Final = 4 * 1024 * 1024
"""Of leading fragments that are rendered for one request, all boundaries together; later ones do without."""

_LARGE: Final = 16_384
"""A request of so many characters, and what belongs to it, is spelt and compared off the event loop."""
_LONGEST_TOKEN: Final = 128
"""Bytes of text in the longest token of the vocabularies in use."""
_RENDER: Final = "/v1/chat/completions/render"
_TOKENIZE: Final = "/tokenize"
_DETOKENIZE: Final = "/detokenize"
_TOKENS: Final = {_RENDER: "token_ids", _TOKENIZE: "tokens"}
_ABSENT: Final = (403, 404, 405, 501)
"""How an end point says that it isn't there; vLLM forbids those that it wasn't started with."""


class Engine(Protocol):
    """What answers a POST of `body` to `path`: the status and the JSON; None where no such answer comes."""

    async def ask(self, path: str, body: bytes) -> tuple[int, JsonValue] | None:
        """Ask once."""


@dataclass(frozen=True, slots=True)
class _Question:
    """The leading fragments as they are forwarded, what comes next, and whose question it is."""

    key: bytes
    tools: tuple[bytes, ...]
    messages: tuple[bytes, ...]
    size: int
    successor: Successor
    envelope: Mapping[str, JsonValue]
    lifetime: float


@dataclass(frozen=True, slots=True)
class _Known:
    boundary: TokenBoundary | None
    until: float


class _Memory:
    """What was found out about one engine, and what is being asked of it."""

    def __init__(self) -> None:
        self.known: OrderedDict[bytes, _Known] = OrderedDict()
        self.asked: dict[bytes, asyncio.Task[TokenBoundary | None]] = {}
        self.path = _RENDER


class Boundaries:
    """Finds boundaries out. `clock` gives monotonic seconds."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._memory = _Memory()

    def forget(self) -> None:
        """Know nothing any more: the engine is away, or another one. Answers to come count for nothing."""
        memory, self._memory = self._memory, _Memory()
        for task in memory.asked.values():
            task.cancel()

    async def after(
        self, plan: Plan, groups: Sequence[Group], block_size: int, seconds: float
    ) -> tuple[TokenBoundary | None, ...]:
        """Give the ends of all groups but the last; None where it isn't known within so many `seconds`."""
        ending = groups[:-1][: MOST_GROUPS - 1]
        if len(plan.request.text) < _LARGE:
            questions = _questions(plan, ending)
        else:
            questions = await asyncio.to_thread(_questions, plan, ending)
        memory = self._memory
        known = [self._recalled(memory, one) for one in questions]
        missing = [
            self._task(memory, one, block_size)
            for one, at in zip(questions, known, strict=True)
            if at is None
        ]
        if missing:
            await asyncio.wait(missing, timeout=max(0.0, min(seconds, SECONDS)))
        answers = [self._recalled(memory, one) for one in questions]
        found = [None if answer is None else answer.boundary for answer in answers]
        return (*found, *(None,) * (len(groups) - 1 - len(found)))

    def _recalled(self, memory: _Memory, question: _Question) -> _Known | None:
        known = memory.known.get(question.key)
        if known is None:
            return None
        if self._clock() >= known.until:
            del memory.known[question.key]
            return None
        memory.known.move_to_end(question.key)
        return known

    def _task(
        self, memory: _Memory, question: _Question, block_size: int
    ) -> asyncio.Task[TokenBoundary | None]:
        """Ask, or join whoever is asking the same. What one waits for goes on when another one leaves."""
        task = memory.asked.get(question.key)
        if task is None:
            task = asyncio.create_task(self._found_out(memory, question, block_size))
            memory.asked[question.key] = task
            task.add_done_callback(lambda _: memory.asked.pop(question.key, None))
        return task

    async def _found_out(self, memory: _Memory, question: _Question, block_size: int) -> TokenBoundary | None:
        asked_at = self._clock()
        try:
            async with asyncio.timeout(SECONDS):
                found = await self._measured(memory, question, block_size)
        except TimeoutError:
            found = None
        lifetime = question.lifetime if found is not None else min(RETRY_SECONDS, question.lifetime)
        memory.known[question.key] = _Known(found, asked_at + lifetime)
        while len(memory.known) > CAPACITY:
            memory.known.popitem(last=False)
        return found

    async def _measured(self, memory: _Memory, question: _Question, block_size: int) -> TokenBoundary | None:
        large = question.size >= _LARGE
        bodies = await asyncio.to_thread(_bodies, question) if large else _bodies(question)
        if bodies is None:
            return None
        one, other = await asyncio.gather(*(self._tokens(memory, body) for body in bodies))
        if large:
            prefix = await asyncio.to_thread(common_prefix, one, other, block_size)
        else:
            prefix = common_prefix(one, other, block_size)
        if prefix is None:
            return None
        return prefix.boundary(await self._bytes(question.envelope["model"], prefix.rest))

    async def _tokens(self, memory: _Memory, body: bytes) -> JsonValue:
        """Have a conversation rendered; None where the engine doesn't."""
        path = memory.path
        answer = await self._engine.ask(path, body)
        if answer is not None and answer[0] in _ABSENT and path == _RENDER:
            path = memory.path = _TOKENIZE
            answer = await self._engine.ask(path, body)
        if answer is None or answer[0] != 200 or not isinstance(answer[1], dict):
            return None
        return answer[1].get(_TOKENS[path])

    async def _bytes(self, model: JsonValue, tokens: Sequence[int]) -> int:
        """Give the most bytes of text that tokens hold; one more for each, of what decoding leaves out."""
        if not tokens:
            return 0
        body = json.dumps({"model": model, "tokens": list(tokens)}).encode()
        answer = await self._engine.ask(_DETOKENIZE, body)
        told = answer[1] if answer is not None and answer[0] == 200 else None
        text = told.get("prompt") if isinstance(told, dict) else None
        if not isinstance(text, str):
            return len(tokens) * _LONGEST_TOKEN
        return len(text.encode("utf-8", "replace")) + len(tokens)


def _questions(plan: Plan, ending: Sequence[Group]) -> list[_Question]:
    """Make a question for the end of each group, as far as there is room."""
    if not ending:
        return []
    fragments = [one.fragment for one in plan.fragments[: ending[-1].end + 1]]
    spelt = forwarded_fragments(fragments[:-1])
    envelope = {"model": plan.request.model, **plan.request.rendering}
    tools = sum(one.kind is Kind.TOOL for one in fragments)
    questions, room = [], MOST_BYTES
    for group in ending:
        leading, successor = spelt[: group.end], Successor.of(fragments[group.end])
        size = sum(map(len, leading))
        room -= size
        if room < 0:
            break
        lifetime = LIFETIME if group.max_age is None else min(LIFETIME, group.max_age)
        key = _key(group.salt, leading, tools, successor, envelope)
        questions.append(
            _Question(key, leading[:tools], leading[tools:], size, successor, envelope, lifetime)
        )
    return questions


def _bodies(question: _Question) -> list[bytes] | None:
    leading = {
        str(Kind.TOOL): [json.loads(one) for one in question.tools],
        str(Kind.MESSAGE): [json.loads(one) for one in question.messages],
    }
    conversations = followed(leading, question.successor)
    if conversations is None:
        return None
    return [json.dumps({**question.envelope, **one}).encode() for one in conversations]


def _key(
    salt: str,
    leading: Sequence[bytes],
    tools: int,
    successor: Successor,
    envelope: Mapping[str, JsonValue],
) -> bytes:
    """Digest what an answer depends on, and under whose salt it is remembered."""
    named = [salt, min(tools, len(leading)), successor.kind, successor.role, envelope]
    digest = hashlib.sha256()
    for part in (json.dumps(named, sort_keys=True).encode(), *leading):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()
