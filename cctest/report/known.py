"""The baseline in the report for people: what is known, and which entries don't hold."""

from collections import Counter
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cctest.baseline.entry import Entry, Flaw, Standing
from cctest.report.model import cell_name
from cctest.report.plain import plain
from cctest.verdict import Result


def excused_outcome(standing: Standing) -> str:
    """The verdict's first words where everything that went wrong is known: it is still not conformant."""
    counts = Counter(check.result for check, _ in standing.known)
    number = counts[Result.FAIL]
    parts = [f"{number} known failure{'' if number == 1 else 's'}"] if number else []
    parts += [f"{counts[Result.INCONCLUSIVE]} known to be inconclusive"] * bool(counts[Result.INCONCLUSIVE])
    return f"conformant except for {' and '.join(parts)}"


def print_baseline(console: Console, standing: Standing) -> None:
    """Print every entry that is in use with its number of checks, and every one that doesn't hold."""
    uses = Counter(_name(entry) for _, entry in standing.known)
    entries = {_name(entry): entry for _, entry in standing.known}
    if entries:
        console.print()
        console.print(Text(plain(f"known, by {standing.file}"), style="yellow"), soft_wrap=True)
    for name, entry in entries.items():
        _row(console, str(uses[name]), f"{name}: {entry.result} until {entry.expires}", entry)
    for title, flaws in _by_kind(standing):
        if flaws:
            console.print()
            console.print(Text(f"{title} in the baseline", style="bold red"))
        for flaw in flaws:
            _row(console, "", f"{_name(flaw.entry)}: {flaw.why}", flaw.entry)


def flaw_lines(standing: Standing) -> Iterator[str]:
    """Tell every entry that doesn't hold, two lines each."""
    for title, flaws in _by_kind(standing):
        for flaw in flaws:
            yield f"{title}: {_name(flaw.entry)}: {flaw.why}"
            yield f"  {flaw.entry.where}: {flaw.entry.reason} ({flaw.entry.link})"


def _by_kind(standing: Standing) -> tuple[tuple[str, tuple[Flaw, ...]], ...]:
    return ("stale", standing.stale), ("unknown", standing.unknown), ("expired", standing.expired)


def _row(console: Console, number: str, line: str, entry: Entry) -> None:
    grid = Table.grid(padding=(0, 0))
    grid.add_column(width=6, justify="right")
    grid.add_column(width=2)
    grid.add_column(overflow="fold")
    grid.add_row(number, "", Text(plain(line)))
    grid.add_row("", "", Text(plain(f"{entry.reason} ({entry.link})"), style="dim"))
    console.print(grid)


def _name(entry: Entry) -> str:
    cell = cell_name(entry.cell)
    return f"{entry.check} [{cell}]" if cell else entry.check
