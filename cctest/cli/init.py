"""`cctest init`: a target file to fill in."""

from pathlib import Path
from typing import Final

import click

import cctest.target
from cctest.problem import UsageProblem
from cctest.report.destination import STDOUT, say

STARTER: Final = Path(cctest.target.__file__).with_name("starter.yaml")


@click.command("init", short_help="Write a target file to fill in.")
@click.argument("file", default="target.yaml", metavar="[FILE]")
def command(*, file: str) -> None:
    """Write a commented target file to FILE (target.yaml unless given), or to standard output for -.

    A file that exists is left alone.
    """
    text = STARTER.read_text("utf-8")
    if file == STDOUT:
        say(text)
        return
    try:
        with Path(file).open("x", encoding="utf-8") as written:
            written.write(text)
    except FileExistsError:
        raise UsageProblem("exists and is left alone", where=file, hint="give another name") from None
    except OSError as error:
        raise UsageProblem(f"can't be written: {error.strerror}", where=file) from None
    say(f"{file} written. Fill it in, then: cctest doctor --config {file}\n")
