"""A page for a terminal, and as Markdown."""

import io
from collections.abc import Iterator
from typing import Final

from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from cctest.minimality.page import Objection, Page, Table
from cctest.report.console import console_for
from cctest.report.plain import plain

_SHOWN: Final = 3
"""Columns of a table that a terminal has room for; Markdown has them all."""


def text_of(
    page: Page, *, width: int = 100, colour: bool = False, quiet: bool = False, taken: str = ""
) -> str:
    """Write a page for a terminal of `width` columns.

    `quiet` leaves the verdict line alone, which `taken` ends.
    """
    written = io.StringIO()
    console = console_for(written, width, colour=colour)
    if not quiet:
        for table in page.tables:
            console.print(_grid(table))
            console.print()
        for objection in page.objections:
            console.print(Text(f"NO  {plain(objection.title)}", style="bold red"))
            console.print(Padding(Text(plain(objection.text)), (0, 0, 0, 4)))
            for line in objection.inputs:
                console.print(Text(f"    {plain(line)}", style="dim"), soft_wrap=True)
            console.print()
    style = "bold red" if page.objections else "bold green"
    console.print(Text(f"{page.verdict}{taken}", style=style), soft_wrap=True)
    text = written.getvalue()
    return text if colour else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _grid(table: Table) -> Grid:
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    shown = table.columns if len(table.columns) <= _SHOWN + 1 else table.columns[:_SHOWN]
    for place, column in enumerate(shown):
        grid.add_column(column, overflow="fold", no_wrap=place == 0)
    for row in table.rows:
        grid.add_row(*(Text(plain(cell)) for cell in row[: len(shown)]))
    return grid


def markdown_of(page: Page) -> str:
    """Write a page as Markdown. The same search gives the same text, whenever it is made."""
    return "\n".join(_lines(page))


def _lines(page: Page) -> Iterator[str]:
    yield "# Is every member worth its place?"
    yield ""
    yield "Written by `cctest minimality`, from what the reference gateway did under every setting."
    yield "`reused` and `computed` are by usage counts; everything else is `cache_status`."
    yield ""
    yield f"**{_escaped(page.verdict)}**"
    for table in page.tables:
        yield ""
        yield f"## {table.title}"
        yield ""
        yield from _table(table)
    for objection in page.objections:
        yield from _objection(objection)
    yield ""


def _table(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(table.columns)} |"
    yield f"|{'---|' * len(table.columns)}"
    for row in table.rows:
        yield f"| {' | '.join(map(_escaped, row))} |"


def _objection(objection: Objection) -> Iterator[str]:
    yield ""
    yield f"## {_escaped(objection.title)}"
    yield ""
    yield _escaped(objection.text)
    yield ""
    yield "```"
    yield from map(plain, objection.inputs)
    yield "```"


def _escaped(text: str) -> str:
    return plain(text).replace("\\", "\\\\").replace("|", "\\|").replace("_", "\\_").replace("*", "\\*")
