"""A client for one engine over HTTP/1.1 that costs little: kept connections, and requests made of few parts.

No cookie is kept, no redirect followed, no proxy taken from the environment, and nothing sent twice. With a
general client, sending costs more than all else that the gateway does for a request.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from reference_gateway.engine.connection import Connection, Response

_CONNECT_SECONDS: Final = 10.0
_IDLE_SECONDS: Final = 4.0
"""Less than the 5 seconds after which the usual servers close an idle connection, maybe as it is used."""


class EngineClient:
    """Sends requests to the server at `url`, below its path, with the same `headers` each time.

    `broken` is called where the server can't be reached, or closes a connection in an exchange or soon after:
    it may have been started anew.
    """

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        parts = urlsplit(url)
        host = parts.hostname or ""
        self._address: Final = (host, parts.port or (443 if parts.scheme == "https" else 80))
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._path: Final = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")
        shown = f"[{host}]" if ":" in host else host.encode("idna").decode()
        given = {"Host": shown if parts.port is None else f"{shown}:{parts.port}", "Accept": "*/*", **headers}
        self._head: Final = "".join(f"{name}: {value}\r\n" for name, value in given.items()).encode()
        self._heads: dict[tuple[str, str], bytes] = {}
        self._idle: deque[Connection] = deque()
        self.broken: Callable[[], None] = lambda: None

    async def get(self, path: str, ends_at: float) -> Response:
        """Ask for a page, and wait for the head of the response. `ends_at` is as for `Response`.

        Raises TimeoutError, and other OSErrors where there is no connection.
        """
        return await self._exchange(self._request("GET", path) + b"\r\n", ends_at)

    async def post(self, path: str, body: bytes, ends_at: float) -> Response:
        """Post JSON, and wait for the head of the response. Raises as `get`."""
        head = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        return await self._exchange(self._request("POST", path) + head + body, ends_at)

    def close(self) -> None:
        """Close the connections that are free; the others end with their responses."""
        while self._idle:
            self._idle.pop().abort()

    def _request(self, method: str, path: str) -> bytes:
        """Give the head of a request as far as it is always the same. The paths are few."""
        head = self._heads.get((method, path))
        if head is None:
            head = f"{method} {self._path}{path} HTTP/1.1\r\n".encode() + self._head
            self._heads[method, path] = head
        return head

    async def _exchange(self, request: bytes, ends_at: float) -> Response:
        connection = self._kept() or await self._connect(ends_at)
        response = connection.send(request, ends_at)
        try:
            await response.head()
        except BaseException:
            response.close()
            raise
        return response

    def _kept(self) -> Connection | None:
        """Give a connection that is free, the last one used first, so that others can grow old."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection = self._idle.pop()
            if connection.usable and now - connection.idle_since < _IDLE_SECONDS:
                return connection
            connection.abort()
        return None

    def _released(self, connection: Connection) -> None:
        now = connection.idle_since = asyncio.get_running_loop().time()
        self._idle.append(connection)
        while now - self._idle[0].idle_since >= _IDLE_SECONDS:
            self._idle.popleft().abort()

    async def _connect(self, ends_at: float) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout_at(min(ends_at, loop.time() + _CONNECT_SECONDS)):
                _, connection = await loop.create_connection(
                    lambda: Connection(self._released, self._lost), *self._address, ssl=self._tls
                )
        except OSError:
            self.broken()
            raise
        return connection

    def _lost(self, connection: Connection) -> None:
        idle_for = asyncio.get_running_loop().time() - connection.idle_since
        if not connection.free or idle_for < _IDLE_SECONDS:
            self.broken()
