"""A child process that answers line by line, every wait bounded.

All three streams are read and written in one loop, so that a child that fills one of them can't block us.
"""

import os
import selectors
import signal
import subprocess
from collections.abc import Sequence
from time import monotonic
from typing import IO, Final

LINE_LIMIT: Final = 1 << 20
"""Most bytes that an answer may have."""

_LAST_WORDS: Final = 4096
_PIECE: Final = 1 << 16
_DYING_SECONDS: Final = 1.0


class ChildError(Exception):
    """The child ended, was too slow, or wrote without end."""


class Child:
    """A running process. Raises OSError if it can't be started."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - what the user asked for, no shell
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # so that its own children go with it
            bufsize=0,
        )
        self._stdin, self._stdout, self._stderr = map(
            _unblocked, (self._process.stdin, self._process.stdout, self._process.stderr)
        )
        self._read = b""
        self._complained = b""

    @property
    def complaints(self) -> bytes:
        """The end of what it wrote to standard error."""
        return self._complained

    def exchange(self, line: bytes, seconds: float) -> bytes:
        """Send a line and give the next one that comes, without its end.

        Raises ChildError if none comes in time, or none can come.
        """
        until, left = monotonic() + seconds, memoryview(line)
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE)
            selector.register(self._stdout, selectors.EVENT_READ)
            selector.register(self._stderr, selectors.EVENT_READ)
            while left or b"\n" not in self._read:
                ready = selector.select(max(0.0, until - monotonic()))
                if not ready:
                    raise ChildError(f"gave no answer in {seconds:g} seconds")
                for key, _ in ready:
                    if key.fileobj is self._stdin:
                        left = self._write(left, selector)
                    elif key.fileobj is self._stdout:
                        self._take_output()
                    elif not self._take_complaints():
                        selector.unregister(self._stderr)
        answer, _, self._read = self._read.partition(b"\n")
        return answer

    def _write(self, left: memoryview, selector: selectors.BaseSelector) -> memoryview:
        try:
            left = left[os.write(self._stdin.fileno(), left) :]
        except BrokenPipeError:
            left = left[:0]  # what it wrote last, and how it ended, is worth more than that
        if not left:
            selector.unregister(self._stdin)
        return left

    def _take_output(self) -> None:
        piece = os.read(self._stdout.fileno(), _PIECE)
        if not piece:
            raise ChildError(self._ending())
        self._read += piece
        if len(self._read) > LINE_LIMIT and b"\n" not in self._read:
            raise ChildError(f"wrote a line of more than {LINE_LIMIT:,} bytes")

    def _take_complaints(self) -> bool:
        piece = os.read(self._stderr.fileno(), _PIECE)
        self._complained = (self._complained + piece)[-_LAST_WORDS:]
        return bool(piece)

    def _ending(self) -> str:
        """Say how a child ended that closed its standard output."""
        until = monotonic() + _DYING_SECONDS
        with selectors.DefaultSelector() as selector:
            selector.register(self._stderr, selectors.EVENT_READ)
            while selector.select(max(0.0, until - monotonic())) and self._take_complaints():
                pass
        try:
            code = self._process.wait(_DYING_SECONDS)
        except subprocess.TimeoutExpired:
            return "closed its standard output"
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def close(self, seconds: float) -> bool:
        """Close its standard input and wait for its end, else kill it. Tells whether it ended by itself."""
        self._stdin.close()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return False
        self._release()
        return True

    def kill(self) -> None:
        """End it at once, with whatever it started."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._release()

    def _release(self) -> None:
        for stream in (self._stdin, self._stdout, self._stderr):
            stream.close()


def _unblocked(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the stream isn't a pipe")
    os.set_blocking(stream.fileno(), False)
    return stream
