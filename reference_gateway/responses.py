"""What the end points answer with: a JSON text, a stream of events, an error in the shape of every other."""

import contextlib
from collections.abc import AsyncIterator, Callable

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from reference_gateway.callers.hangup import unless_gone
from reference_gateway.refusal import RefusalError, code_of
from reference_gateway.telemetry.exchange import note_error


class JsonText(Response):
    """A JSON text, with no more headers than it needs."""

    def __init__(self, text: str) -> None:
        self.status_code = 200
        self.background = None
        self.body = text.encode()
        self.raw_headers = [
            (b"content-length", b"%d" % len(self.body)),
            (b"content-type", b"application/json"),
        ]


class EventStream(StreamingResponse):
    """A stream of server-sent events, for as long as somebody listens."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes]) -> None:
        super().__init__(events, headers={"Cache-Control": "no-cache"})

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        with contextlib.suppress(ClientDisconnect):
            await unless_gone(receive, self.stream_response(send))


class Relayed(EventStream):
    """A stream that an engine is still writing, whose work ends with it, however it ends."""

    def __init__(self, events: AsyncIterator[bytes], close: Callable[[], None]) -> None:
        super().__init__(events)
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and end the work for it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._close()


def event(text: str) -> bytes:
    """Spell an event with this data."""
    return f"data: {text}\n\n".encode()


async def refused(_: Request, error: Exception) -> Response:
    """Answer a refusal."""
    if not isinstance(error, RefusalError):
        raise error
    note_error(error.code)
    return JSONResponse(error.body(), error.status, error.headers)


async def http_error(_: Request, error: Exception) -> Response:
    """Answer an unknown path or method in the shape of every other error."""
    if not isinstance(error, HTTPException):
        raise error
    code = code_of(error.status_code)
    note_error(code)
    return JSONResponse(
        RefusalError(error.status_code, code, error.detail).body(),
        error.status_code,
        dict(error.headers or {}),
    )


async def disconnected(_: Request, __: Exception) -> Response:
    """End an exchange whose caller has gone; nobody reads the response."""
    note_error("client_gone")
    return Response(status_code=400)


async def fault(_: Request, __: Exception) -> Response:
    """Answer where the fault is the gateway's own, and tell nothing of it."""
    note_error("internal_error")
    return JSONResponse(RefusalError(500, "internal_error", "internal fault of the gateway").body(), 500)
