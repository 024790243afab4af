"""How pages are rendered: what comes from a target is escaped, and can't turn the direction of writing."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from cctest.report.plain import plain


def environment(functions: Iterable[Callable[..., Any]], folder: Path | None = None) -> Environment:
    """Give what renders the templates of this folder, and of another one; templates may call `functions`."""
    own = Path(__file__).parent
    made = Environment(
        loader=FileSystemLoader([own] if folder is None else [folder, own]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalized,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals.update({function.__name__: function for function in functions})
    return made


def _finalized(value: Any) -> Any:
    """Neutralise what an expression puts on the page, unless the template itself made it."""
    return plain(str(value)) if isinstance(value, str) and not isinstance(value, Markup) else value


def coded(text: str) -> Markup:
    """Escape our own prose, and show as code what stands in back quotes."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(plain(text)))))  # noqa: S704 - escaped
