"""The HTTP interface: chat completions, capabilities, models, health, readiness, metrics."""

import json
from collections.abc import AsyncIterator
from typing import Final

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cctest.contract.capabilities import to_json
from cctest.contract.sharing import Context
from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import Reuse
from reference_gateway.approximate import Approximate, without_approximate
from reference_gateway.backend import Answer, Backend, Forwarded, Served, Streamed
from reference_gateway.callers.aside import aside
from reference_gateway.callers.front import Front
from reference_gateway.callers.hangup import unless_gone
from reference_gateway.completion import DONE, Completion
from reference_gateway.nonce import Nonces
from reference_gateway.plan import Plan, make_plan
from reference_gateway.refusal import (
    RefusalError,
    model_not_found,
    models_unknown,
    template_not_allowed,
    too_many_fragments,
)
from reference_gateway.request import jsontext
from reference_gateway.request.intake import ChatRequest, read_chat_request
from reference_gateway.responses import (
    EventStream,
    JsonText,
    Relayed,
    disconnected,
    event,
    fault,
    http_error,
    refused,
)
from reference_gateway.status import cache_status
from reference_gateway.telemetry.exchange import current, note_error
from reference_gateway.telemetry.metrics import CONTENT_TYPE
from reference_gateway.telemetry.observer import Observer

LARGE: Final = 16_384
"""A body of so many bytes is read off the event loop."""
LARGE_ANSWER: Final = 262_144
"""And so is an engine's answer of so many characters written: on the loop depends everybody's deadline."""

_CHAT: Final = "/v1/chat/completions"
_STATUS: Final = "cache_status"
_REQUEST_NAMES: Final = Nonces(16)


