"""Connections that ask too much before there is a request: too many, too slow, or with too large a head.

The web server bounds none of these by itself. What has become a request is bounded by the end points.
"""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from reference_gateway.exchange import note_error
from reference_gateway.front import Front
from reference_gateway.observer import Observer
from reference_gateway.plain_http import PlainHttpProtocol
from reference_gateway.refusal import RefusalError

_LOGGER: Final = logging.getLogger("uvicorn.connections")
_LOGGER.setLevel(logging.ERROR)  # what callers do wrong is counted, and no line of the log

_SWEEP_SECONDS: Final = 0.5
_UNREAD_BYTES: Final = 16 * 1024 * 1024
"""So much of a body that nobody wants is thrown away before the connection is closed."""


class GuardedProtocol(PlainHttpProtocol):
    """An HTTP connection within `front`'s limits, which `guarded` sets for all of them."""

    front: Front
    open: "set[GuardedProtocol]"
    refusing: ASGIApp

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = _LOGGER
        self._limits = self.front.limits
        self._serving = self.app
        self._in_head = False
        self._head_bytes = 0
        self._unread_bytes = 0
        self.waiting_since: float | None = None
        """Since when the caller owes us the rest of a head, or of a body that is only thrown away."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or turn it away if there are too many."""
        super().connection_made(transport)
        self.waiting_since = self.loop.time()
        self.open.add(self)
        if len(self.open) > self._limits.connections:
            self._turn_away(RefusalError(503, "server_busy", "too many connections; try again later"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self.open.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a head is bounded while it comes."""
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > self._limits.header_bytes:
                self._turn_away(_large_head(self._limits.header_bytes, self._limits.header_count))

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._in_head = True
        self._head_bytes = self._unread_bytes = 0
        self.waiting_since = self.loop.time()

    def on_headers_complete(self) -> None:
        """Serve a request whose head is there, or refuse it for its size."""
        self._in_head = False
        self.waiting_since = None
        headers = self.headers
        size = len(self.url) + sum([len(name) + len(value) for name, value in headers])
        large = len(headers) > self._limits.header_count or size > self._limits.header_bytes
        self.app = self.refusing if large else self._serving
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body; what comes after the answer is thrown away, up to a point."""
        if self.cycle.response_complete:
            self._unread_bytes += len(body)
            if self.waiting_since is None:
                self.waiting_since = self.loop.time()
            if self._unread_bytes > _UNREAD_BYTES:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request's body."""
        self.waiting_since = None
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, in the shape of every other error."""
        self._turn_away(RefusalError(400, "bad_request", msg))

    def overdue(self, now: float) -> bool:
        """Tell whether the caller has let us wait for too long."""
        since = self.waiting_since
        return since is not None and now - since > self._limits.head_seconds

    def give_up(self) -> None:
        """Close a connection whose caller lets us wait."""
        self.front.metrics.turned_away("too_slow")
        self.transport.close()

    def _turn_away(self, refusal: RefusalError) -> None:
        """Answer and close; there is no request that could be served."""
        self.front.metrics.turned_away(refusal.code)
        if self.transport.is_closing():
            return
        body = json.dumps(refusal.body()).encode()
        head = f"HTTP/1.1 {refusal.status} {HTTPStatus(refusal.status).phrase}\r\n"
        head += "content-type: application/json\r\n"
        head += f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()


def guarded(front: Front) -> type[GuardedProtocol]:
    """Give the protocol for a server with this front."""
    limits = front.limits

    async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _large_head(limits.header_bytes, limits.header_count)
        note_error(refusal.code)
        await JSONResponse(refusal.body(), refusal.status, refusal.headers)(scope, receive, send)

    refusing = Observer(refuse, front.log, front.metrics)
    return type("Guarded", (GuardedProtocol,), {"front": front, "open": set(), "refusing": refusing})


@contextlib.asynccontextmanager
async def swept(protocol: type[GuardedProtocol]) -> AsyncIterator[None]:
    """Meanwhile, close connections whose callers let us wait."""
    sweeping = asyncio.create_task(_sweep(protocol))
    try:
        yield
    finally:
        sweeping.cancel()


async def _sweep(protocol: type[GuardedProtocol]) -> None:
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(_SWEEP_SECONDS)
        now = loop.time()
        for connection in [one for one in protocol.open if one.overdue(now)]:
            connection.give_up()


def _large_head(most_bytes: int, most_headers: int) -> RefusalError:
    message = f"the head of a request may have {most_bytes} bytes and {most_headers} headers"
    return RefusalError(431, "headers_too_large", message, close=True)
