"""A target file as text: read strictly, its shape checked, and the places in it known.

Messages never quote a value, because it may be a token.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from cctest import bounded
from cctest.bundle import SCHEMAS
from cctest.contract import strict_json, strict_yaml
from cctest.contract.source import JsonValue, Parsed, Position, SourceError
from cctest.problem import UsageProblem
from cctest.target.environment import Environment
from cctest.target.shape import shape_fault

SIZE_LIMIT: Final = 1_000_000
"""Most bytes of a target file."""

_SCHEMA: Final = SCHEMAS / "configuration.schema.json"


class TargetFile:
    """One target file, or an empty one where `path` is None.

    `members` has the shape of `configuration.schema.json`. Raises UsageProblem if the file hasn't, or if it
    can't be read.
    """

    def __init__(self, path: Path | None, environment: Environment) -> None:
        self.path = path
        self._environment = environment
        self._parsed = _read(path) if path else Parsed({})
        value = self._parsed.value
        fault = shape_fault(value, json.loads(_SCHEMA.read_text("utf-8")))
        if fault is not None:
            raise UsageProblem(fault.message, where=self.place(fault.pointer))
        self.members: dict[str, JsonValue] = value if isinstance(value, dict) else {}

    def place(self, pointer: str) -> str:
        """Say where in the file a member is, or else the nearest member around it."""
        return _place(self.path, self._parsed.nearest(pointer))

    def object(self, name: str) -> dict[str, JsonValue]:
        """Give a member that is an object; empty where it is absent."""
        value = self.members.get(name)
        return value if isinstance(value, dict) else {}

    def objects(self, name: str) -> Iterator[tuple[str, dict[str, JsonValue]]]:
        """Yield the objects of a member that is a list, each with its pointer."""
        value = self.members.get(name)
        for number, item in enumerate(value if isinstance(value, list) else ()):
            if isinstance(item, dict):
                yield f"/{name}/{number}", item

    def fill(self, text: str, pointer: str) -> str:
        """Put the values of the environment's variables into a value; `complete` tells of those without one.

        Raises UsageProblem.
        """
        return self._environment.fill(text, self.place(pointer))

    def complete(self) -> None:
        """Raise UsageProblem if a value that was filled in so far lacks a variable."""
        self._environment.complete()

    def beside(self, value: JsonValue, pointer: str) -> Path | None:
        """Give the path that a value names, relative to this file; None for no value. Raises UsageProblem."""
        if not isinstance(value, str):
            return None
        folder = self.path.parent if self.path else Path()
        filled = self.fill(value, pointer)
        self.complete()
        return folder / Path(filled).expanduser()


def _read(path: Path) -> Parsed:
    content = bounded.read(path, SIZE_LIMIT)
    parse = strict_json.parse if path.suffix == ".json" else strict_yaml.parse
    try:
        return parse(content)
    except SourceError as error:
        raise UsageProblem(error.fault.message, where=_place(path, error.fault.position)) from None


def _place(path: Path | None, position: Position | None) -> str:
    return f"{path}:{position.line}:{position.column}" if position else str(path)
