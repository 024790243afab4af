"""The engine's own side: what a gateway talks to. Everything that arrives here is recorded."""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from starlette.types import Receive, Scope, Send

from cctest import __version__
from cctest.contract.source import JsonValue
from cctest.instrument.answer import Answer, new_canary
from cctest.instrument.intake import (
    ComputedRequest,
    RefusalError,
    numbered,
    read_chat_request,
    read_completion_request,
    read_members,
    rendered,
)
from cctest.instrument.items import NamedItems
from cctest.instrument.misbehaviour import AnswerFault, Cut, CutHow, ErrorBody, Misbehaviour, Rules
from cctest.instrument.prefix_cache import PrefixCache
from cctest.instrument.record import Ending, Entry, Record
from cctest.instrument.settings import Settings
from cctest.instrument.stream import done, event, events
from cctest.instrument.template import token_number, tokenize
from cctest.instrument.visit import JSON, ClientGoneError, CutError, Visit

LARGE: Final = 32_768
"""A body of so many bytes is computed off the event loop."""

PLUGIN: Final = "vllm_cache_regions"
PLUGIN_VERSION: Final = "0.1.0"
"""What an engine with regions says that it has; gateways look for it."""
EVENT_STREAM: Final = "text/event-stream; charset=utf-8"
BROKEN: Final = b'{"error": {"message": "broken off'

Handler: TypeAlias = Callable[[Visit, bytes], Awaitable[None]]
Reader: TypeAlias = Callable[[Mapping[str, JsonValue], Settings], ComputedRequest]


class InstrumentedEngine:
    """An ASGI application: chat completions, models, version, health.

    With regions also what a gateway needs for them: completions of tokens, what becomes of a conversation
    and of a text, and what the plugin says of itself.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.record = Record()
        self.rules = Rules()
        self._cache = PrefixCache(settings.block_size, settings.capacity_blocks)
        self._items = NamedItems()
        self._routes: dict[str, tuple[str, Handler]] = {
            "/v1/chat/completions": ("POST", self._chat),
            "/v1/models": ("GET", self._models),
            "/version": ("GET", self._version),
            "/health": ("GET", self._health),
        }
        if settings.regions:
            self._routes |= {
                "/cache_regions": ("GET", self._cache_regions),
                "/v1/completions": ("POST", self._complete),
                "/v1/chat/completions/render": ("POST", self._render),
                "/tokenize": ("POST", self._tokenize),
                "/detokenize": ("POST", self._detokenize),
            }
        self._instance = secrets.token_hex(8)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, and record it."""
        if scope["type"] != "http":
            return
        entry = self.record.open(scope["method"], _path(scope), scope["headers"])
        with Visit(self.record, entry, receive, send) as visit:
            try:
                await self._serve(visit, scope["path"])
            except ClientGoneError:
                visit.end(Ending.CLIENT_GONE)
            except (CutError, asyncio.CancelledError):
                visit.end(Ending.CUT)
            except Exception:
                visit.end(Ending.REFUSED if entry.status is None else Ending.CUT)
                entry.status = entry.status or 500
                raise

    async def _serve(self, visit: Visit, path: str) -> None:
        try:
            body = await visit.read()
            await self._handler(visit.entry.method, path)(visit, body)
        except RefusalError as refusal:
            await visit.respond_json(refusal.status, refusal.body())

    def _handler(self, method: str, path: str) -> Handler:
        if path not in self._routes:
            raise RefusalError(404, "Not Found")
        served, handler = self._routes[path]
        if served != method:
            raise RefusalError(405, "Method Not Allowed")
        return handler

    async def _chat(self, visit: Visit, body: bytes) -> None:
        """POST /v1/chat/completions."""
        do = self.rules.take(body)
        visit.entry.misbehaviour = do.told
        if do.delay_look_up > 0:
            await visit.queue(do.delay_look_up)
        if do.status is not None:
            await visit.pause(do.delay_first)
            await _refuse(visit, do)
            return
        if len(body) < LARGE:
            request, cached = self._compute(visit.entry, body, read_chat_request, do)
        else:
            request, cached = await asyncio.to_thread(self._compute, visit.entry, body, read_chat_request, do)
        await visit.pause(do.delay_first)
        if do.answer is not None:
            await _answer_nothing(visit, do.answer, stream=request.stream)
            return
        answer = self._answer(visit.entry, cached, do)
        if request.stream:
            await _stream(visit, answer, do, include_usage=request.include_usage)
        else:
            await _respond(visit, answer, do)

    def _compute(
        self, entry: Entry, body: bytes, read: Reader, do: Misbehaviour
    ) -> tuple[ComputedRequest, int]:
        """Compute what a body asks for, record what was reused, and give what is told of it.

        What is told is of the last of several answers, which reads what the first has left, as in vLLM.
        Raises RefusalError.
        """
        members = read_members(body)
        entry.has_salt, entry.cache_salt = "cache_salt" in members, _flat(members.get("cache_salt"))
        recalled = self._items.recall(members)
        request = read(recalled.members, self.settings)
        regions = request.regions
        if request.carried is not None:
            entry.regions, entry.in_effect = request.carried.regions, regions
        entry.prompt_tokens, entry.recalled = len(request.tokens), recalled.count
        entry.looked_up = self.record.clock()
        counts = [
            self._cache.serve(
                request.tokens, regions, request.identity, look_up=request.looks_up, retain=do.retains
            )
            for _ in range(request.choices)
        ]
        entry.cached_tokens = counts[0]
        computed = do.retains and entry.prompt_tokens >= self.settings.block_size
        entry.retained = computed or counts[0] > 0
        entry.canaries = tuple(new_canary() for _ in counts)
        return request, counts[-1]

    def _answer(self, entry: Entry, cached: int, do: Misbehaviour) -> Answer:
        return Answer(
            model=self.settings.model,
            canaries=entry.canaries,
            prompt_tokens=entry.prompt_tokens or 0,
            cached_tokens=cached if self.settings.usage_details else None,
            finish_reason=do.finish_reason,
            usage_fault=do.usage,
        )

    async def _models(self, visit: Visit, _: bytes) -> None:
        model: JsonValue = {
            "id": self.settings.model,
            "object": "model",
            "created": 0,
            "owned_by": "cctest",
        }
        await visit.respond_json(200, {"object": "list", "data": [model]})

    async def _version(self, visit: Visit, _: bytes) -> None:
        await visit.respond_json(200, {"version": f"cctest-{__version__}"})

    async def _cache_regions(self, visit: Visit, _: bytes) -> None:
        """GET /cache_regions, as the plugin answers it."""
        told: dict[str, JsonValue] = {
            "plugin": PLUGIN,
            "version": PLUGIN_VERSION,
            "instance": self._instance,
            "active": True,
            "block_size": self.settings.block_size,
        }
        await visit.respond_json(200, told)

    async def _complete(self, visit: Visit, body: bytes) -> None:
        """POST /v1/completions; never streamed."""
        do = Misbehaviour()
        _, cached = self._compute(visit.entry, body, read_completion_request, do)
        answer = self._answer(visit.entry, cached, do)
        await visit.respond_json(200, answer.text_completion())

    async def _render(self, visit: Visit, body: bytes) -> None:
        """POST /v1/chat/completions/render."""
        await visit.respond_json(200, {"token_ids": _numbers(rendered(read_members(body)))})

    async def _tokenize(self, visit: Visit, body: bytes) -> None:
        """POST /tokenize: a `prompt`, or a conversation."""
        members = read_members(body)
        prompt = members.get("prompt")
        tokens = tokenize(prompt) if isinstance(prompt, str) else rendered(members)
        await visit.respond_json(200, {"count": len(tokens), "tokens": _numbers(tokens)})

    async def _detokenize(self, visit: Visit, body: bytes) -> None:
        """POST /detokenize."""
        tokens = numbered(read_members(body).get("tokens"), "tokens")
        await visit.respond_json(200, {"prompt": b"".join(tokens).decode("utf-8", "replace")})

    async def _health(self, visit: Visit, _: bytes) -> None:
        await visit.respond(200, b"")


