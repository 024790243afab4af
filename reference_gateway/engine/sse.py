"""Server-sent events out of bytes as they come, whatever dialect they are written in."""

import re
from collections.abc import AsyncIterator, Iterator
from typing import Final

EVENT_LIMIT: Final = 4 * 1024 * 1024
"""Most bytes of one event."""

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class EventError(Exception):
    """The bytes are no stream of events that can be read."""


class EventReader:
    """Takes bytes in pieces of any size, and gives the data of each event once it is complete.

    Comments and the names of events are dropped. Several data lines are joined by newlines.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._data: list[bytes] = []
        self._size = 0
        self._first_line = True

    def feed(self, piece: bytes) -> Iterator[str]:
        """Take a piece. Raises EventError where an event is too large or isn't UTF-8."""
        self._buffer += piece
        start = 0
        if b"\r" not in self._buffer:  # as usual
            *lines, rest = self._buffer.split(b"\n")
            for line in lines:
                yield from self._line(bytes(line))
            start = len(self._buffer) - len(rest)
        else:
            while end := _LINE_END.search(self._buffer, max(start, self._searched)):
                if end.group() == b"\r" and end.end() == len(self._buffer):
                    break  # its newline may be yet to come
                yield from self._line(bytes(self._buffer[start : end.start()]))
                start = end.end()
        del self._buffer[:start]
        self._searched = max(len(self._buffer) - 1, 0)
        if len(self._buffer) + self._size > EVENT_LIMIT:
            raise EventError(f"an event is larger than {EVENT_LIMIT} bytes")

    def end(self) -> Iterator[str]:
        """Take the end of the stream; an event that lacks its empty line counts."""
        yield from self._line(bytes(self._buffer).removesuffix(b"\r"))
        yield from self._line(b"")

    def _line(self, line: bytes) -> Iterator[str]:
        if self._first_line:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._first_line = False
        field, _, value = line.partition(b":")
        if field == b"data":
            self._data.append(value.removeprefix(b" "))
            self._size += len(line)
        elif not line and self._data:
            data, self._data, self._size = b"\n".join(self._data), [], 0
            try:
                yield data.decode()
            except UnicodeDecodeError:
                raise EventError("an event is not UTF-8") from None


async def read_events(pieces: AsyncIterator[bytes]) -> AsyncIterator[list[str]]:
    """Give the data of each event, those together that came together.

    Raises EventError, and what `pieces` raises.
    """
    reader = EventReader()
    async for piece in pieces:
        events: list[str] = []
        try:
            events += reader.feed(piece)
        except EventError:
            if events:
                yield events
            raise
        if events:
            yield events
    if events := list(reader.end()):
        yield events
