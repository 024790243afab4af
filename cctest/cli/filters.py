"""The options that choose what is run: --findings, --case, --rule, --group and --exclude."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from cctest.selection import Wanted

_F = TypeVar("_F", bound=Callable[..., Any])


findings_option = click.option(
    "--findings",
    is_flag=True,
    help="Run the inputs of spec/findings.md that are no part of the suite, in its place.",
)


def filter_options(command: _F) -> Callable[..., Any]:
    """Add the options to a command, which gets them as one argument, `wanted`.

    Each may be given several times.
    """

    @functools.wraps(command)
    def gathered(
        *,
        cases: Sequence[str],
        rules: Sequence[str],
        groups: Sequence[str],
        excluded: Sequence[str],
        **others: Any,
    ) -> Any:
        return command(wanted=Wanted(cases, rules, groups, excluded), **others)

    options = (
        (
            "--case",
            "cases",
            "NAME",
            "Only the one of this name. This, and each of the next three, may be a glob.",
        ),
        ("--rule", "rules", "ID", "Only what exercises this rule."),
        ("--group", "groups", "NAME", "Only this group: sharing, retention, intake, ..."),
        ("--exclude", "excluded", "NAME", "All but this case or this check (case#expectation)."),
    )
    wrapped: Callable[..., Any] = gathered
    for option, name, metavar, text in reversed(options):
        wrapped = click.option(option, name, multiple=True, metavar=metavar, help=text)(wrapped)
    return wrapped
