"""What every command has in common: help, version, exit codes, broken output."""

import os
import subprocess
import sys
from collections.abc import Sequence
from types import ModuleType

import click
import pytest

from cctest import __version__
from cctest.bundle import suite_digest
from cctest.cli import main as main_module
from cctest.cli.main import COMMANDS, main
from cctest.problem import TargetProblem, UsageProblem

HEAVY = ("jsonschema", "referencing", "requests", "urllib3", "rich", "yaml", "cctest.contract.strict_json")


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "cctest", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["--version"], ["nonsense"], []])
def test_nothing_heavy_is_loaded_until_it_is_needed(arguments: Sequence[str]) -> None:
    code = f"import sys; from cctest.cli.main import main; main({list(arguments)!r})\n"
    code += f"print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_names_tool_suite_and_digest() -> None:
    done = run("--version")
    assert done.stdout == f"cctest {__version__} (suite 1, digest {suite_digest()[:12]})\n"
    assert done.returncode == 0


def test_help_lists_every_command() -> None:
    shown = run("--help").stdout
    for name, line in COMMANDS.items():
        assert f"  {name}" in shown
        assert line in shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    done = run(name, "--help")
    assert done.returncode == 0
    assert "Options:" in done.stdout


def test_an_unknown_command_is_told_with_the_nearest() -> None:
    done = run("prob")
    assert done.returncode == 2
    assert done.stderr == "error: there is no command 'prob'\n  did you mean 'probe'?\n"


@pytest.mark.parametrize(
    "arguments", [[], ["validate"], ["validate", "--nonsense"], ["validate", "--kind", "x", "-"]]
)
def test_wrong_usage_ends_in_2(arguments: Sequence[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "Usage: cctest" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (UsageProblem("bad", where="file:1"), 2, "error: file:1: bad\n"),
        (TargetProblem("gone"), 4, "error: gone\n"),
        (click.FileError("x", "unreadable"), 2, "error: "),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
        (ZeroDivisionError("secret-token"), 70, "internal error: ZeroDivisionError in main.py:"),
        (RecursionError(), 70, "internal error: RecursionError"),
        (BrokenPipeError(), 0, ""),
        (OSError(28, "No space left on device"), 2, "No space left"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_errors_end_in_the_documented_codes(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    told: str,
) -> None:
    @click.command()
    def failing() -> None:
        raise error

    module = ModuleType("failing")
    module.command = failing  # type: ignore[attr-defined]
    monkeypatch.setattr(main_module, "import_module", lambda name: module)
    monkeypatch.setattr(main_module, "divert", lambda stream: None)
    monkeypatch.delenv("CCTEST_DEBUG", raising=False)
    assert main(["vectors"]) == code
    said = capfd.readouterr().err
    assert told in said
    assert "Traceback" not in said
    assert "secret" not in said


def test_the_traceback_is_shown_on_demand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(name: str) -> ModuleType:
        raise ZeroDivisionError

    monkeypatch.setattr(main_module, "import_module", fail)
    monkeypatch.setenv("CCTEST_DEBUG", "1")
    assert main(["vectors"]) == 70
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["list"]])
def test_a_closed_pipe_changes_nothing(arguments: Sequence[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "cctest", *arguments]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["list"]])
def test_a_full_disk_is_told(arguments: Sequence[str]) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        command = [sys.executable, "-m", "cctest", *arguments]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
