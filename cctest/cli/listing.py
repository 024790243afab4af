"""`cctest list`: what there is to run, and which rules it exercises."""

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import click

from cctest.catalogue import load_catalogue, load_readings
from cctest.cli.filters import filter_options
from cctest.findings import load_findings
from cctest.probe.load import load_cases
from cctest.report.destination import say
from cctest.selection import Filter, Wanted
from cctest.vectors.load import bundled_vectors


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of a list: a name, the rules it stands for, what it is, its group, and its checks."""

    name: str
    rules: tuple[str, ...]
    about: str
    group: str = ""
    checks: tuple[str, ...] = ()


def _vectors() -> Iterator[_Entry]:
    for vector in bundled_vectors():
        yield _Entry(vector.name, vector.rules, f"{vector.kind}: {', '.join(vector.rules)}", vector.kind)


def _cases() -> Iterator[_Entry]:
    for case in load_cases():
        rules = tuple(sorted(case.all_rules))
        about = f"{case.title} ({', '.join(rules)})"
        yield _Entry(case.id, rules, about, case.group, case.checks)


def _rules() -> Iterator[_Entry]:
    for rule in load_catalogue().values():
        yield _Entry(rule.id, (rule.id,), f"{rule.level}: {rule.text}", rule.group)


def _readings() -> Iterator[_Entry]:
    for reading in load_readings().values():
        options = "; ".join(f"{option.key}: {option.text}" for option in reading.options)
        yield _Entry(reading.id, reading.rules, f"{reading.question} {options}")


def _findings() -> Iterator[_Entry]:
    readings = load_readings()
    for finding in load_findings().values():
        rules = readings[finding.reading].rules if finding.reading is not None else ()
        reading = f" ({finding.reading})" if finding.reading is not None else ""
        yield _Entry(finding.id, rules, f"{finding.title}{reading}")


_LISTS: Final[dict[str, Callable[[], Iterator[_Entry]]]] = {
    "vectors": _vectors,
    "cases": _cases,
    "rules": _rules,
    "readings": _readings,
    "findings": _findings,
}


@click.command("list", short_help="Show what there is to run.")
@click.argument("what", type=click.Choice(list(_LISTS)), required=False)
@filter_options
def command(*, what: str | None, wanted: Wanted) -> None:
    """Show the vectors, the behavioural cases, the rules, the open readings and the findings, or one.

    The group of a case is the name of its file, that of a vector its kind, that of a rule its family.
    """
    found = {name: tuple(entries()) for name, entries in _LISTS.items() if what in (None, name)}
    entries = [entry for group in found.values() for entry in group]
    by_name: Filter[_Entry] = Filter(
        "entry",
        lambda entry: entry.name,
        lambda entry: entry.rules,
        lambda entry: entry.group,
        lambda entry: entry.checks,
    )
    chosen = set(by_name.narrow(entries, wanted, load_catalogue()))
    pages = []
    for name, group in found.items():
        shown = [entry for entry in group if entry in chosen]
        if shown:
            width = max(len(entry.name) for entry in shown)
            heading = [f"{name} ({len(shown)})"] if what is None else []
            pages.append("\n".join([*heading, *(_line(entry, width) for entry in shown)]))
    say("\n\n".join(pages) + "\n")


def _line(entry: _Entry, width: int) -> str:
    return f"{entry.name:<{width}}  {textwrap.shorten(entry.about, 400, placeholder=' ...')}"
