"""Pages for a terminal, as text: nothing in them is taken for markup, and no word gets a colour by itself."""

import io

from rich.console import Console


def console_for(page: io.StringIO, width: int, *, colour: bool) -> Console:
    """Give a console that writes to `page`, of `width` columns; without `colour` no escape codes."""
    return Console(
        file=page,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        emoji=False,
        markup=False,
    )
