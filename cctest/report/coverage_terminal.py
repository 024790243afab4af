"""Coverage for a terminal: three tables, why what wasn't tested wasn't, and the gaps."""

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cctest.coverage.model import Coverage, Row, RuleRow, State, Tested
from cctest.report.console import console_for
from cctest.report.coverage_words import reason_lines, summary_lines, together_line
from cctest.report.plain import plain

_STYLES: Final = {
    "pass": "green",
    "fail": "bold red",
    "warn": "yellow",
    str(State.UNDECIDED): "magenta",
    str(State.UNSUPPORTED): "cyan",
    str(State.NOT_RUN): "dim",
    str(State.UNOBSERVABLE): "dim",
}


def coverage_text(coverage: Coverage, *, width: int = 100, colour: bool = False, quiet: bool = False) -> str:
    """Write coverage for a terminal of `width` columns; `quiet` leaves the sums and the gaps alone.

    Without `colour` there are no escape codes.
    """
    page = io.StringIO()
    console = console_for(page, width, colour=colour)
    if not quiet:
        _print_tables(console, coverage, width)
    for line in _closing(coverage):
        console.print(line)
    text = page.getvalue()
    return text if colour else "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _print_tables(console: Console, coverage: Coverage, width: int) -> None:
    console.print(_rules(coverage))
    console.print()
    console.print(_rows(coverage, "interoperability test", coverage.interoperability, width))
    console.print()
    console.print(_rows(coverage, "beyond any schema", coverage.beyond_schemas, width))
    for index in range(len(coverage.runs)):
        _print_reasons(console, coverage, index)
    console.print()
    console.print(Text("binds: application, gateway, engine, host protocol", style="dim"))
    console.print(Text("seen in: document, response, engine, timing", style="dim"))
    console.print()


def _table(coverage: Coverage, *columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(
            column, justify="right" if column in ("vectors", "cases", "checks") else "left", overflow="fold"
        )
    for run in coverage.runs:
        table.add_column(plain(run.name), overflow="fold")
    return table


def _rules(coverage: Coverage) -> Table:
    table = _table(coverage, "rule", "level", "binds", "seen in", "vectors", "cases", "checks")
    for each in coverage.rules:
        table.add_row(each.rule.id, each.rule.level, *_short(each), *_numbers(each.row), *_shown(each.row))
    return table


def _short(each: RuleRow) -> Iterator[str]:
    """Write parties and places by their first letters; a legend stands below."""
    yield " ".join(party[0].upper() for party in each.rule.binds)
    yield "-" if each.rule.because else " ".join(place[0].upper() for place in each.rule.observable)


def _rows(coverage: Coverage, what: str, rows: Iterable[Row], width: int) -> Table:
    table = _table(coverage, what, "vectors", "cases", "checks")
    table.columns[0].min_width = max(24, width - 26 - 24 * len(coverage.runs))
    for row in rows:
        table.add_row(plain(f"{row.name}: {row.text}"), *_numbers(row), *_shown(row))
    return table


def _numbers(row: Row) -> tuple[str, str, str]:
    counts = (len(row.vectors), len(row.cases), len(row.checks))
    first, second, third = (str(count) if count else "-" for count in counts)
    return first, second, third


def _shown(row: Row) -> list[Text]:
    return [Text(_cell(tested), style=_STYLES[tested.word]) for tested in row.tested]


def _cell(tested: Tested) -> str:
    if tested.state is not State.TESTED:
        return tested.word
    return f"{tested.word} ({', '.join(tested.evidence)})" if tested.evidence else tested.word


def _print_reasons(console: Console, coverage: Coverage, index: int) -> None:
    """Print why rules weren't tested by a run, or not by all of their checks; equal reasons together."""
    reasons: dict[str, list[str]] = {}
    for each in coverage.rules:
        for line in reason_lines(each.row.tested[index]):
            reasons.setdefault(line.partition("): ")[2] or line, []).append(each.rule.id)
    if not reasons:
        return
    console.print()
    console.print(Text(f"not, or not wholly, tested by {plain(coverage.runs[index].name)}", style="bold"))
    for message, rules in reasons.items():
        grid = Table.grid(padding=(0, 0))
        grid.add_column(width=2)
        grid.add_column(overflow="fold")
        grid.add_row("", Text(plain(message)))
        grid.add_row("", Text(", ".join(dict.fromkeys(rules)), style="dim"))
        console.print(grid)


def _closing(coverage: Coverage) -> Iterator[Text]:
    for run in coverage.runs:
        if not run.same_suite:
            yield Text(plain(f"note: {run.name} was made with another version of the suite"))
    for index, run in enumerate(coverage.runs):
        for line in summary_lines(coverage, index):
            yield Text(plain(f"{run.name}: {line}"))
    if len(coverage.runs) > 1:
        yield Text(plain(f"together: {together_line(coverage)}"))
    for gap in coverage.gaps:
        yield Text(plain(f"GAP  {gap.name}: {gap.message}"), style="bold red")
    yield _verdict(coverage)


def _verdict(coverage: Coverage) -> Text:
    musts = _observable_musts(coverage.rules)
    whole = f"{len(coverage.rules)} rules, {musts} of them MUSTs that can be observed"
    if coverage.gaps:
        return Text(f"{whole}: {len(coverage.gaps)} gaps", style="bold red")
    return Text(f"{whole}: each has its vectors and cases", style="bold green")


def _observable_musts(rules: Sequence[RuleRow]) -> int:
    return sum(each.rule.level == "MUST" and each.rule.because is None for each in rules)
