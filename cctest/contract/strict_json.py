"""Strict JSON (RFC 8259): what two readers could take differently is refused, with its place.

Refused beyond the grammar: duplicate member names at any depth (INT-10), NaN and infinities, numbers that
overflow, very long integers, lone surrogates, a byte order mark, text that isn't UTF-8, and deep nesting.
"""

import json
import re
from collections.abc import Callable
from typing import Final

from cctest.contract import quick_json
from cctest.contract.assembly import Assembly
from cctest.contract.encoding import decode
from cctest.contract.scalars import NUMBER, WORDS, read_number
from cctest.contract.source import JsonValue, Parsed, SourceError

MAX_DEPTH: Final = 64

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_SIMPLE_STRING: Final = re.compile(r'"([^"\\\x00-\x1f\ud800-\udfff]*)"')
_RUN: Final = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*')
_WORD: Final = re.compile(r"-?[A-Za-z_][A-Za-z_0-9]*")
_NUMBER_TAIL: Final = re.compile(r"[0-9.eE+\-A-Za-z_]")
_UNIT: Final = re.compile(r"[0-9a-fA-F]{4}")
_LOW_SURROGATE: Final = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_ESCAPES: Final = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}


def parse(data: bytes | str, *, max_depth: int = MAX_DEPTH) -> Parsed:
    """Read a document with the positions of its values.

    Raises SourceError with position, pointer and, for a duplicate name, the rule.
    """
    return _Scanner(decode(data), max_depth).document()


def loads(data: bytes | str, *, max_depth: int = MAX_DEPTH) -> JsonValue:
    """Read a document without positions, faster; the same texts are refused with the same errors."""
    # The quick reader knows only good from doubtful. The scanner has the last word and finds the place.
    try:
        return quick_json.loads(data, max_depth=max_depth)
    except quick_json.DoubtError:
        return parse(data, max_depth=max_depth).value


