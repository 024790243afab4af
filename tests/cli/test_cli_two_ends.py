"""`cctest probe` with an instrumented engine behind the target, as whole commands."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from cctest.instrument.client import running_engine
from cctest.probe.bundled import FORWARDING, Bundled, make_credentials, running_gateway
from cctest.target.credential import Credential

CASES = ("--case", "bypass-partition", "--case", "tenant-boundary", "--seed", "1")


def probe(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "cctest", "probe", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.fixture
def engine() -> Iterator[str]:
    with running_engine() as url:
        yield url


def target_file(path: Path, url: str, credentials: Sequence[Credential]) -> Path:
    members = ("name", "token", "tenant", "principal", "session")
    listed = [
        {name: getattr(credential, name) for name in members if getattr(credential, name) is not None}
        for credential in credentials
    ]
    path.write_text(json.dumps({"target": url, "model": "instrumented", "credentials": listed}))
    return path


def sources(report: Path) -> set[str]:
    checks = json.loads(report.read_text())["checks"]
    return {item["source"] for check in checks for item in check["evidence"]}


@pytest.mark.parametrize(
    ("options", "per_fragment"),
    [((), False), (("--engine-regions",), True)],
)
def test_the_bundled_gateway_can_be_probed_from_both_ends(
    tmp_path: Path, options: tuple[str, ...], per_fragment: bool
) -> None:
    report = tmp_path / "report.json"
    result = probe("--bundled", "--backend", "vllm", *options, *CASES, "--json", report)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "engine" in sources(report)
    capabilities = json.loads(report.read_text())["capabilities"]["cache_intent_capabilities"]
    assert capabilities["per_fragment_share"] is per_fragment


def test_an_engine_that_runs_is_attached(engine: str, tmp_path: Path) -> None:
    credentials = make_credentials()
    report = tmp_path / "report.json"
    with running_gateway(credentials, Bundled(FORWARDING, engine)) as url:
        file = target_file(tmp_path / "target.json", url, credentials)
        result = probe("--config", file, "--engine", engine, *CASES, "--json", report)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "engine" in sources(report)


def test_an_engine_is_started_where_the_target_forwards_to(tmp_path: Path) -> None:
    credentials = make_credentials()
    port = free_port()
    report = tmp_path / "report.json"
    with running_gateway(credentials, Bundled(FORWARDING, f"http://127.0.0.1:{port}")) as url:
        file = target_file(tmp_path / "target.json", url, credentials)
        result = probe("--config", file, "--start-engine", f"127.0.0.1:{port}", *CASES, "--json", report)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "engine" in sources(report)


def test_an_engine_that_is_no_instrumented_one_is_told(tmp_path: Path) -> None:
    credentials = make_credentials()
    with running_gateway(credentials) as url:
        file = target_file(tmp_path / "target.json", url, credentials)
        result = probe("--config", file, "--engine", url, *CASES)
    assert result.returncode == 4
    assert "no instrumented engine" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--bundled", "--engine", "http://127.0.0.1:9"), "give --backend vllm"),
        (("--target", "http://h", "--backend", "vllm"), "go with --bundled"),
        (("--bundled", "--start-engine", "9000"), "must be HOST:PORT"),
        (
            ("--target", "http://h", "--engine", "http://e", "--start-engine", "127.0.0.1:9"),
            "exclude each other",
        ),
        (("--bundled", "--case", "forwarding"), "need an engine"),
        (("--bundled", "--engine-regions"), "an engine that the run starts itself"),
        (
            ("--bundled", "--backend", "vllm", "--engine", "http://e", "--engine-regions"),
            "an engine that the run starts itself",
        ),
    ],
)
def test_what_does_not_go_together_is_a_mistake_in_the_call(arguments: tuple[str, ...], message: str) -> None:
    result = probe(*arguments)
    assert result.returncode == 2
    assert message in result.stderr