def _path(scope: Scope) -> str:
    """Give path and query as they were sent."""
    path = bytes(scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
    query = bytes(scope["query_string"]).decode("latin-1")
    return f"{path}?{query}" if query else path


def _numbers(tokens: list[bytes]) -> list[JsonValue]:
    return [token_number(token) for token in tokens]


def _flat(salt: JsonValue) -> JsonValue:
    """Bound what the record keeps of a salt: an array or object in full is in the recorded body."""
    if isinstance(salt, list):
        return []
    return {} if isinstance(salt, dict) else salt


async def _refuse(visit: Visit, do: Misbehaviour) -> None:
    if do.status is None:
        return
    error = RefusalError(do.status.code, "refused, as the instrumented engine was told to")
    bodies = {
        ErrorBody.ERROR: json.dumps(error.body()).encode(),
        ErrorBody.BROKEN: BROKEN,
        ErrorBody.EMPTY: b"",
    }
    body = bodies[do.status.body]
    await visit.begin(do.status.code, JSON, length=len(body), retry_after=do.status.retry_after)
    await visit.write(body)
    await visit.finish(Ending.REFUSED)


async def _answer_nothing(visit: Visit, fault: AnswerFault, *, stream: bool) -> None:
    null = event(None) + done() if stream else b"null"
    body = null if fault is AnswerFault.NULL else b""
    await visit.respond(200, body, EVENT_STREAM if stream else JSON)


async def _stream(visit: Visit, answer: Answer, do: Misbehaviour, *, include_usage: bool) -> None:
    await visit.begin(200, EVENT_STREAM)
    for number, spelt in enumerate(events(answer.chunks(include_usage=include_usage), do.dialects)):
        if number:
            await visit.pause(do.delay_between)
        if do.cut is not None and number == do.cut.after:
            await _cut_stream(visit, do.cut)
            return
        await visit.write(spelt)
    await visit.finish()


async def _cut_stream(visit: Visit, cut: Cut) -> None:
    if cut.how is CutHow.CLOSE:
        raise CutError
    if cut.how is CutHow.ERROR:
        await visit.write(event(_failure().body()) + done())
    await visit.finish(Ending.CUT)


async def _respond(visit: Visit, answer: Answer, do: Misbehaviour) -> None:
    body = json.dumps(answer.plain()).encode()
    half = body[: len(body) // 2]
    if do.cut is None:
        await visit.respond(200, body)
    elif do.cut.how is CutHow.CLOSE:
        await visit.begin(200, JSON, length=len(body))
        await visit.write(half)
        raise CutError
    else:
        told = json.dumps(_failure().body()).encode() if do.cut.how is CutHow.ERROR else half
        await visit.begin(200, JSON, length=len(told))
        await visit.write(told)
        await visit.finish(Ending.CUT)


def _failure() -> RefusalError:
    return RefusalError(500, "broken off, as the instrumented engine was told to")
