"""Where the values of a text stand, looked up by JSON pointer.

The places are kept as a tree of offsets: spelling a pointer for each value would cost the square of the
text where a long member name holds many values.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cctest.contract.source import Position, child, tokens_of

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


@dataclass(slots=True)
class Mark:
    """Where one value starts (offset in code points), and the marks of what a container holds."""

    offset: int
    inner: dict[str, "Mark"] | None = None


class LineTable:
    """Turns offsets of one text into lines and columns."""

    __slots__ = ("_starts",)

    def __init__(self, text: str) -> None:
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(text))]

    def position(self, offset: int) -> Position:
        """Give line and column, both from 1, of an offset in code points."""
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)


class Positions(Mapping[str, Position]):
    """The positions of all values of a document, by JSON pointer."""

    __slots__ = ("_lines", "_root")

    def __init__(self, text: str, root: Mark) -> None:
        self._lines = LineTable(text)
        self._root = root

    def __getitem__(self, pointer: str) -> Position:
        mark = self._root
        if pointer and not pointer.startswith("/"):
            raise KeyError(pointer)
        for token in tokens_of(pointer):
            if mark.inner is None or token not in mark.inner:
                raise KeyError(pointer)
            mark = mark.inner[token]
        return self._lines.position(mark.offset)

    def __iter__(self) -> Iterator[str]:
        pending = [("", self._root)]
        while pending:
            pointer, mark = pending.pop()
            yield pointer
            inner = reversed((mark.inner or {}).items())
            pending.extend((child(pointer, token), held) for token, held in inner)

    def __len__(self) -> int:
        pending, count = [self._root], 0
        while pending:
            mark = pending.pop()
            count += 1
            pending.extend((mark.inner or {}).values())
        return count
