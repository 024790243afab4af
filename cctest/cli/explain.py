"""`cctest explain`: a case, a check, a rule or a reading in words."""

import click

from cctest.explain.topic import explain
from cctest.report.destination import say
from cctest.report.plain import plain


@click.command("explain", short_help="Explain a case, a check, a rule or a reading.")
@click.argument("name", metavar="CASE|CHECK|RULE|READING")
def command(*, name: str) -> None:
    """Explain what a case sends and demands, on what evidence, how to fix what fails and how to reproduce it.

    Or what a rule says and what exercises it, or which answers an open question permits. `cctest list` shows
    every name.
    """
    say(plain(explain(name)))
