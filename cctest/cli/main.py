"""The `cctest` command: finds the command that was asked for, and ends in the documented exit codes.

Commands are loaded when they are run, so that `cctest --help` stays fast and imports nothing but click.
"""

import errno
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click

from cctest import __version__
from cctest.bundle import SUITE_VERSION, suite_digest
from cctest.problem import Problem, UsageProblem
from cctest.report.destination import complain, divert, say
from cctest.selection import select
from cctest.verdict import Exit

COMMANDS: Final = {
    "vectors": "Run the contract's test vectors against the core.",
    "validate": "Check cache_intent, capabilities and cache_status documents.",
    "probe": "Test a server over HTTP.",
    "init": "Write a target file to fill in.",
    "doctor": "Say what can be tested on a target, what can't, and why.",
    "minimality": "Find out whether every member of version 1 is worth its place.",
    "engine": "Serve an instrumented engine to put behind a gateway under test.",
    "coverage": "Show which rules are exercised, and what runs showed of each.",
    "trace": "Tie the sentences of the drafts to rules and to what tests them.",
    "report": "Make a page of a report.",
    "mutate": "Break our own implementation, and see the suite find it.",
    "replay": "Run again what didn't pass in a report.",
    "explain": "Explain a case, a check, a rule, a reading or a finding.",
    "baseline": "Look after a file of known failures.",
    "list": "Show vectors, cases, rules, readings and findings.",
}
"""Commands with their line in the help, in the order in which they are shown."""

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_MODULES: Final = {"list": "listing"}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"cctest.cli.{_MODULES.get(cmd_name, cmd_name)}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        select([args[0]], COMMANDS, "command")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _say_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:  # noqa: FBT001
    if wanted and not ctx.resilient_parsing:
        say(f"cctest {__version__} (suite {SUITE_VERSION}, digest {suite_digest()[:12]})\n")
        ctx.exit()


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 conformant, 1 a check failed, 2 usage or unreadable input, 3 incomplete, "
    "4 the target couldn't be tested, 70 a fault of cctest, 130 interrupted.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_say_version,
    help="Show the version of the tool and of the suite.",
)
def cli() -> None:
    """Conformance harness for the cache-intent contract, version 1 (an experimental proposal)."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and give its exit code; nothing is raised but SystemExit."""
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except click.ClickException as error:
        complain(f"{_in_words(error)}\n")
        return Exit.USAGE
    except Problem as problem:
        complain(f"error: {problem}\n")
        return problem.exit
    except (KeyboardInterrupt, click.Abort):
        complain("interrupted\n")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _leave_quietly()
        return Exit.OK
    except Exception as error:  # the one place where our own faults end
        return _own_fault(error)


def _run(arguments: list[str]) -> int:
    """Invoke the command without click's own error handling, in which a broken pipe ends in 1."""
    try:
        with cli.make_context("cctest", arguments) as context:
            result: Any = cli.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    return result if isinstance(result, int) else Exit.OK


def _in_words(error: click.ClickException) -> str:
    message = error.format_message()
    if message.startswith("Usage:"):  # `cctest` alone: the message is the whole help
        return message
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{context.get_usage()}\nerror: {message}" if context is not None else f"error: {message}"


def _own_fault(error: Exception) -> int:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
        _leave_quietly()
        complain(f"error: {UsageProblem(f'output can not be written: {error.strerror}')}\n")
        return Exit.USAGE
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
    frame = (ours or frames)[-1]
    complain(
        f"internal error: {type(error).__name__} in {Path(frame.filename).name}:{frame.lineno}; "
        "please report it (CCTEST_DEBUG=1 shows the traceback)\n"
    )
    if os.environ.get("CCTEST_DEBUG") == "1":
        complain("".join(traceback.format_exception(error)))
    return Exit.INTERNAL


def _leave_quietly() -> None:
    """Lead standard output nowhere, or the interpreter's last flush would change the exit code."""
    if sys.stdout is not None:
        divert(sys.stdout)
