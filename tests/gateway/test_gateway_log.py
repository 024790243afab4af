"""The log: one line for each request, nothing in it that names anybody, and never in the way."""

import json
import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from gateway.process import running
from gateway.talk import MONDAY, Caller, intent, message, text, tool
from reference_gateway.telemetry.logsink import LogSink


@contextmanager
def logging_to(path: Path, *options: str) -> Iterator[str]:
    """Run a gateway that logs every request into a file, to its end; give its address."""
    with running("--log", "requests", *options, log=path) as (url, _):
        yield url


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_request_has_a_line_with_the_id_that_its_caller_got(tmp_path: Path) -> None:
    with logging_to(tmp_path / "log") as url:
        body = {"model": "embedded", "messages": [message("hi")], "tools": [tool("f")]}
        headers = {"Authorization": f"Bearer {MONDAY}"}
        good = requests.post(f"{url}/v1/chat/completions", json=body, headers=headers, timeout=30)
        streamed = requests.post(
            f"{url}/v1/chat/completions", json={**body, "stream": True}, headers=headers, timeout=30
        )
        bad = requests.post(f"{url}/v1/chat/completions", json=body, timeout=30)
        lost = requests.delete(f"{url}/{uuid.uuid4()}", timeout=30)
    told = lines_of(tmp_path / "log")
    members = [
        (line["route"], line["method"], line["status"], line["code"], line["fragments"]) for line in told
    ]
    assert members == [
        ("chat", "POST", 200, None, 2),
        ("chat", "POST", 200, None, 2),
        ("chat", "POST", 401, "invalid_api_key", 0),
        ("other", "DELETE", 404, "not_found", 0),
    ]
    answers = (good, streamed, bad, lost)
    assert [line["id"] for line in told] == [answer.headers["x-request-id"] for answer in answers]
    assert len({line["id"] for line in told}) == 4
    assert all(line["event"] == "request" and line["time"].endswith("Z") and line["ms"] >= 0 for line in told)


def test_nothing_in_the_log_names_anybody(tmp_path: Path) -> None:
    secret = uuid.uuid4().hex
    with logging_to(tmp_path / "log") as url:
        caller = Caller(url)
        caller.chat(message(secret, intent(namespace=secret, id=secret)), user=secret)
        caller.chat(message("x", intent(namespace=7, id=secret)))  # refused
        caller.post(f'{{"{secret}": '.encode())
        caller.chat(message("x"), model=secret)
        headers = {"X-Request-Id": secret, "Authorization": f"Bearer {secret}", "X-Secret": secret}
        echoed = requests.post(f"{url}/{secret}?{secret}", headers=headers, timeout=30)
    assert secret not in str(echoed.headers)
    logged = (tmp_path / "log").read_text()
    assert len(logged.splitlines()) == 5
    for name in (secret, MONDAY, "acme", "alice", "monday"):
        assert name not in logged


def test_a_full_disk_stops_no_request_and_is_counted() -> None:
    with logging_to(Path("/dev/full")) as url:
        for _ in range(50):
            assert Caller(url).chat(message(text())).http == 200
        assert eventually(lambda: lost_lines(url) >= 50)


def test_a_full_disk_keeps_no_gateway_from_starting() -> None:
    options = ("--backend", "vllm", "--engine-url", "http://127.0.0.1:9")
    with running(*options, log=Path("/dev/full")) as (url, _):
        assert requests.get(f"{url}/readyz", timeout=30).json() == {"status": "the engine is not up"}
        assert Caller(url).chat(message("x")).http == 503


def test_a_log_that_nobody_reads_stops_no_request_and_is_counted() -> None:
    reading, writing = os.pipe()
    sink = LogSink(writing, capacity=100)
    for _ in range(5000):
        sink.put("x" * 1000)
    assert sink.lost > 0
    os.close(reading)
    sink.close()
    os.close(writing)


def test_lines_are_written_in_order(tmp_path: Path) -> None:
    file = tmp_path / "log"
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY)
    sink = LogSink(descriptor)

    def lines() -> None:
        for _ in range(500):
            sink.put("line")

    threads = [threading.Thread(target=lines) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(500):
        sink.put(str(number))
    sink.close()
    os.close(descriptor)
    assert file.read_text().splitlines() == ["line"] * 2000 + [str(number) for number in range(500)]
    assert sink.lost == 0


def test_only_problems_are_logged_if_asked_for(tmp_path: Path) -> None:
    with logging_to(tmp_path / "log", "--log", "problems") as url:
        assert Caller(url).chat(message("hello")).http == 200
    assert (tmp_path / "log").read_text() == ""


def lost_lines(url: str) -> float:
    metrics = requests.get(f"{url}/metrics", timeout=30).text
    (line,) = (
        line for line in metrics.splitlines() if line.startswith("reference_gateway_log_lines_lost_total ")
    )
    return float(line.split()[1])


def eventually(holds: Any, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True
