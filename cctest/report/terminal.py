"""The report for people: a table by rule group, what went wrong in full, one verdict line."""

import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cctest.report.console import console_for
from cctest.report.coverage_words import summary_lines
from cctest.report.headline import headline
from cctest.report.known import excused_outcome, print_baseline
from cctest.report.model import Report, cell_name, of_profile
from cctest.report.plain import plain
from cctest.report.repeats import by_reason, repeated
from cctest.report.taken import taken_readings
from cctest.verdict import Check, Exit, Outcome, Profile, Result

_STYLES: Final = {
    Result.PASS: "green",
    Result.FAIL: "bold red",
    Result.WARN: "yellow",
    Result.UNSUPPORTED: "cyan",
    Result.INCONCLUSIVE: "magenta",
    Result.ERROR: "red",
}
_OUTCOME_STYLES: Final = {
    Outcome.CONFORMANT: "bold green",
    Outcome.NONCONFORMANT: "bold red",
    Outcome.INCOMPLETE: "bold magenta",
}
_REASONED: Final = (Result.ERROR, Result.INCONCLUSIVE, Result.WARN, Result.UNSUPPORTED)
"""Results that are told by reason, in this order, instead of check by check."""

_IDS_SHOWN: Final = 4


def terminal_text(
    report: Report,
    wordings: Mapping[str, str],
    *,
    width: int = 100,
    colour: bool = False,
    quiet: bool = False,
) -> str:
    """Write the report for a terminal of `width` columns; `quiet` leaves the verdict line alone.

    `wordings` gives the text of each rule by its identifier. Without `colour` there are no escape codes.
    """
    page = io.StringIO()
    console = console_for(page, width, colour=colour)
    if not quiet:
        if report.checks:
            console.print(_by_group(report.checks, wordings))
        news = report.baseline.remaining(report.checks) if report.baseline else report.checks
        for repeats in repeated(check for check in news if check.result is Result.FAIL):
            _print_in_full(console, repeats, wordings)
        for result in _REASONED:
            _print_reasons(console, result, report.checks)
        if report.baseline is not None:
            print_baseline(console, report.baseline)
        _print_readings(console, report)
        _print_notes(console, report)
        console.print()
    _line(console, _verdict(report))
    return page.getvalue() if colour else _stripped(page.getvalue())


def check_text(check: Check, wordings: Mapping[str, str], *, width: int = 100) -> str:
    """Write one check in full: its rules in words, what was expected and seen, evidence, how to reproduce."""
    page = io.StringIO()
    _print_in_full(console_for(page, width, colour=False), [check], wordings)
    return _stripped(page.getvalue()).strip("\n")


