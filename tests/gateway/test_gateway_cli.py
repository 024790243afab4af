"""The command: one line when it listens, exit codes, and how it is stopped."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from gateway.process import ROOT, command, running
from gateway.talk import Caller, message
from reference_gateway import cli


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "reference_gateway", *arguments]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(number: signal.Signals) -> None:
    with running() as (url, process):
        assert Caller(url).chat(message("hello")).http == 200
        process.send_signal(number)
        assert process.wait(20) == 0
        assert process.stdout is not None
        assert process.stdout.read() == b""


def test_it_ends_with_its_stdin_if_asked_to() -> None:
    with running() as (url, process):
        assert requests.get(f"{url}/healthz", timeout=30).status_code == 200
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0


def test_it_outlives_its_stdin_if_not_asked_to() -> None:
    line = command()
    with subprocess.Popen(line, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().split()[-1]
        assert requests.get(f"{url}/healthz", timeout=30).status_code == 200
        process.terminate()
        assert process.wait(20) == 0


def test_a_bad_credentials_file_gives_one_clear_message(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("credentials:\n  - {token: t, tenant: a}\n")
    done = run("serve", "--credentials", str(bad))
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(
        f"reference-gateway: {bad}: line 2, column 5: /credentials/0: needs the member"
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["serve"],
        ["serve", "--credentials", "x", "--backend", "other"],
        ["serve", "--credentials", "x", "--port", "70000"],
        ["serve", "--credentials", "x", "--on-unenforceable", "ignore"],
        ["serve", "--credentials", "x", "--block-size", "0"],
        ["nothing"],
    ],
)
def test_wrong_usage_ends_in_2(arguments: list[str]) -> None:
    assert cli.main(arguments) == 2


def test_a_taken_port_ends_in_2() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        line = [*command(), "--port", str(port)]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "Address already in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_fault_of_ours_ends_in_70(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr("reference_gateway.callers.live_credentials.LiveCredentials", broken)
    assert cli.main(["serve", "--credentials", "x"]) == 70
    assert "broken on purpose" in capsys.readouterr().err


def test_an_interrupt_ends_in_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("reference_gateway.callers.live_credentials.LiveCredentials", interrupted)
    assert cli.main(["serve", "--credentials", "x"]) == 130


def test_help_loads_no_web_server() -> None:
    code = (
        "import sys; from reference_gateway.cli import main; main(['serve', '--help']);"
        "sys.exit(any(name in sys.modules for name in ('starlette', 'uvicorn', 'httptools', 'yaml')))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0
    assert b"--on-unenforceable" in done.stdout
