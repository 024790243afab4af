"""A forwarding gateway and an engine that is away, slow, or not what it should be."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import requests
from local_server import Visit, closed_port, local_server

from cctest.instrument.client import running_engine
from cctest.instrument.settings import Settings
from gateway.engine import MODEL, forwarding
from gateway.process import running
from gateway.talk import MONDAY, Caller, Json, intent, message, text

HEAD = "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nConnection: close\r\n\r\n"
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
COMPLETION: Json = {"id": "c", "object": "chat.completion", "choices": [], "usage": None}


def say(visit: Visit, *events: str) -> None:
    visit.say(HEAD.format("text/event-stream").encode())
    visit.say("".join(f"data: {event}\n\n" for event in events).encode())
    visit.stream.close()


def unfinished(visit: Visit) -> None:
    """A stream in which no answer is ever finished."""
    delta = {"index": 0, "delta": {"content": "x"}, "finish_reason": None}
    say(visit, json.dumps({**CHUNK, "choices": [delta], "cache_status": [], "usage": None}), "[DONE]")


def stuck(visit: Visit) -> None:
    visit.say(HEAD.format("text/event-stream").encode())
    delta = {"index": 0, "delta": {"content": "x"}, "finish_reason": None}
    visit.say(f"data: {json.dumps({**CHUNK, 'choices': [delta]})}\n\n".encode())
    visit.stop.wait(30)


def silent(visit: Visit) -> None:
    visit.stop.wait(30)


def endless(visit: Visit) -> None:
    visit.say(HEAD.format("text/event-stream").encode())
    while not visit.stop.is_set():
        visit.say(b": still here\n\n" * 1000)


def spelt(visit: Visit) -> None:
    own = '"cache_status": [{"outcome": "exact_hit"}]'
    visit.respond(f'{{"choices": [], "x": 1.10, {own}, "usage": {{"y": 1e2}}}}'.encode())


def hung_up(visit: Visit) -> None:
    visit.stream.close()


BEHAVIOURS: dict[str, Callable[[Visit], None]] = {
    "unfinished": unfinished,
    "stuck": stuck,
    "silent": silent,
    "endless": endless,
    "spelt": spelt,
    "hung-up": hung_up,
    "page": lambda visit: visit.respond(b"<html>", "Content-Type: text/html"),
    "array": lambda visit: visit.respond(b"[]"),
    "no-choices": lambda visit: visit.respond(b'{"id": "c"}'),
    "binary": lambda visit: visit.respond(b'{"choices": "\xff"}'),
    "moved": lambda visit: visit.respond(b"", "Location: /v1/models", status="307 Temporary Redirect"),
    "created": lambda visit: visit.respond(json.dumps(COMPLETION).encode(), status="201 Created"),
    "old-error": lambda visit: visit.respond(
        b'{"object": "error", "message": "too long", "code": 400}', status="400 Bad Request"
    ),
    "detail": lambda visit: visit.respond(b'{"detail": "no such thing"}', status="404 Not Found"),
    "surrogate": lambda visit: visit.respond(
        rb'{"error": {"message": "\ud800", "code": "\udfff"}}', "Retry-After: é", status="400 Bad Request"
    ),
    "not-json": lambda visit: say(visit, "{", "[DONE]"),
    "huge": lambda visit: say(visit, "x" * (5 * 1024 * 1024), "[DONE]"),
    "only-pings": lambda visit: say(visit, '{"type": "ping"}', "", "[DONE]"),
}


def behave(visit: Visit) -> None:
    """A strange engine: does what the request's first message says."""
    if visit.head.startswith(b"GET /v1/models "):
        visit.respond(json.dumps({"data": [{"id": MODEL}]}).encode())
        return
    if not visit.head.startswith(b"POST /v1/chat/completions "):
        visit.respond(b"{}", status="404 Not Found")
        return
    name = json.loads(visit.body)["messages"][0]["content"]
    if name == "its-salt":
        salt = json.loads(visit.body)["cache_salt"]
        visit.respond(f'{{"error": {{"message": "bad salt {salt}"}}}}'.encode(), status="400 Bad Request")
        return
    BEHAVIOURS[name](visit)


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    with local_server(behave) as engine:
        options = forwarding(f"{engine.url}/v1/", tmp_path_factory.mktemp("secrets"))
        with running(*options, "--engine-deadline", "1") as (url, _):
            yield Caller(url, model=MODEL)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        *((name, 502) for name in ("hung-up", "page", "array", "no-choices", "binary", "moved", "created")),
        ("silent", 504),
        ("old-error", 400),
        ("detail", 404),
        ("its-salt", 400),
        ("surrogate", 400),
    ],
)
def test_an_engine_that_answers_strangely_is_told_by_the_status(
    strange: Caller, name: str, status: int
) -> None:
    reply = strange.chat(message(name, intent()))
    assert reply.http == status
    words = {"old-error": "too long", "detail": "no such thing", "its-salt": "the engine refused the request"}
    assert words.get(name, "") in reply.error["message"]


@pytest.mark.parametrize(
    ("name", "status"),
    [("silent", 504), ("endless", 504), ("not-json", 502), ("huge", 502), ("only-pings", 502), ("page", 502)],
)
def test_before_its_first_chunk_a_stream_can_still_fail_by_status(
    strange: Caller, name: str, status: int
) -> None:
    assert strange.chat(message(name, intent()), stream=True).http == status


