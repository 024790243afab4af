"""One request over ASGI, from its first byte to the last one of its answer, and how that ended."""

import asyncio
import contextlib
import json
from types import TracebackType
from typing import Final, Self

from starlette.types import Receive, Send

from cctest.contract.source import JsonValue
from cctest.instrument.intake import RefusalError
from cctest.instrument.record import Ending, Entry, Record

BODY_LIMIT: Final = 2 * 1024 * 1024
"""Most bytes in a request body."""

JSON: Final = "application/json"

_TURNS: Final = 10
"""Turns of the event loop in which a connection that was closed before them is surely noticed."""


class ClientGoneError(Exception):
    """The client closed its connection."""


class CutError(Exception):
    """The answer ends here; the server closes the connection of an answer that isn't finished."""


class Visit:
    """Reads one request, writes its answer, and notes both in its record entry.

    Used as a context manager, inside which the client's leaving is watched once the body has been read. What
    writes or waits raises ClientGoneError when the client has left.
    """

    def __init__(self, record: Record, entry: Entry, receive: Receive, send: Send) -> None:
        self.entry = entry
        self._record = record
        self._receive = receive
        self._send = send
        self._gone = asyncio.Event()
        self._watcher: asyncio.Task[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watcher is not None:
            self._watcher.cancel()

    async def read(self) -> bytes:
        """Read the body. Raises RefusalError where it is too large, and ClientGoneError."""
        body = bytearray()
        complete = False
        try:
            while not complete and len(body) <= BODY_LIMIT:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    raise ClientGoneError
                body += message.get("body", b"")
                complete = not message.get("more_body", False)
        finally:
            kept = bytes(body[:BODY_LIMIT])
            self._record.keep_body(self.entry, kept, complete=complete and len(kept) == len(body))
        self._watcher = asyncio.create_task(self._watch())
        if not self.entry.body_complete:
            raise RefusalError(413, f"the body is larger than {BODY_LIMIT} bytes")
        return kept

    async def pause(self, seconds: float) -> None:
        """Wait; with 0 seconds, give others a turn."""
        if seconds > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._gone.wait(), seconds)
        else:
            await asyncio.sleep(0)
        self._check()

    async def queue(self, seconds: float) -> None:
        """Wait in the engine's queue.

        A client that left before its end is noticed, even if this whole process stood still meanwhile.
        """
        await self.pause(seconds)
        for _ in range(_TURNS):
            await self.pause(0)

    async def begin(
        self, status: int, media_type: str, *, length: int | None = None, retry_after: int | None = None
    ) -> None:
        """Write the head of the answer; without a length its end is seen from the framing."""
        headers = [(b"content-type", media_type.encode())]
        if length is not None:
            headers.append((b"content-length", b"%d" % length))
        if retry_after is not None:
            headers.append((b"retry-after", b"%d" % retry_after))
        self._check()
        self.entry.status = status
        await self._send({"type": "http.response.start", "status": status, "headers": headers})

    async def write(self, data: bytes) -> None:
        """Write a part of the answer's body."""
        self._check()
        await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def finish(self, ending: Ending = Ending.COMPLETED) -> None:
        """End the answer."""
        self._check()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        self._check()
        self.end(ending)

    async def respond(self, status: int, body: bytes, media_type: str = JSON) -> None:
        """Write a whole answer."""
        await self.begin(status, media_type, length=len(body))
        await self.write(body)
        await self.finish(Ending.REFUSED if status >= 400 else Ending.COMPLETED)

    async def respond_json(self, status: int, value: JsonValue) -> None:
        """Write a whole answer that is a JSON value."""
        await self.respond(status, json.dumps(value).encode())

    def end(self, ending: Ending) -> None:
        """Note how the request ended."""
        self._record.close(self.entry, ending)

    def _check(self) -> None:
        if self._gone.is_set():
            raise ClientGoneError

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone.set()
