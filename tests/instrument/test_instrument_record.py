"""The record: complete, exact, bounded, and free of credentials."""

import hashlib
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import requests
from local_server import Behaviour, LocalServer

from cctest.instrument.client import Engine, running_engine
from cctest.instrument.record import Ending, Record, header_digest
from cctest.problem import TargetProblem
from cctest.target.chat import ABSENT
from instrument.talk import CHAT, body, hang_up, nonce, recorded, send, shape, streaming, text

BOTH = pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])


@BOTH
def test_an_entry_says_what_came_and_what_was_answered(engine: Engine, stream: bool) -> None:
    own = nonce()
    sent = json.dumps(shape(text(own), stream=stream) | {"cache_salt": own}).encode()
    started = time.monotonic()
    response = send(engine.url, sent, ("X-Extra", "kept"), path=f"{CHAT}?a=b")
    ended = time.monotonic()
    (entry,) = recorded(engine, own)
    assert (entry.method, entry.path, entry.status) == ("POST", f"{CHAT}?a=b", 200)
    assert (entry.body, entry.body_complete, entry.cache_salt) == (sent, True, own)
    assert entry.header("x-extra") == "kept"
    assert entry.cached_tokens == 0
    assert entry.prompt_tokens
    assert entry.canaries[0][-16:].encode() in response.body
    assert entry.ending is Ending.COMPLETED
    assert entry.ended is not None
    # The engine notes the end after its last byte, which the client may have read by then.
    assert started <= entry.arrived <= min(entry.ended, ended)


@pytest.mark.parametrize(
    ("members", "salt"), [({}, ABSENT), ({"cache_salt": None}, None), ({"cache_salt": [1]}, [])]
)
def test_an_absent_salt_is_no_null_salt(engine: Engine, members: dict[str, Any], salt: Any) -> None:
    own = nonce()
    send(engine.url, body(own, **members))
    (entry,) = recorded(engine, own)
    assert entry.cache_salt == salt


def test_credentials_are_recorded_as_digests_only(engine: Engine) -> None:
    own, token = nonce(), f"Bearer {nonce()}"
    names = ("Authorization", "X-Api-Key", "Api-Key", "Cookie", "Proxy-Authorization", "X-Auth-Token")
    send(engine.url, body(own), *((name, token) for name in names))
    (entry,) = recorded(engine, own)
    digest = hashlib.sha256(token.encode()).hexdigest()
    assert [entry.header(name.lower()) for name in names] == [f"sha256:{digest}"] * len(names)
    assert header_digest(token) == f"sha256:{digest}"
    assert token.split()[1] not in requests.get(f"{engine.url}/cctest/record", timeout=10).text


def test_bytes_that_are_no_text_are_recorded_exactly(engine: Engine) -> None:
    for odd in (b"\xff\xfe", b"\0\x1b", "é😀\r\n\t".encode(), b"\xef\xbb\xbf", b"\\ud800"):
        own = nonce()
        send(engine.url, odd + own.encode())
        (entry,) = recorded(engine, own)
        assert entry.body == odd + own.encode()
        assert (entry.ending, entry.status) == (Ending.REFUSED, 400)


def test_everything_else_is_recorded_too(engine: Engine) -> None:
    before = engine.about().latest
    for method, path in (("GET", "/v1/models"), ("GET", "/health"), ("DELETE", "/odd%20path"), ("GET", CHAT)):
        requests.request(method, f"{engine.url}{path}", timeout=10)
    entries = engine.entries(before)
    assert [(entry.method, entry.path, entry.status) for entry in entries] == [
        ("GET", "/v1/models", 200),
        ("GET", "/health", 200),
        ("DELETE", "/odd%20path", 404),
        ("GET", CHAT, 405),
    ]


def test_a_body_that_is_too_large_is_refused_and_kept_in_part(engine: Engine) -> None:
    own = nonce()
    requests.post(f"{engine.url}{CHAT}", data=own.encode() + b" " * 2**21, timeout=10)
    (entry,) = recorded(engine, own)
    assert (entry.status, entry.body_complete, len(entry.body)) == (413, False, 2**21)


