"""JSON texts changed member by member, everything else kept exactly as it was spelt.

Numbers pass a gateway unrounded and unknown members unharmed this way: what isn't changed is never decoded
and encoded again. The texts must be JSON already; names must not occur twice in one object.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Optional, TypeAlias

Spell: TypeAlias = Callable[[str | None], str]
"""Makes a member's text of the one that it had; None where the object hadn't that member."""

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")
_MEMBER: Final = re.compile(
    r'"([^"\\]*)"[ \t\n\r]*:[ \t\n\r]*'
    r'(?:("[^"\\]*+(?:\\.[^"\\]*+)*+"|[^"\[\]{}, \t\n\r]++)[ \t\n\r]*,?[ \t\n\r]*)?',
    re.DOTALL,
)
"""A member whose name has no escapes, and its value up to the next member, unless it is a container."""

_BRACKET: Final = re.compile(
    r'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+([\[\]{}])',
    re.DOTALL,
)
"""Up to the next bracket that stands in no string."""
_LARGE: Final = 262_144
"""In a text of so many characters containers are passed over and not read: that would hold everybody up."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What to do with a value; one that is neither an object nor an array stays as it is.

    Of an object, the members `drop` are left out, those of `put` take the place of what they were or are
    added at the end, and those of `inner` are edited in turn. Of an array, each element is edited as `each`
    says.
    """

    drop: Collection[str] = ()
    put: Mapping[str, Spell] = field(default_factory=dict)
    inner: Mapping[str, "Edit"] = field(default_factory=dict)
    each: Optional["Edit"] = None


def edited(text: str, edit: Edit) -> str:
    """Give a text with one edit made, in one pass. Raises ValueError where `text` is no JSON."""
    editor = _Editor(text)
    editor.value(_skip(text, 0), edit)
    return editor.result()


def without(text: str, names: Collection[str]) -> str:
    r"""Leave members out of an object; what is no object stays as it is.

    The names must be ones that JSON can only spell as they are, or with `\u` escapes.
    """
    return edited(text, Edit(drop=names)) if _may_hold(text, names) else text


def with_member(text: str, name: str, value: str) -> str:
    """Put a member at the end of an object, in place of one that it may have. `name` is as for `without`."""
    kept = without(text, (name,)).rstrip().removesuffix("}").rstrip()
    return f"{kept}{'' if kept.endswith('{') else ','}{json.dumps(name)}:{value}}}"


def members(text: str) -> dict[str, str]:
    """Give the texts of an object's members, none of which is read. Raises ValueError where it is none."""
    found: dict[str, str] = {}
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        raise ValueError("no object")
    at = _skip(text, at + 1)
    while text[at : at + 1] not in ("}", ""):
        name, start, end, following = _member(text, at)
        if not end:
            end = _end(text, start)
            following = _following(text, end)
        found[name], at = text[start:end], following
    if text[at:].rstrip() != "}":
        raise ValueError("the object isn't closed, or something stands behind it")
    return found


class _Editor:
    """Goes through a text once, and copies what stays."""

    __slots__ = ("_copied", "_pieces", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._pieces: list[str] = []
        self._copied = 0

    def result(self) -> str:
        self._pieces.append(self._text[self._copied :])
        return "".join(self._pieces)

    def value(self, at: int, edit: Edit) -> int:
        """Edit the value that starts there, and give its end."""
        opener = self._text[at : at + 1]
        if opener == "{":
            return self._object(at, edit)
        if opener == "[" and edit.each is not None:
            return self._array(at, edit.each)
        return _end(self._text, at)

    def _array(self, at: int, edit: Edit) -> int:
        text = self._text
        at = _skip(text, at + 1)
        while text[at] != "]":
            at = _following(text, self.value(at, edit))
        return at + 1

    def _object(self, at: int, edit: Edit) -> int:
        text, drop, inner = self._text, edit.drop, edit.inner
        missing = dict(edit.put)
        any_kept = False
        last_end = at = _skip(text, at + 1)
        while text[at] != "}":
            name, start, end, following = _member(text, at)
            dropped = name in drop
            if not end:
                end = self.value(start, inner[name]) if name in inner and not dropped else _end(text, start)
                following = _following(text, end)
            if dropped:
                self._cut(*((last_end, end) if any_kept else (at, following)))
            else:
                any_kept = True
                if name in missing:
                    self._replace(start, end, missing.pop(name)(text[start:end]))
            last_end, at = end, following
        for name, spell in missing.items():
            comma = "," if any_kept else ""
            self._replace(at, at, f"{comma}{json.dumps(name)}:{spell(None)}")
            any_kept = True
        return at + 1

    def _cut(self, start: int, end: int) -> None:
        self._replace(start, end, "")

    def _replace(self, start: int, end: int, text: str) -> None:
        self._pieces += (self._text[self._copied : start], text)
        self._copied = end


def _member(text: str, at: int) -> tuple[str, int, int, int]:
    """Give a member's name, where its value starts and ends, and where the next member starts.

    Of a container only the start is given, and zeros.
    """
    plain = _MEMBER.match(text, at)
    if plain is None:
        name, at = _DECODER.raw_decode(text, at)
        return name, _skip(text, _skip(text, at) + 1), 0, 0  # past the colon
    start, end = plain.span(2)
    return (plain[1], start, end, plain.end()) if end > 0 else (plain[1], plain.end(), 0, 0)


def _end(text: str, at: int) -> int:
    """Find the end of the value that starts there."""
    if len(text) >= _LARGE and text[at : at + 1] in ("[", "{"):
        return _end_of_container(text, at)
    return _DECODER.raw_decode(text, at)[1]


def _end_of_container(text: str, at: int) -> int:
    """Find the end of an array or object by its brackets. Raises ValueError where they don't match."""
    depth = 0
    while bracket := _BRACKET.match(text, at):
        at = bracket.end()
        depth += 1 if bracket[1] in "[{" else -1
        if not depth:
            return at
    raise ValueError("a container is never closed")


def _following(text: str, end: int) -> int:
    """Give the place after a value where the next one starts, or where the container is closed."""
    at = _skip(text, end)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    if text[at : at + 1] not in " \t\n\r":
        return at
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _may_hold(text: str, names: Collection[str]) -> bool:
    """Tell quickly where a name can't occur; one that is spelt with escapes might be anywhere."""
    return "\\u" in text or any(f'"{name}"' in text for name in names)