class Gateway:
    """The end points over one backend."""

    def __init__(self, backend: Backend, front: Front, approximate: Approximate) -> None:
        self._backend = backend
        self._front = front
        self._credentials = front.credentials
        self._approximate = approximate

    async def chat_completions(self, request: Request) -> Response:
        """POST /v1/chat/completions. The caller is identified before anything else is looked at."""
        caller = await self._caller(request)
        exchange = current()
        if not exchange.admitted:
            exchange.hold(self._front.admission.enter(caller))
            exchange.admitted = True
        body = await self._front.bodies.read(request, caller)
        if len(body) < LARGE:
            chat, plan = self._take(body, caller)
        else:
            chat, plan = await aside(lambda: self._take(body, caller))
        self._front.namespaces.use(caller.tenant, plan)
        exchange.fragments = len(plan.fragments)
        answer = await unless_gone(request.receive, self._backend.serve(plan))
        if isinstance(answer, Forwarded) and len(answer.text) >= LARGE_ANSWER:
            return await aside(lambda: self._response(chat, plan, answer))
        return self._response(chat, plan, answer)

    async def capabilities(self, _: Request) -> Response:
        """GET /v1/cache_intent_capabilities, open to everybody (BND-8, READ-13)."""
        return JSONResponse({"cache_intent_capabilities": to_json(self._backend.capabilities)})

    async def models(self, request: Request) -> Response:
        """GET /v1/models."""
        await self._caller(request)
        models = [
            {
                "id": name,
                "object": "model",
                "created": 0,
                "owned_by": "reference-gateway",
                "rendered_order": str(self._backend.order(name).order),
            }
            for name in self._backend.models
        ]
        return JSONResponse({"object": "list", "data": models})

    async def health(self, _: Request) -> Response:
        """GET /healthz."""
        return JSONResponse({"status": "ok"})

    async def readiness(self, _: Request) -> Response:
        """GET /readyz: whether requests can be served now."""
        ready = self._backend.ready
        told = {"status": "ready" if ready else "the engine is not up"}
        if self._credentials.problem is not None:
            told["credentials"] = "the credentials file is wrong; the last good one is in force"
        return JSONResponse(told, 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:
        """GET /metrics, in Prometheus' text format."""
        self._front.authorize_scrape(request.headers.get("authorization", ""))
        return Response(self._front.metrics.text(), media_type=CONTENT_TYPE)

    async def _caller(self, request: Request) -> Context:
        """Identify the caller by the credentials as they are now. Raises RefusalError."""
        if self._credentials.outdated():
            await self._credentials.follow()
        given = [value for name, value in request.scope["headers"] if name == b"authorization"]
        return self._credentials.identify([value.decode("latin-1") for value in given])

    def _response(self, chat: ChatRequest, plan: Plan, answer: Answer) -> Response:
        if isinstance(answer, Streamed):
            return Relayed(self._relay(plan, answer.chunks), answer.close)
        if isinstance(answer, Forwarded):
            return JsonText(self._with_status(plan, answer))
        completion = Completion(chat.model, answer, self._status(plan, answer))
        if not chat.stream:
            return JSONResponse(completion.plain())
        return EventStream(_stream(completion, include_usage=chat.include_usage))

    async def _relay(self, plan: Plan, chunks: AsyncIterator[list[str | Forwarded]]) -> AsyncIterator[bytes]:
        """Spell a stream; one that broke off ends in an error event and without `[DONE]`."""
        try:
            async for together in chunks:
                yield b"".join(
                    event(self._with_status(plan, chunk)) + DONE
                    if isinstance(chunk, Forwarded)
                    else event(chunk)
                    for chunk in together
                )
        except RefusalError as error:
            note_error(error.code)
            yield event(json.dumps(error.body()))

    def _with_status(self, plan: Plan, answer: Forwarded) -> str:
        """Put our own status, and nobody else's, into an engine's response object (READ-10)."""
        status = self._status(plan, answer)
        if status is None:
            return jsontext.without(answer.text, (_STATUS,))
        return jsontext.with_member(answer.text, _STATUS, orjson.dumps(status).decode())

    def _status(self, plan: Plan, answer: Served | Forwarded) -> list[JsonValue] | None:
        self._front.metrics.observed(
            observed.outcome
            for one, observed in zip(plan.fragments, answer.fragments, strict=True)
            if one.governed
        )
        return cache_status(plan, answer, self._backend.capabilities.reuse_within_max)

    def _take(self, body: bytes, caller: Context) -> tuple[ChatRequest, Plan]:
        """Read and plan one request. Raises RefusalError."""
        chat = read_chat_request(body)
        if len(chat.fragments) > self._front.limits.fragments:
            raise too_many_fragments(self._front.limits.fragments)
        if chat.own_template is not None and not self._front.allow_chat_template:
            raise template_not_allowed(chat.own_template)
        capabilities = self._backend.capabilities
        if self._approximate is Approximate.UNENFORCEABLE and Reuse.APPROXIMATE not in capabilities.reuse:
            chat = without_approximate(chat, capabilities.on_unenforceable)
        order = self._backend.order(chat.model)
        plan = make_plan(chat, caller, _REQUEST_NAMES(), capabilities, order)
        if not self._backend.models:
            raise models_unknown()
        if chat.model not in self._backend.models:
            raise model_not_found(chat.model, self._backend.models)
        return chat, plan


class _ChatFirst:
    """Answers chat requests by itself, at a third of what the way through all the routes costs."""

    def __init__(self, gateway: Gateway, routes: ASGIApp) -> None:
        self._gateway = gateway
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != _CHAT or scope["method"] != "POST":
            await self._routes(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except Exception as error:
            await (await fault(request, error))(scope, receive, send)
            raise  # the server tells it in its log
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        try:
            return await self._gateway.chat_completions(request)
        except RefusalError as error:
            return await refused(request, error)
        except ClientDisconnect as error:
            return await disconnected(request, error)


def create_app(backend: Backend, front: Front, approximate: Approximate = Approximate.EXACT) -> ASGIApp:
    """Make the ASGI application."""
    gateway = Gateway(backend, front, approximate)
    routes = Starlette(
        lifespan=lambda _: backend.running(),
        routes=[
            Route(_CHAT, gateway.chat_completions, methods=["POST"]),
            Route("/v1/cache_intent_capabilities", gateway.capabilities, methods=["GET"]),
            Route("/v1/models", gateway.models, methods=["GET"]),
            Route("/healthz", gateway.health, methods=["GET"]),
            Route("/readyz", gateway.readiness, methods=["GET"]),
            Route("/metrics", gateway.metrics, methods=["GET"]),
        ],
        exception_handlers={
            RefusalError: refused,
            HTTPException: http_error,
            ClientDisconnect: disconnected,
            Exception: fault,
        },
    )
    return Observer(_ChatFirst(gateway, routes), front.log, front.metrics)


async def _stream(completion: Completion, *, include_usage: bool) -> AsyncIterator[bytes]:
    for spelt in completion.events(include_usage=include_usage):
        yield spelt
