"""Credentials that follow their file while the gateway serves."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from gateway.process import running
from gateway.talk import Caller, message
from reference_gateway.callers.token_hash import hash_token

SALT = bytes(16)


def entry(token: str, **members: Any) -> dict[str, Any]:
    return {"hash": str(hash_token(token, SALT)), "tenant": "acme", "principal": token, **members}


def spelt(*entries: dict[str, Any]) -> str:
    return json.dumps({"credentials": entries})


@dataclass
class Served:
    """A gateway and its credentials file."""

    url: str
    file: Path
    log: Path
    process: subprocess.Popen[bytes]

    def rename_over(self, content: str) -> None:
        fresh = self.file.with_suffix(".new")
        fresh.write_text(content)
        fresh.replace(self.file)

    def status(self, token: str) -> int:
        return Caller(self.url, token).chat(message("hello")).http

    def metric(self, name: str) -> float:
        text = requests.get(f"{self.url}/metrics", timeout=30).text
        (line,) = (line for line in text.splitlines() if line.startswith(f"reference_gateway_{name} "))
        return float(line.split()[1])

    def readiness(self) -> dict[str, str]:
        told: dict[str, str] = requests.get(f"{self.url}/readyz", timeout=30).json()
        return told


@contextmanager
def serving(folder: Path, content: str) -> Iterator[Served]:
    file = folder / "credentials.yaml"
    file.write_text(content)
    with running(credentials=file, log=folder / "log") as (url, process):
        yield Served(url, file, folder / "log", process)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path, spelt(entry("alice"), entry("bob"))) as made:
        yield made


def test_a_revocation_counts_for_the_very_next_request(served: Served) -> None:
    for turn in range(20):
        served.rename_over(spelt(entry("alice", revoked=turn % 2 == 0), entry("bob")))
        assert served.status("alice") == (401 if turn % 2 == 0 else 200)
    assert served.status("bob") == 200


def test_an_edit_in_place_that_leaves_the_size_as_it_was_is_seen(served: Served) -> None:
    contents = [spelt(entry("alice"), entry("bobby")), spelt(entry("alice"), entry("carol"))]
    assert len(contents[0]) == len(contents[1])
    for turn in range(20):
        served.file.write_text(contents[turn % 2])
        assert [served.status(token) for token in ("bobby", "carol")] == ([200, 401], [401, 200])[turn % 2]


def test_an_edit_that_also_puts_the_time_back_is_seen(served: Served) -> None:
    before = served.file.stat()
    assert served.status("bob") == 200
    served.file.write_text(spelt(entry("alice"), entry("eve")))
    os.utime(served.file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert served.status("bob") == 401


def test_a_file_that_went_wrong_changes_nothing_and_is_told(served: Served) -> None:
    for wrong in ("credentials: [", spelt(entry("alice"), {"tenant": "secret-tenant"}), ""):
        served.rename_over(wrong)
        assert served.status("bob") == 200
        assert served.status("eve") == 401
        assert served.metric("credentials_stale") == 1
        assert served.readiness()["status"] == "ready"
        assert "last good one" in served.readiness()["credentials"]
    served.rename_over(spelt(entry("alice")))
    assert served.status("bob") == 401
    assert served.metric("credentials_stale") == 0
    assert "credentials" not in served.readiness()
    served.process.terminate()
    served.process.wait(20)
    told = [json.loads(line) for line in served.log.read_text().splitlines()]
    assert [line["event"] for line in told] == ["credentials_rejected"] * 3
    assert "secret-tenant" not in json.dumps(told)


def test_a_file_that_was_away_and_came_back_is_in_force_again(served: Served) -> None:
    kept = served.file.read_text()
    served.file.unlink()
    assert served.status("bob") == 200
    assert served.metric("credentials_stale") == 1
    served.file.write_text(kept)
    assert served.status("bob") == 200
    assert served.metric("credentials_stale") == 0


def test_tokens_that_everybody_could_read_do_not_come_into_force(served: Served) -> None:
    fresh = served.file.with_suffix(".new")
    fresh.write_text(spelt({"token": "in-the-clear", "tenant": "a", "principal": "b"}))
    fresh.chmod(0o644)
    fresh.replace(served.file)
    assert served.status("in-the-clear") == 401
    served.file.chmod(0o600)
    assert served.status("in-the-clear") == 200


def test_a_hang_up_signal_does_not_end_it(served: Served) -> None:
    served.process.send_signal(signal.SIGHUP)
    assert served.status("bob") == 200


def test_under_load_nobody_gets_in_after_the_file_says_so_and_nobody_else_is_turned_away(
    served: Served,
) -> None:
    done = threading.Event()
    others: list[int] = []

    def busy() -> None:
        while not done.is_set():
            others.append(served.status("bob"))

    threads = [threading.Thread(target=busy) for _ in range(8)]
    for thread in threads:
        thread.start()
    many = [entry(f"filler-{index}") for index in range(2000)]
    try:
        seen = []
        for turn in range(10):
            served.rename_over(spelt(entry("alice", revoked=turn % 2 == 0), entry("bob"), *many))
            seen.append(served.status("alice"))
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert seen == [401, 200] * 5
    assert set(others) == {200}
