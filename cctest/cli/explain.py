"""`cctest explain`: a case, a check, a rule, a reading or a finding in words."""

import click

from cctest.explain.topic import explain
from cctest.report.destination import say
from cctest.report.plain import plain


@click.command("explain", short_help="Explain a case, a check, a rule, a reading or a finding.")
@click.argument("name", metavar="CASE|CHECK|RULE|READING|FINDING")
def command(*, name: str) -> None:
    """Explain what a case sends and demands, on what evidence, how to fix what fails and how to reproduce it.

    Or what a rule says and what exercises it, which answers an open question permits, or what a finding has
    found. `cctest list` shows every name.
    """
    say(plain(explain(name)))
