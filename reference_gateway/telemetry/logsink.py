"""Lines of text to a file descriptor that may be slow, full or gone, without ever waiting for it."""

import os
import threading
import time
from collections import deque
from typing import Final

_LINES: Final = 10_000
_GATHER_SECONDS: Final = 0.02
_CLOSE_SECONDS: Final = 1.0


class LogSink:
    """A bounded queue of lines that a thread of its own writes out.

    A line for which there is no room, or that can't be written, is lost and counted; nothing else happens.
    The order of lines is kept. `put` costs about a microsecond.
    """

    def __init__(self, descriptor: int, *, capacity: int = _LINES) -> None:
        self._descriptor = descriptor
        self._capacity = capacity
        self._lines: deque[str] = deque()
        self._awake = threading.Event()
        self._closing = False
        self._unwritten = 0
        self._refused = 0
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    @property
    def lost(self) -> int:
        """How many lines were lost so far."""
        return self._refused + self._unwritten

    def put(self, line: str) -> None:
        """Take a line without its newline. Never waits and never raises."""
        if len(self._lines) >= self._capacity:
            self._refused += 1
            return
        self._lines.append(line)
        if not self._awake.is_set():
            self._awake.set()

    def close(self) -> None:
        """Write out what is left, as far as that can be done within a second."""
        self._closing = True
        self._awake.set()
        self._thread.join(_CLOSE_SECONDS)

    def _run(self) -> None:
        while not self._closing:
            self._awake.wait()
            if not self._closing:
                time.sleep(_GATHER_SECONDS)
            self._awake.clear()
            self._drain()
        self._drain()

    def _drain(self) -> None:
        batch: list[str] = []
        while self._lines:
            batch.append(self._lines.popleft())
        if not batch:
            return
        left = "".join(f"{line}\n" for line in batch).encode("utf-8", "replace")
        try:
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:
            self._unwritten += left.count(b"\n")
