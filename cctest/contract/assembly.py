"""A document being put together from its parts in order, on an explicit stack of bounded depth."""

from dataclasses import dataclass
from typing import TypeAlias

from cctest.contract.positions import LineTable, Mark, Positions
from cctest.contract.source import Fault, JsonValue, Parsed, SourceError, child

Container: TypeAlias = list[JsonValue] | dict[str, JsonValue]


@dataclass(slots=True)
class _Frame:
    container: Container
    marks: dict[str, Mark]
    name: str = ""


class Assembly:
    """Takes names and values as a scanner meets them; offsets are in code points of `text`.

    It refuses duplicate names (INT-10) and nesting deeper than `max_depth` containers, so that whoever walks
    the document later may recurse.
    """

    __slots__ = ("_frames", "_max_depth", "_root", "_root_mark", "_text")

    def __init__(self, text: str, max_depth: int) -> None:
        self._text = text
        self._max_depth = max_depth
        self._frames: list[_Frame] = []
        self._root: JsonValue = None
        self._root_mark = Mark(0)

    @property
    def innermost(self) -> Container | None:
        """The container that is open, None outside of all."""
        return self._frames[-1].container if self._frames else None

    def open(self, container: Container, offset: int) -> None:
        """Start an empty array or object as the next value."""
        if len(self._frames) >= self._max_depth:
            message = f"nested more than {self._max_depth} levels deep"
            raise self.refusal(message, offset, self.value_pointer())
        marks: dict[str, Mark] = {}
        self.add(container, offset, marks)
        self._frames.append(_Frame(container, marks))

    def close(self) -> None:
        """End the innermost container."""
        self._frames.pop()

    def name(self, name: str, offset: int) -> None:
        """Take the name of the next member of the innermost object."""
        frame = self._frames[-1]
        frame.name = name
        if name in frame.container:
            message = "duplicate member name; each name may stand once in an object"
            raise self.refusal(message, offset, self.value_pointer(), ("INT-10",))

    def add(self, value: JsonValue, offset: int, marks: dict[str, Mark] | None = None) -> None:
        """Take the next value; `marks` will hold those of its own values if it is a container."""
        mark = Mark(offset, marks)
        if not self._frames:
            self._root, self._root_mark = value, mark
            return
        frame = self._frames[-1]
        container = frame.container
        if isinstance(container, dict):
            container[frame.name] = value
            frame.marks[frame.name] = mark
        else:
            frame.marks[str(len(container))] = mark
            container.append(value)

    def container_pointer(self) -> str:
        """Point at the innermost container."""
        pointer = ""
        for frame in self._frames[:-1]:
            inside = frame.name if isinstance(frame.container, dict) else len(frame.container) - 1
            pointer = child(pointer, inside)
        return pointer

    def value_pointer(self) -> str:
        """Point at the value that comes next."""
        if not self._frames:
            return ""
        frame = self._frames[-1]
        inside = frame.name if isinstance(frame.container, dict) else len(frame.container)
        return child(self.container_pointer(), inside)

    def refusal(self, message: str, offset: int, pointer: str, rules: tuple[str, ...] = ()) -> SourceError:
        """Make the error that refuses the text at an offset."""
        position = LineTable(self._text).position(offset)
        return SourceError(Fault(pointer, message, rules, position))

    def finished(self) -> Parsed:
        """Give the document and the positions of its values."""
        return Parsed(self._root, Positions(self._text, self._root_mark))