def test_a_client_that_goes_in_a_stream_is_seen(engine: Engine) -> None:
    own = nonce()
    engine.misbehave([{"match": own, "do": {"delay": {"between": 1}}}])
    hang_up(engine.url, streaming(own), after=b"data: ")
    (entry,) = recorded(engine, own)
    assert entry.ending is Ending.CLIENT_GONE
    assert entry.ended is not None
    assert entry.ended - entry.arrived < 1


@BOTH
def test_a_client_that_does_not_wait_for_the_first_byte_is_seen(engine: Engine, stream: bool) -> None:
    own = nonce()
    engine.misbehave([{"match": own, "do": {"delay": {"first": 5}}}])
    hang_up(engine.url, shape(own, stream=stream), after=b"")
    (entry,) = recorded(engine, own)
    assert (entry.ending, entry.status) == (Ending.CLIENT_GONE, None)


def test_a_request_that_is_being_served_is_open(engine: Engine) -> None:
    own = nonce()
    engine.misbehave([{"match": own, "do": {"delay": {"first": 0.5}}}])
    client = threading.Thread(target=send, args=(engine.url, body(own)))
    client.start()
    entry = None
    while entry is None:
        entry = next((entry for entry in engine.entries() if own.encode() in entry.body), None)
    assert (entry.ending, entry.ended, entry.status) == (Ending.OPEN, None, None)
    client.join()
    assert recorded(engine, own)[0].ending is Ending.COMPLETED


def test_a_long_record_comes_in_pages(engine: Engine) -> None:
    before = engine.about().latest
    own = nonce()
    for _ in range(6):
        send(engine.url, body(own + "x" * 500_000))
    assert requests.get(f"{engine.url}/cctest/record?after={before}", timeout=10).json()["more"] is True
    assert [entry.number for entry in engine.entries(before)] == list(range(before + 1, before + 7))


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "", "9" * 30])
def test_a_number_that_is_none_is_refused(engine_url: str, after: str) -> None:
    assert requests.get(f"{engine_url}/cctest/record?after={after}", timeout=10).status_code == 400


def test_the_record_can_be_cleared() -> None:
    with running_engine() as url, Engine(url) as engine:
        send(url, body("one"))
        engine.clear()
        send(url, body("two"))
        (entry,) = engine.entries()
        assert entry.number == 2
        assert engine.about().dropped == 0


def test_a_stranger_is_no_instrumented_engine(engine_url: str) -> None:
    with Engine(f"{engine_url}/v1") as engine:
        for act in (engine.about, engine.entries, engine.clear, engine.behave):
            with pytest.raises(TargetProblem, match="no instrumented engine"):
                act()


def filled(record: Record, count: int, size: int = 0) -> None:
    for _ in range(count):
        record.keep_body(record.open("POST", "/", []), b"x" * size, complete=True)


def test_the_oldest_entries_are_dropped_and_the_gap_is_told() -> None:
    record = Record(entry_limit=3)
    filled(record, 5)
    page = record.page(after=0)
    assert [entry.number for entry in page.entries] == [3, 4, 5]
    assert (page.missed, record.dropped) == (2, 2)
    assert record.page(after=1).missed == 1
    assert record.page(after=2).missed == 0
    assert record.page(after=99).entries == ()


def test_bodies_are_bounded_in_bytes() -> None:
    record = Record(byte_limit=100)
    filled(record, 5, size=40)
    assert [entry.number for entry in record.page(after=0).entries] == [4, 5]
    filled(record, 1, size=101)
    assert record.page(after=5).missed == 1
    filled(record, 2, size=50)
    assert len(record.page(after=6).entries) == 2


def test_what_was_cleared_is_not_missed_and_stays_gone() -> None:
    record = Record(entry_limit=2)
    waiting = record.open("POST", "/", [])
    record.clear()
    record.keep_body(waiting, b"x", complete=True)
    record.close(waiting, Ending.COMPLETED)
    assert record.page(after=0).entries == ()
    assert record.page(after=0).missed == 0
    filled(record, 3)
    assert record.page(after=0).missed == 1


def test_a_lost_entry_is_told_by_the_client(serve: Callable[[Behaviour], LocalServer]) -> None:
    page = json.dumps({"entries": [], "missed": 2, "more": False}).encode()
    server = serve(lambda visit: visit.respond(page))
    with Engine(server.url) as engine, pytest.raises(TargetProblem, match="lost 2 entries after number 7"):
        engine.entries(7)
