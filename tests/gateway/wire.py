"""HTTP as bytes on one connection, for what no client would send."""

import socket
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

SECONDS = 30.0
"""Who hasn't answered by then hangs."""


class DroppedError(Exception):
    """The connection ended where an answer was due."""


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def is_last(self) -> bool:
        """Whether the server closes the connection after it."""
        return self.headers.get("connection", "").lower() == "close"


class Wire:
    """A connection to a server. Used as a context manager, it is closed in the end."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._socket = socket.create_connection((parts.hostname, parts.port), SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def read(self, *, without_body: bool = False) -> Response:
        """Read one response, or the head of one that has no more. Raises DroppedError, and TimeoutError where none comes."""
        while True:
            head = self._until(b"\r\n\r\n").decode("latin-1")
            first, *lines = head.split("\r\n")
            status = int(first.split()[1])
            if status >= 200:
                break
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if without_body:
            return Response(status, headers, b"")
        if headers.get("transfer-encoding") == "chunked":
            return Response(status, headers, self._chunks())
        return Response(status, headers, self._exactly(int(headers.get("content-length", "0"))))

    def rest(self) -> bytes:
        """Say that no more is sent, and read until the server closes; a reset ends it too."""
        data = self._buffer
        try:
            self._socket.shutdown(socket.SHUT_WR)
            while piece := self._socket.recv(65536):
                data += piece
        except (ConnectionError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
        return data

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self._until(b"\r\n").split(b";")[0], 16):
            body += self._exactly(size)
            self._exactly(2)
        self._until(b"\r\n")
        return body

    def _until(self, end: bytes) -> bytes:
        while end not in self._buffer:
            self._receive()
        found, _, self._buffer = self._buffer.partition(end)
        return found

    def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._receive()
        found, self._buffer = self._buffer[:size], self._buffer[size:]
        return found

    def _receive(self) -> None:
        try:
            piece = self._socket.recv(65536)
        except ConnectionError as error:
            raise DroppedError(str(error)) from error
        if not piece:
            raise DroppedError(f"the connection ended after {self._buffer[:200]!r}")
        self._buffer += piece
