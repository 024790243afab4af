"""One connection to an engine over HTTP/1.1, and the response that is coming in on it.

A response is kept from growing: what nobody takes isn't read from the engine any longer. One that is closed
before its end takes its connection with it, which is how an engine learns that nobody wants the rest.
"""

import asyncio
from collections.abc import Callable
from typing import Final, cast

import httptools

_BUFFERED: Final = 256 * 1024
"""Bytes waiting to be taken, beyond which no more are read."""
_HEAD_LIMIT: Final = 64 * 1024
"""Most bytes of all header fields."""
_LENGTHS: Final = frozenset((b"content-length", b"transfer-encoding"))
_KEPT: Final = _LENGTHS | {b"retry-after"}


class Response:
    """A response as far as it has come. `ends_at` is the instant of the loop's clock at which time is up.

    What waits for more raises TimeoutError once it is, and ConnectionError where the connection breaks.
    """

    def __init__(self, connection: "Connection", ends_at: float) -> None:
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._ends_at = ends_at
        self._timer = self._loop.call_at(ends_at, self.expire)
        self._waiter: asyncio.Future[None] | None = None
        self._pieces: list[bytes] = []
        self._size = 0
        self._failure: OSError | None = None
        self.status = 0
        """0 until the head has come."""
        self.headers: dict[bytes, bytes] = {}
        self.complete = False

    async def head(self) -> None:
        """Wait for status and headers."""
        while not self.status:
            await self._more()

    async def piece(self) -> bytes:
        """Wait for more of the body and give all that there is; nothing at its end."""
        while not self._pieces:
            if self.complete:
                return b""
            await self._more()
        pieces, self._pieces, self._size = self._pieces, [], 0
        self._connection.resume()
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        """Give up what is still to come; at any time, and as often as one likes."""
        self.fail(ConnectionError("the response was closed"))

    def began(self, status: int) -> None:
        """Take note of the head."""
        self.status = status
        self._wake()

    def came(self, piece: bytes) -> None:
        """Take a piece of the body."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > _BUFFERED:
            self._connection.pause()
        self._wake()

    def ended(self) -> None:
        """Take note of the end."""
        self.complete = True
        self._timer.cancel()
        self._wake()

    def fail(self, failure: OSError) -> None:
        """End it, unless it has ended already, with all of its connection."""
        if self.complete or self._failure is not None:
            return
        self._failure = failure
        self._timer.cancel()
        self._connection.abort()
        self._wake()

    @property
    def overdue(self) -> bool:
        """Whether time is up. Where the event loop was held up, the timer may not have said so yet."""
        return self._loop.time() >= self._ends_at

    def expire(self) -> None:
        """End it, as its time is up."""
        self.fail(TimeoutError("time is up"))

    async def _more(self) -> None:
        if self._failure is not None:
            raise self._failure
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class Connection(asyncio.Protocol):
    """Carries one exchange after the other. `released` is called when it is free for the next.

    `lost` is called when the other side closes it, maybe during an exchange.
    """

    def __init__(
        self, released: Callable[["Connection"], None], lost: Callable[["Connection"], None]
    ) -> None:
        self._released = released
        self._lost = lost
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._response: Response | None = None
        self._head_size = 0
        self._paused = False
        self.idle_since = 0.0
        """When it became free, by the loop's clock."""

    @property
    def _sent(self) -> bool:
        """Whether the request is out. What is left of one would be read as the beginning of the next."""
        return self._transport is not None and not self._transport.get_write_buffer_size()

    @property
    def free(self) -> bool:
        """Whether no exchange is under way."""
        return self._response is None

    @property
    def usable(self) -> bool:
        """Whether another request can be sent."""
        return self._transport is not None and self._response is None and not self._transport.is_closing()

    def send(self, request: bytes, ends_at: float) -> Response:
        """Send a request, and give the response to it.

        One whose time is up isn't sent: an engine would have begun it before it saw that nobody wants it.
        """
        if self._transport is None:
            raise ConnectionError("the connection is closed")
        if asyncio.get_running_loop().time() >= ends_at:
            self.abort()
            raise TimeoutError("time is up")
        self._response = response = Response(self, ends_at)
        self._transport.write(request)
        return response

    def abort(self) -> None:
        """Close it at once. A response that is coming in on it is told by whoever does that."""
        self._response = None
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()

    def pause(self) -> None:
        """Read no more for now."""
        if not self._paused and self._transport is not None:
            self._transport.pause_reading()
            self._paused = True

    def resume(self) -> None:
        """Read on."""
        if self._paused and self._transport is not None:
            self._transport.resume_reading()
        self._paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin (asyncio)."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """Take what came (asyncio), if it came in time."""
        if self._response is None:
            self.abort()  # nobody asked for anything
            return
        if self._response.overdue:
            self._response.expire()
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail(ConnectionError("what came is no HTTP"))

    def connection_lost(self, error: Exception | None) -> None:
        """End (asyncio). A body without any length ends with its connection, if that ends in order."""
        if self._transport is not None:
            self._lost(self)
        self._transport = None
        response = self._response
        if response is None:
            return
        bounded = not response.status or _LENGTHS & response.headers.keys()
        if error is None and not bounded:
            self._response = None
            response.ended()
        else:
            self._fail(ConnectionError("the connection was closed"))

    def on_message_begin(self) -> None:
        """Begin a response (parser). One that nobody asked for must not be taken for the next one."""
        if self._response is None:
            raise ConnectionError("a response too many")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header field (parser)."""
        self._head_size += len(name) + len(value)
        if self._head_size > _HEAD_LIMIT:
            raise ConnectionError("the head is too large")
        name = name.lower()
        if self._response is not None and name in _KEPT:
            self._response.headers[name] = value

    def on_headers_complete(self) -> None:
        """Take the end of a head (parser); that of an interim response counts for nothing."""
        status = self._parser.get_status_code()
        if self._response is not None and status >= 200:
            self._response.began(status)

    def on_body(self, body: bytes) -> None:
        """Take a piece of a body (parser)."""
        if self._response is not None:
            self._response.came(body)

    def on_message_complete(self) -> None:
        """Take the end of a response (parser)."""
        self._head_size = 0
        response = self._response
        if response is None or not response.status:
            return
        self._response = None
        response.ended()
        if self._parser.should_keep_alive() and self._sent:
            self.resume()
            self._released(self)
        else:
            self.abort()

    def _fail(self, failure: OSError) -> None:
        response = self._response
        self.abort()
        if response is not None:
            response.fail(failure)
