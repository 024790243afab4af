"""The sentences of a draft that state a rule: with a keyword of BCP 14, and the rule's identifier."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from cctest.catalogue import Level
from cctest.traceability.source import Block, Draft, blocks


class Keyword(StrEnum):
    """The keywords of BCP 14."""

    MUST_NOT = "MUST NOT"
    MUST = "MUST"
    REQUIRED = "REQUIRED"
    SHALL_NOT = "SHALL NOT"
    SHALL = "SHALL"
    SHOULD_NOT = "SHOULD NOT"
    SHOULD = "SHOULD"
    NOT_RECOMMENDED = "NOT RECOMMENDED"
    RECOMMENDED = "RECOMMENDED"
    MAY = "MAY"
    OPTIONAL = "OPTIONAL"

    @property
    def level(self) -> Level:
        """How binding a sentence with this keyword is."""
        if self in (Keyword.MAY, Keyword.OPTIONAL):
            return Level.MAY
        weaker = (Keyword.SHOULD, Keyword.SHOULD_NOT, Keyword.RECOMMENDED, Keyword.NOT_RECOMMENDED)
        return Level.SHOULD if self in weaker else Level.MUST


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence, with single spaces between its words, and the line on which it begins.

    `rules` are the identifiers in the parentheses that end it, `readings` those of open questions among
    them; `mentions` are all identifiers in it.
    """

    document: str
    line: int
    text: str
    keywords: tuple[Keyword, ...]
    rules: tuple[str, ...]
    readings: tuple[str, ...]
    mentions: tuple[str, ...]

    @property
    def where(self) -> str:
        """Name file and line."""
        return f"{self.document}:{self.line}"

    @property
    def normative(self) -> bool:
        """Whether it has a keyword of BCP 14."""
        return bool(self.keywords)


READING: Final = "READ"
"""The family of identifiers of open questions."""

_CODE: Final = re.compile(r"(?P<ticks>`+)(?:.|\n)+?(?<!`)(?P=ticks)(?!`)")
_KEYWORD: Final = re.compile(r"\b(?:" + "|".join(word.replace(" ", r"\s+") for word in Keyword) + r")\b")
_IDENTIFIER: Final = re.compile(r"(?<![\w-])[A-Z]{2,5}-\d+(?![\w-])")
_TIE: Final = re.compile(r"\(((?:[A-Z]{2,5}-\d+)(?:,\s+[A-Z]{2,5}-\d+)*)\)[.:;!?]?[*_]*$")
_END: Final = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\bcf)(?<!\bvs)(?<!\betc)[.!?][\"')\]*_]*\s+")
_BOILERPLATE: Final = re.compile(r"interpreted\s+as\s+described\s+in\s+BCP")


def sentences(draft: Draft) -> Iterator[Sentence]:
    """Yield the sentences of a draft in order, those without a rule too; code fences hold none."""
    for block in blocks(draft):
        for start, raw in pieces(block.text):
            yield read_sentence(draft.name, block, start, raw)


def pieces(text: str) -> Iterator[tuple[int, str]]:
    """Split a block of text into sentences: the offset and the source of each, spaces at its ends included.

    Where a full stop may or may not end one, it does: half of a rule is found out, two in one aren't.
    """
    start = 0
    for end in _END.finditer(_without_code(text)):
        yield start, text[start : end.end()]
        start = end.end()
    if start < len(text):
        yield start, text[start:]


def read_sentence(document: str, block: Block, start: int, raw: str) -> Sentence:
    """Read what a piece of a block says of rules."""
    plain = _without_code(raw)
    tie = _TIE.search(plain.strip())
    tied = tuple(_IDENTIFIER.findall(tie[1])) if tie else ()
    words = [] if _BOILERPLATE.search(plain) else _KEYWORD.findall(plain)
    lead = len(raw) - len(raw.lstrip())
    return Sentence(
        document=document,
        line=block.line + block.text.count("\n", 0, start + lead),
        text=" ".join(raw.split()),
        keywords=tuple(Keyword(" ".join(word.split())) for word in words),
        rules=tuple(name for name in tied if family(name) != READING),
        readings=tuple(name for name in tied if family(name) == READING),
        mentions=tuple(_IDENTIFIER.findall(plain)),
    )


def family(identifier: str) -> str:
    """Give the family of an identifier: `RET` of `RET-3`."""
    return identifier.partition("-")[0]


def _without_code(text: str) -> str:
    """Replace inline code by as many characters that are neither words nor full stops."""
    return _CODE.sub(lambda match: "·" * len(match[0]), text)
