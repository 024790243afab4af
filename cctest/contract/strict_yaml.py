"""Strict YAML: the JSON data model in YAML's clothes, without its surprises.

Plain (unquoted) scalars that are spelt as JSON spells null, booleans and numbers are read as JSON reads them,
and an empty one is null. Every other plain scalar is a string:

    no, on, yes, ~, Null     strings (YAML 1.1: booleans, null)
    1:30, 010, 0x1F, 1_000   strings (YAML 1.1: numbers to base 60, 8, 16, 10)
    .inf, .nan, +1, 1.       strings (YAML 1.1: numbers)
    2026-01-01, <<, =        strings (YAML 1.1: a date, merge and value keys)

Refused: duplicate keys (INT-10), keys that aren't strings, anchors and aliases, tags, several documents, and
what strict JSON refuses (overflow, very long integers, a byte order mark, bad UTF-8, deep nesting).
"""

import re
from collections.abc import Iterator
from typing import Final

import yaml

from cctest.contract.assembly import Assembly
from cctest.contract.encoding import decode
from cctest.contract.scalars import NUMBER, WORDS, read_number
from cctest.contract.shape import has_utf8_form
from cctest.contract.source import JsonValue, Parsed, SourceError
from cctest.contract.strict_json import MAX_DEPTH

LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""PyYAML's parser: libyaml where it was built in, which is ten times faster."""

_FORBIDDEN: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_PLAIN_STYLES: Final = (None, "")


def parse(data: bytes | str, *, max_depth: int = MAX_DEPTH) -> Parsed:
    """Read a document with the positions of its values.

    Raises SourceError with position, pointer and, for a duplicate key, the rule.
    """
    return _Reader(decode(data), max_depth).document()


def loads(data: bytes | str, *, max_depth: int = MAX_DEPTH) -> JsonValue:
    """Read a document and give its value alone; the same texts are refused."""
    return parse(data, max_depth=max_depth).value


class _Reader:
    """Turns the events of one YAML stream into a document."""

    __slots__ = ("_assembly", "_documents", "_named", "_text")

    def __init__(self, text: str, max_depth: int) -> None:
        self._text = text
        self._assembly = Assembly(text, max_depth)
        self._documents = 0
        self._named = False
        """The key of the value that comes next was read."""

    def document(self) -> Parsed:
        for event in self._events():
            self._take(event)
        if not self._documents:
            message = "the text holds no document; a YAML value was expected"
            raise self._assembly.refusal(message, len(self._text), "")
        return self._assembly.finished()

    def _events(self) -> Iterator[yaml.Event]:
        forbidden = _FORBIDDEN.search(self._text)
        if forbidden is not None:
            message = f"character U+{ord(forbidden.group()):04X} must not stand in YAML text"
            raise self._assembly.refusal(message, forbidden.start(), "")
        try:
            yield from yaml.parse(self._text, Loader=LOADER)
        except yaml.MarkedYAMLError as error:
            raise self._syntax_error(error) from None

    def _syntax_error(self, error: yaml.MarkedYAMLError) -> SourceError:
        parts = [part for part in (error.problem, error.context) if part]
        mark = error.problem_mark or error.context_mark
        offset = len(self._text) if mark is None else min(mark.index, len(self._text))
        return self._assembly.refusal(", ".join(parts) or "not YAML", offset, self._pointer())

    def _take(self, event: yaml.Event) -> None:
        match event:
            case yaml.DocumentStartEvent():
                self._start_document(event)
            case yaml.AliasEvent():
                raise self._refusal(event, "aliases (*) are not allowed; write the value out")
            case yaml.ScalarEvent():
                self._refuse_decoration(event)
                self._scalar(event)
            case yaml.MappingStartEvent():
                self._open({}, event)
            case yaml.SequenceStartEvent():
                self._open([], event)
            case yaml.CollectionEndEvent():
                self._assembly.close()
                self._named = False
            case _:
                pass

    def _start_document(self, event: yaml.Event) -> None:
        self._documents += 1
        if self._documents > 1:
            message = "a second document starts here; one document was expected"
            raise self._assembly.refusal(message, _offset(event), "")

    def _open(self, container: list[JsonValue] | dict[str, JsonValue], event: yaml.NodeEvent) -> None:
        self._refuse_decoration(event)
        if self._expects_key():
            raise self._refusal(event, "a key must be a string, not a collection")
        self._assembly.open(container, _offset(event))
        self._named = False

    def _refuse_decoration(self, event: yaml.NodeEvent) -> None:
        if event.anchor is not None:
            raise self._refusal(event, "anchors (&) are not allowed; there are no aliases to use them")
        if getattr(event, "tag", None) is not None:
            raise self._refusal(event, "tags (!) are not allowed; quote what must be a string")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        value = self._read(event)
        offset = _offset(event)
        if not self._expects_key():
            self._assembly.add(value, offset)
            self._named = False
        elif isinstance(value, str):
            self._assembly.name(value, offset)
            self._named = True
        else:
            spelt = event.value or "an empty key"
            raise self._refusal(event, f"a key must be a string; put {spelt} in quotes")

    def _read(self, event: yaml.ScalarEvent) -> JsonValue:
        spelling: str = event.value
        if event.style in _PLAIN_STYLES:
            if not spelling:
                return None
            if spelling in WORDS:
                return WORDS[spelling]
            if NUMBER.fullmatch(spelling):
                return self._number(event)
        elif not has_utf8_form(spelling):
            raise self._refusal(event, "a lone surrogate stands for no character and has no UTF-8 form")
        return spelling

    def _number(self, event: yaml.ScalarEvent) -> int | float:
        try:
            return read_number(event.value)
        except ValueError as error:
            raise self._refusal(event, str(error)) from None

    def _expects_key(self) -> bool:
        return isinstance(self._assembly.innermost, dict) and not self._named

    def _pointer(self) -> str:
        if self._expects_key():
            return self._assembly.container_pointer()
        return self._assembly.value_pointer()

    def _refusal(self, event: yaml.Event, message: str) -> SourceError:
        return self._assembly.refusal(message, _offset(event), self._pointer())


def _offset(event: yaml.Event) -> int:
    mark = event.start_mark
    return 0 if mark is None else mark.index