class _Scanner:
    """Reads one text from front to back; every refusal knows its place."""

    __slots__ = ("_assembly", "_at", "_text")

    def __init__(self, text: str, max_depth: int) -> None:
        self._text = text
        self._at = 0
        self._assembly = Assembly(text, max_depth)

    def document(self) -> Parsed:
        self._space()
        if self._at == len(self._text):
            raise self._refusal("the text is empty; a JSON value was expected", "")
        while self._value() or self._next_value():
            pass
        self._space()
        if self._at < len(self._text):
            raise self._refusal("text after the end of the document; one JSON value was expected", "")
        return self._assembly.finished()

    def _value(self) -> bool:
        """Read a scalar, or open a container. True if the value inside comes next."""
        start = self._text[self._at : self._at + 1]
        if start == '"':
            offset = self._at
            self._assembly.add(self._string(self._assembly.value_pointer), offset)
        elif start == "{":
            return self._open({}, "}")
        elif start == "[":
            return self._open([], "]")
        else:
            self._plain(start)
        return False

    def _open(self, container: list[JsonValue] | dict[str, JsonValue], closer: str) -> bool:
        self._assembly.open(container, self._at)
        self._at += 1
        self._space()
        if self._take(closer):
            self._assembly.close()
            return False
        if isinstance(container, dict):
            self._name()
        return True

    def _next_value(self) -> bool:
        """Go on after a value, closing what ends here. True if another value comes next."""
        while (container := self._assembly.innermost) is not None:
            self._space()
            is_object = isinstance(container, dict)
            if self._take(","):
                self._space()
                if is_object:
                    self._name()
                return True
            if not self._take("}" if is_object else "]"):
                ends = "a comma or }" if is_object else "a comma or ]"
                pointer = self._assembly.container_pointer()
                raise self._refusal(f"{ends} was expected, not {self._seen()}", pointer)
            self._assembly.close()
        return False

    def _name(self) -> None:
        offset = self._at
        pointer = self._assembly.container_pointer
        if self._text[offset : offset + 1] != '"':
            message = f"a member name in double quotes was expected, not {self._seen()}"
            raise self._refusal(message, pointer())
        self._assembly.name(self._string(pointer), offset)
        self._space()
        if not self._take(":"):
            message = f"a colon was expected, not {self._seen()}"
            raise self._refusal(message, self._assembly.value_pointer())
        self._space()

    def _plain(self, start: str) -> None:
        """Read a number or one of the three words."""
        number = NUMBER.match(self._text, self._at)
        if number is not None and not _NUMBER_TAIL.match(self._text, number.end()):
            try:
                self._assembly.add(read_number(number.group()), self._at)
            except ValueError as error:
                raise self._refusal(str(error), self._assembly.value_pointer()) from None
            self._at = number.end()
            return
        word = _WORD.match(self._text, self._at)
        if word is not None and word.group() in WORDS:
            self._assembly.add(WORDS[word.group()], self._at)
            self._at = word.end()
            return
        raise self._refusal(self._no_value(start), self._assembly.value_pointer())

    def _no_value(self, start: str) -> str:
        word = _WORD.match(self._text, self._at)
        if word is not None and word.group().lstrip("-") in {"NaN", "Infinity"}:
            return f"{word.group()} is not a JSON number; JSON has none that is not finite"
        if start and start in "+-.0123456789":
            return "not a JSON number: no leading zero or plus sign, digits on both sides of a point"
        return f"a JSON value was expected, not {self._seen()}"

    def _string(self, pointer: Callable[[], str]) -> str:
        simple = _SIMPLE_STRING.match(self._text, self._at)
        if simple is not None:
            self._at = simple.end()
            return simple.group(1)
        return self._string_with_escapes(pointer)

    def _string_with_escapes(self, pointer: Callable[[], str]) -> str:
        start, parts = self._at, []
        self._at += 1
        while True:
            end = self._run_end()
            parts.append(self._text[self._at : end])
            self._at = end
            stop = self._text[end : end + 1]
            if stop == '"':
                self._at += 1
                return "".join(parts)
            if not stop:
                self._at = start
                raise self._refusal("the string is never closed", pointer())
            if stop != "\\":
                raise self._refusal(_bad_character(stop), pointer())
            parts.append(self._escape(pointer))

    def _run_end(self) -> int:
        run = _RUN.match(self._text, self._at)
        return run.end() if run else self._at

    def _escape(self, pointer: Callable[[], str]) -> str:
        letter = self._text[self._at + 1 : self._at + 2]
        if letter in _ESCAPES:
            self._at += 2
            return _ESCAPES[letter]
        unit = _UNIT.match(self._text, self._at + 2) if letter == "u" else None
        if unit is None:
            message = r"unknown escape; allowed: \" \\ \/ \b \f \n \r \t and \u with four hex digits"
            raise self._refusal(message, pointer())
        code, end = int(unit.group(), 16), unit.end()
        if 0xD800 <= code < 0xDC00 and (low := _LOW_SURROGATE.match(self._text, end)):
            code = 0x10000 + ((code - 0xD800) << 10) + (int(low.group(1), 16) - 0xDC00)
            end = low.end()
        if 0xD800 <= code < 0xE000:
            raise self._refusal(_bad_character(chr(code)), pointer())
        self._at = end
        return chr(code)

    def _space(self) -> None:
        space = _SPACE.match(self._text, self._at)
        if space:
            self._at = space.end()

    def _take(self, character: str) -> bool:
        taken = self._text.startswith(character, self._at)
        self._at += taken
        return taken

    def _seen(self) -> str:
        word = _WORD.match(self._text, self._at)
        if word is not None:
            return word.group()[:20]
        character = self._text[self._at : self._at + 1]
        return json.dumps(character) if character else "the end of the text"

    def _refusal(self, message: str, pointer: str) -> SourceError:
        return self._assembly.refusal(message, self._at, pointer)


def _bad_character(character: str) -> str:
    code = f"U+{ord(character):04X}"
    if character < " ":
        return f"control character {code} in a string; it must be escaped"
    return f"lone surrogate {code}; it stands for no character and has no UTF-8 form"
