"""Local servers that misbehave on purpose, one behaviour a function."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Behaviour = Callable[["Visit"], None]


@dataclass
class Visit:
    """One connection to a local server, with the first request that came over it."""

    stream: socket.socket
    head: bytes
    body: bytes
    stop: threading.Event

    def say(self, data: bytes) -> None:
        self.stream.sendall(data)

    def respond(self, body: bytes, *headers: str, status: str = "200 OK") -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
        self.say("\r\n".join(lines).encode() + body)

    def trickle(self, data: bytes, every: float = 0.02) -> None:
        """Send `data` over and over, a byte at a time, until the client or the test has had enough."""
        while not self.stop.is_set():
            for byte in data:
                self.say(bytes([byte]))
                time.sleep(every)


@dataclass
class LocalServer:
    """A listening socket whose every connection is handed to one behaviour; keeps what it was sent."""

    behaviour: Behaviour
    tls: ssl.SSLContext | None = None
    requests: list[tuple[bytes, bytes]] = field(default_factory=list)
    connections: int = 0

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._stop = threading.Event()
        self._open: list[socket.socket] = []
        self.port: int = self._listener.getsockname()[1]
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._stop.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for stream in self._open:
            stream.close()

    def _accept(self) -> None:
        while True:
            try:
                stream, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(stream)
            threading.Thread(target=self._visit, args=(stream,), daemon=True).start()

    def _visit(self, stream: socket.socket) -> None:
        with suppress(OSError), self._secured(stream) as secured:
            while request := read_request(secured):
                self.requests.append(request)
                self.behaviour(Visit(secured, *request, self._stop))

    def _secured(self, stream: socket.socket) -> socket.socket:
        return self.tls.wrap_socket(stream, server_side=True) if self.tls else stream


def read_request(stream: socket.socket) -> tuple[bytes, bytes] | None:
    """Read one request's head and body; None at the end of the connection."""
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = stream.recv(65536)
        if not chunk:
            return None
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        body += stream.recv(65536)
    return head, body


@contextmanager
def local_server(behaviour: Behaviour, tls: ssl.SSLContext | None = None) -> Iterator[LocalServer]:
    server = LocalServer(behaviour, tls)
    try:
        yield server
    finally:
        server.close()


def closed_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def silent(visit: Visit) -> None:
    visit.stop.wait(60)


def endless_body(visit: Visit) -> None:
    visit.say(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while not visit.stop.is_set():
        visit.say(b" " * 65536)


def header_trickle(visit: Visit) -> None:
    visit.say(b"HTTP/1.1 200 OK\r\n")
    visit.trickle(b"X-Slow: very\r\n")


def body_trickle(visit: Visit) -> None:
    visit.say(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    visit.trickle(b": still here\n\n")