def test_a_stream_that_takes_too_long_ends_in_an_error(strange: Caller) -> None:
    headers = {"Authorization": f"Bearer {MONDAY}"}
    body: Json = {"model": MODEL, "messages": [message("stuck")], "stream": True}
    response = requests.post(f"{strange.url}/v1/chat/completions", json=body, headers=headers, timeout=30)
    chunk, error = [event for event in response.text.split("\n\n") if event]
    assert '"content": "x"' in chunk
    assert "engine_timeout" in error


def test_a_stream_without_a_last_chunk_gets_one_for_the_status(strange: Caller) -> None:
    first, last = strange.chat(message("unfinished", intent()), stream=True).chunks
    assert first["choices"][0]["delta"] == {"content": "x"}
    assert "cache_status" not in first
    assert last == {**CHUNK, "choices": [], "cache_status": last["cache_status"]}
    assert last["cache_status"][0]["outcome"] == "unobserved"


def test_a_response_keeps_its_spelling_but_not_somebody_elses_status(strange: Caller) -> None:
    headers = {"Authorization": f"Bearer {MONDAY}"}
    for fragment in (message("spelt"), message("spelt", intent())):
        body = {"model": MODEL, "messages": [fragment]}
        told = requests.post(
            f"{strange.url}/v1/chat/completions", json=body, headers=headers, timeout=30
        ).text
        assert '"x": 1.10' in told
        assert '"usage": {"y": 1e2}' in told
        assert "exact_hit" not in told


def test_a_gateway_may_start_before_its_engine(tmp_path: Path) -> None:
    port = closed_port()
    with running(*forwarding(f"http://127.0.0.1:{port}", tmp_path)) as (url, _):
        caller = Caller(url, model=MODEL)
        assert requests.get(f"{url}/healthz", timeout=30).status_code == 200
        assert requests.get(f"{url}/readyz", timeout=30).status_code == 503
        refused = caller.chat(message("x"))
        assert (refused.http, refused.error["code"]) == (503, "engine_unavailable")
        with running_engine(Settings(model=MODEL), port=port):
            wait_until_ready(url)
            assert caller.chat(message(text(), intent())).http == 200
        dead = caller.chat(message("x"))
        assert (dead.http, dead.error["code"]) == (502, "engine_unreachable")
        assert requests.get(f"{url}/healthz", timeout=30).status_code == 200


def wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + 20
    while requests.get(f"{url}/readyz", timeout=30).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_slow_reader_slows_the_engine_down(tmp_path: Path) -> None:
    """A stream of 64 MB that nobody reads must stay with the engine, not in the gateway."""
    sent = 0
    finished = threading.Event()

    def gush(visit: Visit) -> None:
        nonlocal sent
        if not visit.head.startswith(b"POST /v1/chat/completions "):
            visit.respond(json.dumps({"data": [{"id": MODEL}]}).encode())
            return
        delta = {"index": 0, "delta": {"content": "x" * 65536}, "finish_reason": None}
        event = f"data: {json.dumps({**CHUNK, 'choices': [delta]})}\n\n".encode()
        visit.say(HEAD.format("text/event-stream").encode())
        for _ in range(1000):
            visit.say(event)
            sent += len(event)
        finished.set()

    with local_server(gush) as engine, running(*forwarding(engine.url, tmp_path)) as (url, _):
        headers = {"Authorization": f"Bearer {MONDAY}"}
        body = {"model": MODEL, "messages": [message("x")], "stream": True}
        with requests.post(f"{url}/v1/chat/completions", json=body, headers=headers, timeout=30, stream=True):
            assert not finished.wait(1.5)
            assert sent < 32 * 1024 * 1024


def test_a_request_that_nobody_reads_ends_at_its_deadline_all_the_same(tmp_path: Path) -> None:
    """The engine must see the connection closed: on that rests every bound on age (see `generations`)."""
    closed = threading.Event()

    def gush(visit: Visit) -> None:
        if visit.head.startswith(b"GET"):
            visit.respond(json.dumps({"data": [{"id": MODEL}]}).encode())
            return
        delta = {"index": 0, "delta": {"content": "x" * 65536}, "finish_reason": None}
        visit.say(HEAD.format("text/event-stream").encode())
        try:
            while True:
                visit.say(f"data: {json.dumps({**CHUNK, 'choices': [delta]})}\n\n".encode())
        except OSError:
            closed.set()

    options = ("--max-age", "generations", "--engine-deadline", "1")
    with local_server(gush) as engine, running(*forwarding(engine.url, tmp_path), *options) as (url, _):
        headers = {"Authorization": f"Bearer {MONDAY}"}
        body = {"model": MODEL, "messages": [message("x", intent(max_age=60))], "stream": True}
        with requests.post(f"{url}/v1/chat/completions", json=body, headers=headers, timeout=30, stream=True):
            assert closed.wait(20)


def test_of_several_models_one_may_be_served_alone(tmp_path: Path) -> None:
    def behave(visit: Visit) -> None:
        visit.respond(json.dumps({"data": [{"id": "one"}, {"id": "other"}]}).encode())

    with local_server(behave) as engine:
        with running(*forwarding(engine.url, tmp_path), "--engine-model", "other") as (url, _):
            wait_until_ready(url)
            headers = {"Authorization": f"Bearer {MONDAY}"}
            listed = requests.get(f"{url}/v1/models", headers=headers, timeout=30).json()["data"]
            assert [model["id"] for model in listed] == ["other"]
        with running(*forwarding(engine.url, tmp_path), "--engine-model", "third") as (url, _):
            assert requests.get(f"{url}/readyz", timeout=30).status_code == 503
