"""A closed loop of keep-alive connections that send one request again and again, at little cost of its own."""

import asyncio
import re
import time
from dataclasses import dataclass, field
from typing import cast

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_LAST_CHUNK = b"0\r\n\r\n"


class UnexpectedAnswerError(Exception):
    """Not the answer that a benchmark may count."""


@dataclass
class Run:
    """What became of one run: `taken` is each request's time in seconds, `seconds` that of the whole run."""

    taken: list[float] = field(default_factory=list)
    seconds: float = 0.0
    answer: bytes = b""


class _Connection(asyncio.Protocol):
    """Sends until the time is up, one request at a time."""

    def __init__(self, request: bytes, until: float, run: Run) -> None:
        self._request = request
        self._until = until
        self._run = run
        self._buffer = b""
        self._sent = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but name
        self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(UnexpectedAnswerError(f"connection lost after {self._buffer[:500]!r}"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not _complete(self._buffer):
            return
        now = time.perf_counter()
        self._run.taken.append(now - self._sent)
        if not self._buffer.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(UnexpectedAnswerError(repr(self._buffer[:500])))
        elif now < self._until:
            self._send()
            return
        else:
            self._run.answer = self._buffer
            self.done.set_result(None)
        self._transport.close()

    def _send(self) -> None:
        self._buffer = b""
        self._sent = time.perf_counter()
        self._transport.write(self._request)


def _complete(answer: bytes) -> bool:
    end = answer.find(b"\r\n\r\n")
    if end < 0:
        return False
    length = _LENGTH.search(answer, 0, end + 2)
    if length:
        return len(answer) >= end + 4 + int(length[1])
    return answer.endswith(_LAST_CHUNK)


async def repeat(port: int, request: bytes, *, connections: int, seconds: float) -> Run:
    """Send `request` over so many connections for so many seconds. Raises UnexpectedAnswerError."""
    run = Run()
    loop = asyncio.get_running_loop()
    start = time.perf_counter()
    made = [
        await loop.create_connection(lambda: _Connection(request, start + seconds, run), "127.0.0.1", port)
        for _ in range(connections)
    ]
    await asyncio.gather(*(connection.done for _, connection in made))
    run.seconds = time.perf_counter() - start
    return run


def spelt(body: bytes, token: str) -> bytes:
    """Give a chat request as bytes to send."""
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body
