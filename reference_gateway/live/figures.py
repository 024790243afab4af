"""Figures that were seen on an engine, with what they were seen on: as Markdown for people, and as JSON."""

import json
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from reference_gateway.live.chat import Answer
from reference_gateway.live.engine import REGIONS, Engine

_WIDTH: Final = 118


@dataclass(frozen=True, slots=True)
class Occasion:
    """On what, and when (UTC), figures were seen: `block_size` in tokens, `plugin` ours if it is there."""

    engine: str
    model: str
    block_size: int
    day: str
    plugin: str | None = None

    def __str__(self) -> str:
        plugin = f" with {self.plugin}" if self.plugin else ""
        model = f"model `{self.model}`, blocks of {self.block_size} tokens"
        return f"Seen on {self.engine}{plugin}, {model}, {self.day}."

    def document(self) -> dict[str, Any]:
        """Give it as a JSON value."""
        return {
            "engine": self.engine,
            "model": self.model,
            "block_size": self.block_size,
            "day": self.day,
            **({"plugin": self.plugin} if self.plugin else {}),
        }


def occasion(engine: Engine) -> Occasion:
    """Ask an engine what it is."""
    day = datetime.now(UTC).date().isoformat()
    status = engine.regions()
    plugin = None if status is None else f"{REGIONS} {status['version']}"
    return Occasion(f"vLLM {engine.version()}", engine.model, engine.block_size(), day, plugin)


def reusable(answer: Answer, block_size: int) -> int:
    """Tokens of a prompt that an engine can at most read: whole blocks, and never the last token."""
    if answer.http != 200 or answer.prompt is None:
        raise RuntimeError(f"no token counts in HTTP {answer.http}: {answer.body}")
    return (answer.prompt - 1) // block_size * block_size


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Give a Markdown table, padded so that it reads well as it is."""
    lines = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    padded = [
        " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    ]
    rule = "-|-".join("-" * width for width in widths)
    return "\n".join(f"| {line} |" for line in (padded[0], rule, *padded[1:])).replace(
        f"| {rule} |", f"|-{rule}-|"
    )


def paragraph(prose: str, *, indent: str = "") -> str:
    """Break prose into lines, wherever it was broken before; all but the first one are indented."""
    return textwrap.fill(
        " ".join(prose.split()),
        _WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot as SVG, and what it shows in words, for whoever doesn't see it."""

    svg: bytes
    alternative: str

    def markdown(self, name: str) -> str:
        """Refer to it from Markdown beside it, in the file that is called `name`."""
        return f"![{self.alternative}]({name}.svg)"


def write(folder: Path, name: str, markdown: str, document: dict[str, Any], plot: Plot | None = None) -> None:
    """Write all forms into a folder. Where there is a plot, the Markdown says so under its title."""
    if plot is not None:
        title, _, rest = markdown.partition("\n\n")
        markdown = f"{title}\n\n{plot.markdown(name)}\n\n{rest}"
        (folder / f"{name}.svg").write_bytes(plot.svg)
    (folder / f"{name}.md").write_text(markdown + "\n", encoding="utf-8")
    (folder / f"{name}.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
