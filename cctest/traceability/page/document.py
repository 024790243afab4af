"""One draft as HTML: its sentences are marked, and a note follows the block in which each stands."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from markdown_it.token import Token
from markupsafe import Markup, escape

from cctest.report.plain import plain
from cctest.traceability.sentences import Sentence, pieces, read_sentence
from cctest.traceability.source import Block, Draft, markdown

Note = Callable[[Sentence], Markup]
"""What is shown of a normative sentence behind its block."""

_ANCHOR: Final = re.compile(r"\s*\{#(?P<name>[^}]+)\}\s*$")
_REFERENCE: Final = re.compile(r"(?P<code>`[^`]*`)|\{\{(?:<{2})?[!?-]?(?P<to>[^}]+)\}\}")
_INSIDE: Final = ("td_close", "th_close", "dt_close")
"""Blocks whose notes stand in them; the notes of others follow them."""

_DEEPEST: Final = 6


@dataclass(slots=True)
class _Writer:
    """The state of writing one draft: tokens that were made, and notes that wait for the end of a block."""

    draft: Draft
    note: Note
    prefix: str
    headings: Mapping[str, str]
    anchors: Iterator[str]
    made: list[Token] = field(default_factory=list)
    waiting: list[Markup] = field(default_factory=list)
    around: list[int] = field(default_factory=lambda: [0])

    def html(self, text: str) -> None:
        self.made.append(Token("html_block", "", 0, content=text))

    def wait(self, note: Markup) -> None:
        if note not in self.waiting:  # two sentences of one rule need no two
            self.waiting.append(note)

    def flush(self) -> None:
        if self.waiting:
            self.html("".join(self.waiting))
            self.waiting.clear()


def document_html(draft: Draft, prefix: str, anchors: Iterator[str], note: Note) -> Markup:
    """Write the text of a draft, its headings two levels down.

    `prefix` begins its anchors, so that two drafts fit one page; `anchors` names its normative sentences, in
    order. The HTML is made from CommonMark tokens without any HTML of the source.
    """
    writer = _Writer(draft, note, prefix, _titles(draft), anchors)
    for token in draft.tokens:
        _write(writer, token)
    parser = markdown()
    return Markup(parser.renderer.render(writer.made, parser.options, {}))  # noqa: S704 - escaped by the renderer


def _titles(draft: Draft) -> Mapping[str, str]:
    """Map the anchors of a draft's headings to their texts."""
    texts = [
        token.content
        for before, token in zip(draft.tokens, draft.tokens[1:], strict=False)
        if before.type == "heading_open"
    ]
    found = ((_ANCHOR.search(text), text) for text in texts)
    return {anchor["name"]: text[: anchor.start()] for anchor, text in found if anchor}


def _write(writer: _Writer, token: Token) -> None:
    if token.nesting == 1:
        writer.around.append(token.map[0] if token.map else writer.around[-1])
    elif token.nesting == -1:
        writer.around.pop()
    if token.type in _INSIDE:
        writer.flush()
    if token.type == "th_close" and writer.made[-2].tag == "td":
        token = token.copy(tag="td")
    writer.made.append(token)
    if token.type.startswith("heading_"):
        _lower(writer.made, token)
    elif token.type == "inline":
        writer.made[-1] = _marked(writer, token)
        _unhead(writer.made)
    elif token.type in ("fence", "code_block"):
        writer.made.pop()
        writer.html(f'<pre tabindex="0"><code>{escape(plain(token.content))}</code></pre>\n')
    if token.type.endswith("_close"):
        writer.flush()


def _lower(made: list[Token], token: Token) -> None:
    level = min(int(token.tag[1]) + 2, _DEEPEST)
    made[-1] = token.copy(tag=f"h{level}")


def _unhead(made: list[Token]) -> None:
    """Make a plain cell of an empty head, which a screen reader would announce for nothing."""
    if made[-2].type == "th_open" and not made[-1].content:
        made[-2] = made[-2].copy(tag="td")


def _marked(writer: _Writer, token: Token) -> Token:
    """Give the token with its sentences parsed one by one, and those that state a rule marked."""
    children: list[Token] = []
    block = Block(token.content, (token.map[0] if token.map else writer.around[-1]) + 1)
    for start, raw in pieces(token.content):
        sentence = read_sentence(writer.draft.name, block, start, raw)
        inside = _parsed(writer, raw.strip())
        if sentence.normative:
            children += [_raw(f'<mark id="{next(writer.anchors)}">'), *inside, _raw("</mark>")]
            writer.wait(writer.note(sentence))
        else:
            children += inside
        children.append(Token("text", "", 0, content=" "))
    return token.copy(children=children)


def _parsed(writer: _Writer, raw: str) -> list[Token]:
    anchor = _ANCHOR.search(raw)
    text = raw[: anchor.start()] if anchor else raw
    spelt = _REFERENCE.sub(lambda match: match["code"] or _reference(writer, match["to"]), plain(text))
    (inline,) = markdown().parseInline(spelt)
    children = inline.children or []
    if anchor:
        children = [_raw(f'<span id="{escape(writer.prefix + anchor["name"])}">'), *children, _raw("</span>")]
    return children


def _reference(writer: _Writer, to: str) -> str:
    """Write a reference of kramdown-rfc: a link to a section of the same draft, or a name in brackets."""
    name = to.strip()
    if name in writer.headings:
        return f"[{writer.headings[name]}](#{writer.prefix}{name})"
    return f"\\[{name}\\]"


def _raw(html: str) -> Token:
    return Token("html_inline", "", 0, content=html)
