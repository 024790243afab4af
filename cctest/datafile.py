"""Data files that people write, in YAML or JSON: read strictly, checked by schema, faults told by place."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from cctest import bounded, bundle
from cctest.contract import strict_json, strict_yaml
from cctest.contract.schema import SchemaSet
from cctest.contract.source import JsonValue, Parsed, Position, SourceError, child, descend
from cctest.contract.vocabulary import Kind
from cctest.problem import UsageProblem

SUFFIXES: Final = {".yaml": strict_yaml.parse, ".yml": strict_yaml.parse, ".json": strict_json.parse}
"""File name endings that are read, and how each is."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that was read: its value, and where in the text each part of it starts."""

    path: Path
    parsed: Parsed

    def position(self, pointer: str) -> Position:
        """Give the place of a value, or of the nearest one around it."""
        return self.parsed.nearest(pointer) or Position(1, 1)

    def where(self, pointer: str) -> str:
        """Name file, line, column and JSON pointer of a value."""
        return f"{self.path}, {self.position(pointer)}, at {pointer or 'the top'}"

    def problem(self, pointer: str, message: str, hint: str = "") -> UsageProblem:
        """Make the problem that tells what is wrong at `pointer`."""
        return UsageProblem(message, where=self.where(pointer), hint=hint)


def read(path: Path) -> DataFile:
    """Read a YAML or JSON file.

    Raises UsageProblem if it is no regular file, has another ending, is too large, can't be read, or
    isn't strict YAML or JSON.
    """
    if not path.is_dir():
        _parser_of(path)
    return parse(path, bounded.read(path, pipe=False, hint="name a YAML or JSON file"))


def parse(path: Path, content: bytes) -> DataFile:
    """Parse what was read of a file.

    Raises UsageProblem for another ending, and for what isn't strict YAML or JSON.
    """
    try:
        return DataFile(path, _parser_of(path)(content))
    except SourceError as error:
        fault = error.fault
        place = (
            str(part) for part in (path, fault.position, fault.pointer and f"at {fault.pointer}") if part
        )
        raise UsageProblem(fault.message, where=", ".join(place)) from error


def _parser_of(path: Path) -> Callable[[bytes], Parsed]:
    parser = SUFFIXES.get(path.suffix.lower())
    if parser is None:
        raise UsageProblem(
            "the file's ending tells neither YAML nor JSON",
            where=str(path),
            hint=f"use {', '.join(SUFFIXES)}",
        )
    return parser


def read_result(path: Path, schema: str, *, what: str, hint: str) -> Any:
    """Read a JSON file that a command wrote, as `read_json` does, and of the shape of `schema`."""
    value = read_json(path, what=what, hint=hint)
    fault = best_match(validator(schema).iter_errors(value))
    if fault is not None:
        where = f"{path}, at {descend('', fault.absolute_path) or 'the top'}"
        _, message, _ = _in_words(fault)
        raise UsageProblem(f"is no {what} of this version: {message}", where=where, hint=hint)
    return value


def read_json(path: Path, *, what: str, hint: str) -> Any:
    """Read a JSON file that a command wrote, whatever its ending is, as plain Python values.

    Raises UsageProblem if it can't be read or is no JSON; `what` says what it was to be (`report`), `hint`
    which command writes one.
    """
    content = bounded.read(path, bounded.RESULT_LIMIT)
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        raise UsageProblem(f"is no {what}: {_no_json(content)}", where=str(path), hint=hint) from None


def _no_json(content: bytes) -> str:
    """Say in our own words why a text is no JSON."""
    if not content.strip():
        return "it is empty"
    try:
        strict_json.parse(content)
    except SourceError as error:
        return f"{error.fault.position or 'it'}: {error.fault.message}"
    return "it isn't JSON"


@cache
def validator(schema_file: str, definition: str = "") -> Draft202012Validator:
    """Give the validator of a bundled schema, or of one of its `$defs`."""
    schema = json.loads((bundle.SCHEMAS / schema_file).read_bytes())
    if definition:
        schema = {"$ref": f"#/$defs/{definition}", "$defs": schema["$defs"]}
    return Draft202012Validator(schema)


@cache
def contract_schemas() -> SchemaSet:
    """Give the bundled schemas of the contract's three objects, compiled once."""
    return SchemaSet(json.loads((bundle.SCHEMAS / f"{kind}.schema.json").read_bytes()) for kind in Kind)


def require(file: DataFile, schema: Draft202012Validator, value: JsonValue, pointer: str = "") -> None:
    """Check a value of the file against a schema; raise UsageProblem for the fault that comes first in it."""
    problems = [(_pointer_of(error, pointer), error) for error in schema.iter_errors(value)]
    if not problems:
        return
    place, error = min(problems, key=lambda problem: _order(problem[1], file.position(problem[0])))
    _, message, hint = _in_words(error)
    raise file.problem(place, message, hint)


def _pointer_of(error: Any, pointer: str) -> str:
    pointer = descend(pointer, error.absolute_path)
    member, _, _ = _in_words(error)
    return pointer if member is None else child(pointer, member)


def _order(error: Any, position: Position) -> tuple[bool, int, int]:
    # What is missing comes last: more often than not its name is misspelt, which is a better thing to say.
    return error.validator == "required", position.line, position.column


def _in_words(error: Any) -> tuple[str | None, str, str]:
    """Tell a schema error: the offending member (where the error stands on its parent), message, hint."""
    schema: Mapping[str, Any] = error.schema
    expected: Any = error.validator_value
    hint = str(schema.get("description", ""))
    if error.validator == "additionalProperties":
        known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        name = next(name for name in error.instance if name not in known and not _matches(name, patterns))
        return name, f"unknown member {_short(name)}", hint if patterns else suggestion(name, known)
    if error.validator == "required":
        name = next(name for name in error.validator_value if name not in error.instance)
        return None, f"the member `{name}` is missing", hint
    if error.validator == "enum":
        return (
            None,
            f"{_short(error.instance)} isn't known here",
            suggestion(error.instance, error.validator_value),
        )
    if error.validator in ("type", "const"):
        return None, f"{_short(error.instance)} stands where {_short(expected)} belongs", hint
    if error.validator == "not" and not expected:
        return None, "this member has no place here", hint
    if error.validator == "pattern":
        return None, f"{_short(error.instance)} has the wrong form", hint or f"pattern: {expected}"
    return None, hint or f"{_short(error.instance)} breaks `{error.validator}: {_short(expected)}`", ""


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(re.search(pattern, name) for pattern in patterns)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        text = text[1:-1]
    return f"`{text if len(text) <= 60 else text[:57] + '...'}`"


def suggestion(given: object, known: Iterable[str]) -> str:
    """Say what would be right instead of an unknown word: the nearest one, or all of them."""
    words = [str(word) for word in known]
    near = get_close_matches(str(given), words, n=1)
    return f"did you mean `{near[0]}`?" if near else f"known: {', '.join(words)}"
