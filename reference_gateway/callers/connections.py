"""Connections that ask too much before there is a request: too many, too slow, or with too large a head.

The web server bounds none of these by itself. What has become a request is bounded by the end points.
"""

import asyncio
import contextlib
import json
import logging
import socket
import struct
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from reference_gateway.callers.front import Front
from reference_gateway.callers.plain_http import PlainHttpProtocol
from reference_gateway.refusal import RefusalError
from reference_gateway.telemetry.exchange import note_error
from reference_gateway.telemetry.observer import Observer

_LOGGER: Final = logging.getLogger("uvicorn.connections")
_LOGGER.setLevel(logging.ERROR)  # what callers do wrong is counted, and no line of the log

_AT_ONCE: Final = struct.pack("ii", 1, 0)
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
        self._served: RequestResponseCycle | None = None
        self._in_head = False
        self._heads_begun = 0
        self._head_bytes = 0
        self._unread_bytes = 0
        self._waiting_since: float | None = None
        """Since when the caller owes us the rest of a head, or of a body that is only thrown away."""
        self._stalled_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or turn it away if there are too many."""
        super().connection_made(transport)
        self._waiting_since = self.loop.time()
        self.open.add(self)
        if len(self.open) > self._limits.connections:
            self._turn_away(RefusalError(503, "server_busy", "too many connections; try again later"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection, and let what is being served on it know."""
        self.open.discard(self)
        if self._served is not None:
            self._served.disconnected = True  # the server marks only the last of several requests
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; a head is bounded while it comes.

        What came together with its beginning isn't counted: that may be the end of another request.
        """
        begun = self._heads_begun
        super().data_received(data)
        if self._in_head and self._heads_begun == begun:
            self._head_bytes += len(data)
            if self._head_bytes > self._limits.header_bytes:
                self._turn_away(_large_head(self._limits.header_bytes, self._limits.header_count))

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._in_head = True
        self._heads_begun += 1
        self._head_bytes = self._unread_bytes = 0
        self._waiting_since = self.loop.time()

    def on_headers_complete(self) -> None:
        """Serve a request whose head is there, or refuse it for its size."""
        self._in_head = False
        self._waiting_since = None
        headers = self.headers
        size = len(self.url) + sum([len(name) + len(value) for name, value in headers])
        large = len(headers) > self._limits.header_count or size > self._limits.header_bytes
        self.app = self.refusing if large else self._serving
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body; what comes after the answer is thrown away, up to a point."""
        if self.cycle.response_complete:
            self._unread_bytes += len(body)
            if self._waiting_since is None:
                self._waiting_since = self.loop.time()
            if self._unread_bytes > _UNREAD_BYTES:
                self.transport.close()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request's body."""
        self._waiting_since = None
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, in the shape of every other error."""
        self._turn_away(RefusalError(400, "bad_request", msg))

    def pause_writing(self) -> None:
        """Wait for the caller to take what was written."""
        self._stalled_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Go on, as the caller has taken it."""
        self._stalled_since = None
        super().resume_writing()

    def give_up_if_overdue(self, now: float) -> None:
        """Close the connection if the caller has let us wait for too long."""
        waiting, stalled = self._waiting_since, self._stalled_since
        if stalled is not None:
            if now - stalled > self._limits.stall_seconds:
                self._throw_away()
        elif waiting is not None and self.cycle is not None and not self.cycle.response_complete:
            self._waiting_since = now  # it is we who let the caller wait
        elif waiting is not None and now - waiting > self._limits.head_seconds:
            self.front.metrics.turned_away("too_slow")
            self.transport.abort()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._served = cycle
        super()._start_asgi_task(cycle, app)

    def _throw_away(self) -> None:
        """Close at once; what was written and not taken is thrown away, by the kernel too."""
        self.front.metrics.turned_away("stalled")
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()

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
        for connection in tuple(protocol.open):
            connection.give_up_if_overdue(now)


def _large_head(most_bytes: int, most_headers: int) -> RefusalError:
    message = f"the head of a request may have {most_bytes} bytes and {most_headers} headers"
    return RefusalError(431, "headers_too_large", message, close=True)
