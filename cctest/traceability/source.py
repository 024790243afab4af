"""The source of a draft, in the dialect of kramdown-rfc, as the blocks and tokens of CommonMark.

Lines keep their numbers: what CommonMark doesn't know is blanked, never taken out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import yaml
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin

from cctest.problem import UsageProblem

BOILERPLATE: Final = "*The boilerplate of BCP 14 stands here.*"
"""What a reader sees in the place of `{::boilerplate bcp14-tagged}`."""

_TEXT: Final = ("inline", "code_block")
"""Tokens that hold text in which a sentence can stand; fenced blocks are figures and examples."""

_PART: Final = re.compile(r"--- *(abstract|middle|back|note_(?P<note>\w+))\s*$")
_TITLES: Final = {"abstract": "# Abstract"}
_FENCED: Final = re.compile(
    r"^ *(?P<mark>`{3,}|~{3,})[^\n]*\n(?:.*?^ *(?P=mark)[`~]* *$|.*\Z)", re.MULTILINE | re.DOTALL
)
_ATTRIBUTES: Final = re.compile(r"\s*\{:[^}]*\}\s*$")
_COMMENT: Final = re.compile(r"<!--.*?-->|\{::comment\}.*?\{:/(?:comment)?\}", re.DOTALL)
_EXTENSION: Final = re.compile(r"\s*\{::(?P<name>\w+)[^}]*\}\s*$")


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text that no sentence reaches beyond: a paragraph, a heading, a cell. `line` is its first."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Draft:
    """The source of one draft. `name` is what messages call it, such as `spec/draft-cache-intent.md`."""

    name: str
    title: str
    tokens: Sequence[Token]


@cache
def markdown() -> MarkdownIt:
    """Give the parser; no HTML passes through it, and nothing is fetched for what it makes."""
    parser = MarkdownIt("commonmark", {"html": False}).use(deflist_plugin)
    return parser.enable("table").disable(["image", "html_inline", "html_block"])


def read_draft(name: str, source: str) -> Draft:
    """Parse a draft. Raises UsageProblem where it doesn't begin with the front matter of a draft."""
    lines = source.replace("\r\n", "\n").split("\n")
    start = next((number for number, line in enumerate(lines) if _PART.match(line)), None)
    if lines[0].strip() != "---" or start is None:
        raise UsageProblem(
            "begins with no front matter", where=f"{name}:1", hint="`---`, YAML, then `--- abstract`"
        )
    try:
        front: Any = yaml.safe_load("\n".join(lines[1:start]))
        title = str(front["title"])
    except (yaml.YAMLError, KeyError, TypeError):
        raise UsageProblem("the front matter gives no title", where=f"{name}:1") from None
    return Draft(name, title, markdown().parse("\n" * start + _common("\n".join(lines[start:]))))


def blocks(draft: Draft) -> Iterator[Block]:
    """Yield the blocks of text of a draft, in order."""
    around = [0]
    for token in draft.tokens:
        if token.nesting == 1:
            around.append(token.map[0] if token.map else around[-1])
        elif token.nesting == -1:
            around.pop()
        elif token.type in _TEXT:
            yield Block(token.content, (token.map[0] if token.map else around[-1]) + 1)


def _common(source: str) -> str:
    """Blank what CommonMark doesn't know, outside of fenced blocks."""
    made: list[str] = []
    start = 0
    for fenced in _FENCED.finditer(source):
        made += [_without_extras(source[start : fenced.start()]), fenced[0]]
        start = fenced.end()
    return "".join([*made, _without_extras(source[start:])])


def _without_extras(text: str) -> str:
    text = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    return "\n".join(map(_line, text.split("\n")))


def _line(line: str) -> str:
    part = _PART.match(line)
    if part:
        note = part["note"]
        return f"# {note.replace('_', ' ')}" if note else _TITLES.get(part[1], "")
    extension = _EXTENSION.match(line)
    if extension:
        return BOILERPLATE if extension["name"] == "boilerplate" else ""
    return _ATTRIBUTES.sub("", line)
