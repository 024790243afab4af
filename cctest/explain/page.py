"""Lines of an explanation: headings, paragraphs, terms, lists; no colour, fit for a pipe."""

import textwrap
from collections.abc import Iterator
from typing import Final

WIDTH: Final = 100
"""Characters of a line, but for commands, which are never broken."""

_TERM: Final = 16


def heading(text: str) -> Iterator[str]:
    """An empty line and a title."""
    yield ""
    yield text


def line(text: str) -> Iterator[str]:
    """A paragraph."""
    yield from textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def item(mark: str, text: str) -> Iterator[str]:
    """An item of a list."""
    yield from _hanging(f"  {mark} ", text)


def term(name: str, text: str) -> Iterator[str]:
    """A name and what it stands for."""
    yield from _hanging(f"  {name:<{_TERM}} ", text)


def _hanging(lead: str, text: str) -> Iterator[str]:
    yield from textwrap.wrap(
        text or " ",
        WIDTH,
        initial_indent=lead,
        subsequent_indent=" " * len(lead),
        break_long_words=False,
        break_on_hyphens=False,
    ) or [lead.rstrip()]
