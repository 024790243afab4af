"""Where in a document something stands, and what is wrong there."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""A parsed JSON or YAML document."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text: line and column, both from 1, the column in code points."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong with a document.

    `pointer` is an RFC 6901 JSON pointer ("" is the whole document) to the offending member, or to
    its parent where the member is missing. `rules` names the contract's rules that it breaks.
    """

    pointer: str
    message: str
    rules: tuple[str, ...] = ()
    position: Position | None = None

    def __str__(self) -> str:
        where = ", ".join(str(part) for part in (self.position, self.pointer) if part)
        return f"{where}: {self.message}" if where else self.message


class SourceError(ValueError):
    """The text is not a document at all (syntax, encoding, or a value that strict reading refuses)."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document and where each of its values starts, by JSON pointer."""

    value: JsonValue
    positions: Mapping[str, Position] = field(default_factory=dict)

    def nearest(self, pointer: str) -> Position | None:
        """Give the place of a value, or of the nearest one around it; None where no places are known."""
        while pointer and pointer not in self.positions:
            pointer = pointer.rpartition("/")[0]
        return self.positions.get(pointer)


def child(pointer: str, token: str | int) -> str:
    """Extend a JSON pointer by one member name or array index, escaped as RFC 6901 says."""
    if isinstance(token, str):
        token = token.replace("~", "~0").replace("/", "~1")
    return f"{pointer}/{token}"


def descend(pointer: str, path: Iterable[str | int]) -> str:
    """Extend a JSON pointer by a path of member names and array indexes."""
    for token in path:
        pointer = child(pointer, token)
    return pointer


def tokens_of(pointer: str) -> Iterator[str]:
    """Yield the member names and array indexes of a JSON pointer, unescaped; none for the whole document."""
    for escaped in pointer.split("/")[1:]:
        yield escaped.replace("~1", "/").replace("~0", "~")


class DocumentError(ValueError):
    """A well-formed document breaks the rules of its kind; `faults` lists every one that was found."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults = faults
