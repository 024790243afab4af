"""The engine as a process of its own."""

import subprocess
import sys

import pytest

from cctest.instrument.client import Engine, running_engine
from cctest.instrument.settings import NAME
from cctest.problem import UsageProblem

COMMAND = [sys.executable, "-m", "cctest", "engine", "--port", "0", "--stop-with-stdin"]


def run(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*COMMAND, *options], input="", capture_output=True, text=True, timeout=30, check=False
    )


def test_it_says_where_it_listens_and_ends_with_its_stdin() -> None:
    ended = run()
    assert ended.stdout.startswith("listening on http://127.0.0.1:")
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_address_that_others_reach_is_warned_of() -> None:
    ended = run("--host", "0.0.0.0")
    assert "warning: 0.0.0.0 can be reached from other machines" in ended.stderr
    assert ended.returncode == 0


def test_an_address_that_is_taken_is_a_usage_problem(engine_url: str) -> None:
    port = int(engine_url.rpartition(":")[2])
    with pytest.raises(UsageProblem, match=rf"didn't start: error: 127\.0\.0\.1 port {port}: can't listen"):
        running_engine(port=port).__enter__()


def test_an_engine_stops_with_the_block() -> None:
    with running_engine() as url, Engine(url) as engine:
        assert engine.about().latest == 0
    with pytest.raises(Exception, match="refuses connections"):
        engine.about()


def test_it_says_what_it_is(engine: Engine) -> None:
    assert NAME == "cctest-instrumented-engine"
    assert engine.about().settings.block_size == 16
