"""A total deadline for an exchange, held by shutting its connection down.

The timeouts of `requests` bound each wait for bytes, so a server that sends one byte now and then holds its
client for ever: in the status line, in the headers or in the body. Here a timer shuts the socket down, and
whatever was waiting on it returns. The resolver's own timeouts bound the name lookup.
"""

import socket
import threading
import time
from contextlib import suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Self

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

IDLE_LIMIT: Final = 2.0
"""Seconds after which an idle connection isn't used again: its server may be closing it just now."""

_current: ContextVar["Deadline | None"] = ContextVar("deadline", default=None)


class Deadline:
    """Bounds everything that its thread does on watched connections inside the `with` block.

    `expired` tells afterwards whether the connection was shut down; an end of file seen then means nothing.
    """

    def __init__(self, seconds: float) -> None:
        self.expired = False
        self._ends = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._held: socket.socket | None = None
        self._timer = threading.Timer(seconds, self._expire)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._token = _current.set(self)
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        _current.reset(self._token)
        with self._lock:
            if self._held is not None:
                self._held.close()

    def remaining(self) -> float:
        """Give the seconds that are left, never less than a millisecond (0 would mean "don't block")."""
        return max(self._ends - time.monotonic(), 0.001)

    def guard(self, live: socket.socket) -> None:
        """Shut this connection down at the deadline.

        A second descriptor is held: TLS takes the first one over, and a response that ends with its
        connection outlives the connection object.
        """
        copy = socket.fromfd(live.fileno(), live.family, live.type)
        with self._lock:
            if self._held is not None:
                self._held.close()
            self._held = copy
            if self.expired:
                _shut_down(copy)

    def _expire(self) -> None:
        with self._lock:
            self.expired = True
            if self._held is not None:
                _shut_down(self._held)


def _shut_down(live: socket.socket) -> None:
    with suppress(OSError):  # the peer may have closed it already
        live.shutdown(socket.SHUT_RDWR)


class _WatchedConnection(HTTPConnection):
    """A connection that puts itself under its thread's deadline, and doesn't linger."""

    _last_used = 0.0

    def _new_conn(self) -> socket.socket:
        deadline = _current.get()
        if deadline is not None and isinstance(self.timeout, int | float):
            self.timeout = min(self.timeout, deadline.remaining())
        live = super()._new_conn()
        if deadline is not None:
            deadline.guard(live)
        return live

    def putrequest(self, *arguments: Any, **options: Any) -> None:
        deadline = _current.get()
        if deadline is not None and self.sock is not None:
            deadline.guard(self.sock)
        self._last_used = time.monotonic()
        super().putrequest(*arguments, **options)

    @property
    def is_connected(self) -> bool:
        return super().is_connected and time.monotonic() - self._last_used < IDLE_LIMIT


class _WatchedTlsConnection(_WatchedConnection, HTTPSConnection):
    pass


class _WatchedPool(HTTPConnectionPool):
    ConnectionCls = _WatchedConnection


class _WatchedTlsPool(HTTPSConnectionPool):
    ConnectionCls = _WatchedTlsConnection


POOLS: Final[dict[str, type[HTTPConnectionPool]]] = {"http": _WatchedPool, "https": _WatchedTlsPool}
"""Connection pools by URL scheme whose connections heed `Deadline`."""
