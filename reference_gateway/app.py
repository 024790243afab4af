"""The HTTP interface: chat completions, capabilities, models, health."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Final

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from cctest.contract.capabilities import to_json
from cctest.contract.sharing import Context
from reference_gateway.backend import Backend
from reference_gateway.completion import Completion
from reference_gateway.credentials import Credentials
from reference_gateway.intake import ChatRequest, read_chat_request
from reference_gateway.plan import Plan, make_plan
from reference_gateway.refusal import RefusalError, model_not_found, too_large
from reference_gateway.status import cache_status

BODY_LIMIT: Final = 1024 * 1024
"""Most bytes in a request body."""
LARGE: Final = 16_384
"""A body of so many bytes is read off the event loop."""


class Gateway:
    """The end points over one backend."""

    def __init__(self, backend: Backend, credentials: Credentials) -> None:
        self._backend = backend
        self._credentials = credentials

    async def chat_completions(self, request: Request) -> Response:
        """POST /v1/chat/completions. The caller is identified before anything else is looked at."""
        caller = self._credentials.identify(request.headers.getlist("authorization"))
        body = await _read_body(request)
        if len(body) < LARGE:
            chat, plan = self._take(body, caller)
        else:
            chat, plan = await asyncio.to_thread(self._take, body, caller)
        served = await self._backend.serve(plan)
        status = cache_status(plan, served, self._backend.capabilities.reuse_within_max)
        completion = Completion(chat.model, served, status)
        if not chat.stream:
            return JSONResponse(completion.plain())
        return StreamingResponse(
            _stream(completion, include_usage=chat.include_usage),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-cache"},
        )

    async def capabilities(self, _: Request) -> Response:
        """GET /v1/cache_intent_capabilities, open to everybody (BND-8, READ-13)."""
        return JSONResponse({"cache_intent_capabilities": to_json(self._backend.capabilities)})

    async def models(self, request: Request) -> Response:
        """GET /v1/models."""
        self._credentials.identify(request.headers.getlist("authorization"))
        models = [
            {"id": name, "object": "model", "created": 0, "owned_by": "reference-gateway"}
            for name in self._backend.models
        ]
        return JSONResponse({"object": "list", "data": models})

    async def health(self, _: Request) -> Response:
        """GET /healthz."""
        return JSONResponse({"status": "ok"})

    def _take(self, body: bytes, caller: Context) -> tuple[ChatRequest, Plan]:
        """Read and plan one request. Raises RefusalError."""
        chat = read_chat_request(body)
        plan = make_plan(chat, caller, secrets.token_hex(16), self._backend.capabilities)
        if chat.model not in self._backend.models:
            raise model_not_found(chat.model, self._backend.models)
        return chat, plan


def create_app(backend: Backend, credentials: Credentials) -> Starlette:
    """Make the ASGI application."""
    gateway = Gateway(backend, credentials)
    return Starlette(
        routes=[
            Route("/v1/chat/completions", gateway.chat_completions, methods=["POST"]),
            Route("/v1/cache_intent_capabilities", gateway.capabilities, methods=["GET"]),
            Route("/v1/models", gateway.models, methods=["GET"]),
            Route("/healthz", gateway.health, methods=["GET"]),
        ],
        exception_handlers={
            RefusalError: _refused,
            HTTPException: _http_error,
            ClientDisconnect: _disconnected,
            Exception: _fault,
        },
    )


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > BODY_LIMIT:
            raise too_large(BODY_LIMIT)
    return bytes(body)


async def _stream(completion: Completion, *, include_usage: bool) -> AsyncIterator[bytes]:
    for event in completion.events(include_usage=include_usage):
        yield event


async def _refused(_: Request, error: Exception) -> Response:
    if not isinstance(error, RefusalError):
        raise error
    return JSONResponse(error.body(), error.status, error.headers)


async def _http_error(_: Request, error: Exception) -> Response:
    """Answer an unknown path or method in the shape of every other error."""
    if not isinstance(error, HTTPException):
        raise error
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    return JSONResponse(
        RefusalError(error.status_code, code, error.detail).body(),
        error.status_code,
        dict(error.headers or {}),
    )


async def _disconnected(_: Request, __: Exception) -> Response:
    """End an exchange whose caller has gone; nobody reads the response."""
    return Response(status_code=400)


async def _fault(_: Request, __: Exception) -> Response:
    return JSONResponse(RefusalError(500, "internal_error", "internal fault of the gateway").body(), 500)