def _stripped(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def _line(console: Console, *parts: Text | str | tuple[str, str]) -> None:
    """Print one line that is never broken: commands and identifiers are there to be copied."""
    console.print(Text.assemble(*parts), soft_wrap=True)


def _group(rules: Sequence[str]) -> str:
    return rules[0].partition("-")[0] if rules else "other"


def _by_group(checks: Sequence[Check], wordings: Mapping[str, str]) -> Table:
    counts: dict[str, Counter[Result]] = {}
    order = [*wordings]
    for check in sorted(checks, key=lambda check: _place(check, order)):
        counts.setdefault(_group(check.rules), Counter())[check.result] += 1
    seen = [result for result in Result if any(group[result] for group in counts.values())]
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("rules")
    for result in seen:
        table.add_column(str(result), justify="right")
    for name, group in counts.items():
        table.add_row(name, *(_count(group[result], _STYLES[result]) for result in seen))
    if len(counts) > 1:
        total = sum(counts.values(), Counter[Result]())
        table.add_row("all", *(_count(total[result], _STYLES[result]) for result in seen))
    return table


def _place(check: Check, order: Sequence[str]) -> int:
    return order.index(check.rules[0]) if check.rules and check.rules[0] in order else len(order)


def _count(count: int, style: str) -> Text:
    return Text(str(count), style=style) if count else Text("-", style="dim")


def _print_in_full(console: Console, repeats: Sequence[Check], wordings: Mapping[str, str]) -> None:
    check = repeats[0]
    console.print()
    _line(console, (f"{str(check.result).upper()}  ", _STYLES[check.result]), (plain(check.id), "bold"))
    cells = [cell_name(each.cell) for each in repeats if each.cell]
    if cells:
        _line(console, f"  in        {plain('; '.join(cells))}")
    for rule in check.rules:
        _field(console, rule, wordings.get(rule, ""))
    _field(console, "message", check.message)
    _field(console, "expected", check.expected)
    _field(console, "seen", check.seen)
    for item in check.evidence:
        _field(console, "evidence", f"{item.source}: {item.seen}")
    for number, command in enumerate(check.reproduce):
        _line(console, ("  reproduce " if not number else "            "), (plain(command), "dim"))


def _field(console: Console, name: str, text: str) -> None:
    if not text:
        return
    grid = Table.grid(padding=(0, 0))
    grid.add_column(width=12, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(f"  {name}", Text(plain(text)))
    console.print(grid)


def _print_reasons(console: Console, result: Result, checks: Sequence[Check]) -> None:
    reasons = by_reason(checks, result)
    if reasons:
        console.print()
        _line(console, (str(result), _STYLES[result]))
    for message, group in reasons.items():
        ids = list(dict.fromkeys(check.id for check in group))
        more = f" and {len(ids) - _IDS_SHOWN} more" if len(ids) > _IDS_SHOWN else ""
        grid = Table.grid(padding=(0, 0))
        grid.add_column(width=6, justify="right")
        grid.add_column(width=2)
        grid.add_column(overflow="fold")
        grid.add_row(str(len(group)), "", Text(plain(message)))
        grid.add_row("", "", Text(plain(", ".join(ids[:_IDS_SHOWN]) + more), style="dim"))
        console.print(grid)


def _print_readings(console: Console, report: Report) -> None:
    if not report.readings:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for column in ("reading", "taken", "finding", "seen in"):
        table.add_column(column, overflow="fold")
    for reading in taken_readings(report):
        first, *others = reading.checks
        more = f" and {len(others)} more" if others else ""
        finding = reading.finding.id if reading.finding is not None else ""
        table.add_row(reading.id, Text(plain(reading.taken)), finding, Text(plain(first) + more, style="dim"))
    console.print()
    console.print(table)
    console.print(Text("cctest explain READING or FINDING says what else the rules permit", style="dim"))


def _print_notes(console: Console, report: Report) -> None:
    notes = [*_profiles(report), *report.notes]
    if report.unasserted:
        notes.append(
            f"{report.unasserted} members of effective policies were answered and not judged:"
            " their vectors don't say what is expected of them"
        )
    if notes or report.coverage is not None:
        console.print()
    for note in notes:
        console.print(Text(f"note: {plain(note)}"))
    for line in summary_lines(report.coverage) if report.coverage is not None else ():
        console.print(Text(f"coverage: {plain(line)}"))


def _profiles(report: Report) -> Iterator[str]:
    """Tell core from extended, vacuous passes apart, and what nobody can observe."""
    if report.command == "probe" and report.checks:
        counts = {
            profile: Counter(check.result for check in of_profile(report, profile)) for profile in Profile
        }
        yield "; ".join(f"{profile}: {_told(counts[profile])}" for profile in Profile)
    vacuous = Counter(check.message for check in report.checks if check.vacuous)
    for why, number in vacuous.items():
        yield f"{number} of the passes {'is' if number == 1 else 'are'} vacuous: {why}"
    if report.unobservable and report.coverage is None:
        yield f"not observable from outside, so not tested: {', '.join(report.unobservable)}"


def _told(counts: Counter[Result]) -> str:
    return ", ".join(f"{counts[result]} {result}" for result in Result if counts[result]) or "no checks"


def _verdict(report: Report) -> Text:
    outcome = report.verdict.outcome
    counts = Counter(check.result for check in report.checks)
    parts = [_told(counts), f"{report.seconds:.1f} s"]
    if report.target is not None:
        parts.insert(0, plain(report.target))
    if report.seed is not None:
        parts.append(f"seed {report.seed}")
    reasons = "".join(f"; {plain(reason)}" for reason in report.verdict.reasons)
    if report.baseline is not None and report.verdict.exit is Exit.OK and outcome is not Outcome.CONFORMANT:
        return Text.assemble((excused_outcome(report.baseline), "bold yellow"), f": {', '.join(parts)}")
    told = headline(report)
    style = _OUTCOME_STYLES[Outcome.NONCONFORMANT if report.verdict.exit is Exit.FAILED else outcome]
    whole = f"{told} (of the selection)" if report.partial else told
    return Text.assemble((whole, style), f": {', '.join(parts)}{reasons}")
