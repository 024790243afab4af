"""Server-sent events, read tolerantly: any line ending, any chunking, no blank line needed at the end."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

DONE: Final = b"[DONE]"
"""Data of the event that ends a chat completion stream."""

_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event: its data lines joined by LF, as bytes, and its name."""

    data: bytes
    name: str = "message"


def read_events(chunks: Iterable[bytes]) -> Iterator[SseEvent]:
    """Yield the events of a stream, however its bytes are cut into chunks.

    Lines end in CRLF, LF or CR. Comments, `id` and `retry` are skipped, and so are events without data. The
    last event counts even where the blank line after it is missing.
    """
    name = "message"
    data: list[bytes] = []
    for line in _lines(chunks):
        if not line:
            if data:
                yield SseEvent(b"\n".join(data), name)
            name, data = "message", []
            continue
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace") or "message"
    if data:
        yield SseEvent(b"\n".join(data), name)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream without their endings."""
    first = True
    for line in _split(chunks):
        yield line.removeprefix(_BOM) if first else line
        first = False


def _split(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut the stream at its line endings; a line that spans many chunks is joined once."""
    parts: list[bytes] = []
    after_cr = False
    for chunk in chunks:
        # A CR ends its line at once, so the LF of a CRLF may open the next chunk.
        fresh = chunk[1:] if after_cr and chunk.startswith(b"\n") else chunk
        after_cr = chunk.endswith(b"\r") if chunk else after_cr
        *complete, rest = fresh.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in complete:
            yield b"".join((*parts, line))
            parts = []
        parts.append(rest)
    last = b"".join(parts)
    if last:
        yield last
