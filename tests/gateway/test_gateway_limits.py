"""Bounds: what is over one is refused in words, and the others are served as before."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from typing import Any

import pytest
import requests

from gateway.process import running
from gateway.talk import BOB, MONDAY, NAMESAKE, TUESDAY, Caller, Reply, intent, message, text
from reference_gateway.callers.limits import Limits

HEAD = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {MONDAY}\r\n"
STRICT = (
    *("--max-body-bytes", "200000", "--body-deadline", "0.5", "--max-fragments", "3"),
    *(
        "--max-header-bytes",
        "4096",
        "--max-headers",
        "20",
        "--head-deadline",
        "0.5",
        "--stall-deadline",
        "0.5",
    ),
    *("--max-connections", "12", "--max-namespaces", "4"),
)


@pytest.fixture(scope="module")
def strict_url() -> Iterator[str]:
    with running(*STRICT) as (url, _):
        yield url


@pytest.fixture(scope="module")
def narrow_url() -> Iterator[str]:
    """A gateway with little room for bodies, and all the time in the world."""
    with running("--max-body-bytes", "200000", "--max-bodies-bytes", "300000") as (url, _):
        yield url


def connect(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def answer(connection: socket.socket) -> tuple[int, str]:
    """All that comes on a connection until the gateway closes it: status, and error code."""
    with closing(connection):
        received = b""
        while piece := connection.recv(65_536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]["code"] if body else ""


def well(url: str) -> None:
    """The gateway serves other callers."""
    assert Caller(url, BOB).chat(message("hello")).http == 200


def test_a_body_over_the_bound_is_refused(strict_url: str) -> None:
    reply = Caller(strict_url).chat(message("x" * 200_000))
    assert (reply.http, reply.error["code"]) == (413, "request_too_large")
    assert "200000 bytes" in reply.error["message"]
    well(strict_url)


@pytest.mark.parametrize("sent", ["", "{", '{"model": "embedded", '])
def test_a_body_that_comes_too_slowly_is_given_up(strict_url: str, sent: str) -> None:
    connection = connect(strict_url)
    connection.sendall(f"{HEAD}Content-Length: 1000\r\n\r\n{sent}".encode())
    assert answer(connection) == (408, "body_timeout")
    well(strict_url)


@pytest.mark.parametrize("sent", ["", "POST", f"{HEAD}X-More: "])
def test_a_head_that_comes_too_slowly_is_given_up(strict_url: str, sent: str) -> None:
    with closing(connect(strict_url)) as connection:
        connection.sendall(sent.encode())
        assert connection.recv(100) == b""
    well(strict_url)


def test_a_head_that_drips_is_given_up_too(strict_url: str) -> None:
    with closing(connect(strict_url)) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        with pytest.raises(OSError, match=r"Broken pipe|reset"):
            drip(connection)
    well(strict_url)


@pytest.mark.parametrize(
    "headers",
    [{"X-Large": "x" * 5000}, {f"X-{number}": "x" for number in range(30)}],
    ids=["bytes", "number"],
)
def test_too_large_a_head_is_refused(strict_url: str, headers: dict[str, str]) -> None:
    response = requests.get(f"{strict_url}/healthz", headers=headers, timeout=30)
    assert response.status_code == 431
    assert response.json()["error"]["code"] == "headers_too_large"
    assert "x-request-id" in response.headers
    well(strict_url)


def test_a_caller_who_takes_nothing_of_its_answers_is_given_up() -> None:
    # With all the time in the world for its requests, however slowly it gets to write them.
    with running("--stall-deadline", "0.5", "--head-deadline", "60") as (url, _):
        with closing(connect(url)) as connection, pytest.raises(OSError, match=r"Broken pipe|reset"):
            ask_without_listening(connection)
        assert 'connections_closed_total{reason="stalled"}' in metrics(url)


def test_an_idle_connection_is_closed_and_by_default_not_before_those_of_a_balancer_in_front() -> None:
    with running("--keep-alive", "1") as (url, _):
        host = url.removeprefix("http://")
        with closing(HTTPConnection(host, timeout=30)) as connection:
            for _ in range(2):
                connection.request("GET", "/healthz")
                response = connection.getresponse()
                assert (response.status, response.will_close) == (200, False)
                response.read()
            assert connection.sock.recv(1) == b""
    assert Limits().idle_seconds > 60


def test_a_head_without_an_end_is_refused_as_soon_as_it_is_too_large(strict_url: str) -> None:
    connection = connect(strict_url)
    connection.sendall(f"{HEAD}X-Large: ".encode())
    time.sleep(0.2)  # so that it comes in two pieces
    connection.sendall(b"x" * 5000)
    assert answer(connection) == (431, "headers_too_large")
    well(strict_url)


def test_what_is_no_http_is_refused_in_the_shape_of_every_error(strict_url: str) -> None:
    connection = connect(strict_url)
    connection.sendall(b"what is this?\r\n\r\n")
    assert answer(connection) == (400, "bad_request")


def test_too_many_fragments_are_refused(strict_url: str) -> None:
    caller = Caller(strict_url)
    assert caller.chat(*[message("x")] * 3).http == 200
    reply = caller.chat(*[message("x")] * 4)
    assert (reply.http, reply.error["code"]) == (400, "invalid_request")
    assert "more than 3" in reply.error["message"]


def test_too_many_connections_are_turned_away_and_others_come_in_when_they_end() -> None:
    with running("--max-connections", "5") as (url, _):
        held = [connect(url) for _ in range(5)]
        assert answer(connect(url)) == (503, "server_busy")
        for connection in held:
            connection.close()
        assert eventually(lambda: requests.get(f"{url}/healthz", timeout=30).status_code == 200)
        assert 'connections_closed_total{reason="server_busy"}' in metrics(url)


def test_a_tenant_has_so_many_namespaces_and_others_have_their_own(strict_url: str) -> None:
    def use(token: str, name: str, share_max: str = "tenant") -> Reply:
        return Caller(strict_url, token).chat(message("x", intent(share_max, namespace=name)))

    assert [use(MONDAY, f"n{number}").http for number in range(4)] == [200] * 4
    assert [use(BOB, f"n{number}").http for number in range(4)] == [200] * 4  # the same tenant's, used again
    one_more = use(BOB, "n5")
    assert (one_more.http, one_more.error["code"]) == (429, "too_many_namespaces")
    assert "n5" not in json.dumps(one_more.body)
    assert use(NAMESAKE, "n5").http == 200
    assert Caller(strict_url).chat(message("no namespace", intent())).http == 200


def test_large_bodies_under_way_are_bounded_together(narrow_url: str) -> None:
    held = [hold_large_body(narrow_url, token) for token in (MONDAY, NAMESAKE)]
    assert eventually(lambda: large_bodies(narrow_url) == 298_000)
    reply = Caller(narrow_url, BOB).chat(message("x" * 100_000))
    assert (reply.http, reply.error["code"]) == (503, "server_busy")
    for connection in held:
        connection.close()
    assert eventually(lambda: large_bodies(narrow_url) == 0)
    assert Caller(narrow_url, BOB).chat(message("x" * 100_000)).http == 200


def test_a_principal_leaves_room_for_the_large_bodies_of_others(narrow_url: str) -> None:
    with closing(hold_large_body(narrow_url, MONDAY)):
        assert eventually(lambda: large_bodies(narrow_url) == 149_000)
        reply = Caller(narrow_url, MONDAY).chat(message("x" * 100_000))
        assert (reply.http, reply.error["code"]) == (429, "too_many_requests")
        assert Caller(narrow_url, BOB).chat(message("x" * 100_000)).http == 200
        well(narrow_url)
    assert eventually(lambda: large_bodies(narrow_url) == 0)
    assert Caller(narrow_url, MONDAY).chat(message("x" * 100_000)).http == 200


def test_a_principal_has_so_many_requests_at_once() -> None:
    with running("--max-concurrency", "2") as (url, _):
        held = [connect(url) for _ in range(2)]
        for connection in held:
            connection.sendall(f"{HEAD}Content-Length: 1000\r\n\r\n{{".encode())
        assert eventually(lambda: Caller(url, TUESDAY).chat(message("x")).http == 429)
        reply = requests.post(
            f"{url}/v1/chat/completions", headers={"Authorization": f"Bearer {MONDAY}"}, timeout=30
        )
        assert reply.headers["Retry-After"] == "1"
        assert reply.json()["error"]["type"] == "rate_limit_error"
        assert reply.json()["error"]["code"] == "too_many_requests"
        for token in (BOB, NAMESAKE):  # another principal, and a namesake in another tenant
            assert Caller(url, token).chat(message("x")).http == 200
        for connection in held:
            connection.close()
        assert eventually(lambda: Caller(url).chat(message("x")).http == 200)


def test_a_principal_begins_so_many_requests_a_second() -> None:
    with running("--max-rate", "0.01") as (url, _):
        assert Caller(url).chat(message("x")).http == 200
        refused = requests.post(
            f"{url}/v1/chat/completions", headers={"Authorization": f"Bearer {MONDAY}"}, timeout=30
        )
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "rate_limited")
        assert 90 <= int(refused.headers["Retry-After"]) <= 100
        well(url)


@pytest.mark.parametrize("name", ["metadata", "user", "prompt_cache_key"])
def test_large_metadata_are_refused(strict_url: str, name: str) -> None:
    value: Any = {"k": "x" * 17_000} if name == "metadata" else "x" * 17_000
    reply = Caller(strict_url).chat(message("x"), **{name: value})
    assert (reply.http, reply.error["code"], reply.error["param"]) == (400, "metadata_too_large", f"/{name}")
    small: Any = {f"{number:064}": "x" * 512 for number in range(16)} if name == "metadata" else "x" * 512
    assert Caller(strict_url).chat(message("x"), **{name: small}).http == 200


DEEP = b'{"model":"embedded","messages":' + b"[" * 500_000
TWICE = b'{"messages":[],' + b'"a":1,' * 160_000 + b'"a":1}'
HOSTILE = {
    "deep": DEEP,
    "twice": TWICE,
    "unclosed": b'{"model":"' + b"x" * 1_000_000,
    "escapes": b'{"model":"' + b"\\u0041" * 170_000 + b"\\ud800" + b'"}',
    "numbers": b'{"messages":[' + b"1e999," * 150_000 + b"1]}",
    "spaces": b"{" + b" " * 1_000_000,
    "empty": b"[" + b"{}," * 300_000 + b"{}]",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_body_is_refused_and_holds_up_nobody(gateway_url: str, body: bytes) -> None:
    with ThreadPoolExecutor(9) as pool:
        hostile = [pool.submit(Caller(gateway_url).post, body) for _ in range(4)]
        others = [pool.submit(Caller(gateway_url, BOB).chat, message(text(5))) for _ in range(20)]
        assert {one.result().http for one in others} == {200}
        assert {one.result().http for one in hostile} == {400}


def test_many_callers_of_every_bad_kind_at_once_leave_it_well() -> None:
    with running(*STRICT, "--max-connections", "500") as (url, process):
        slow = [connect(url) for _ in range(100)]
        for number, connection in enumerate(slow):
            connection.sendall((HEAD if number % 2 else f"{HEAD}Content-Length: 9\r\n\r\n{{").encode())
        threads = [threading.Thread(target=Caller(url).post, args=(b"[" * 150_000,)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            well(url)
        for thread in threads:
            thread.join()
        for connection in slow:
            connection.close()
        well(url)
        assert process.poll() is None


def drip(connection: socket.socket) -> None:
    for number in range(600):
        connection.sendall(f"X-{number}: x\r\n".encode())
        time.sleep(0.05)


def ask_without_listening(connection: socket.socket) -> None:
    padding = b"x" * 2000  # so that no buffer on the way takes them all
    for _ in range(1_000_000):
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Padding: %b\r\n\r\n" % padding)


def metrics(url: str) -> str:
    return requests.get(f"{url}/metrics", timeout=30).text


def hold_large_body(url: str, token: str) -> socket.socket:
    """Begin a large body and leave it at that."""
    connection = connect(url)
    head = f"{HEAD}Content-Length: 190000\r\n\r\n".replace(MONDAY, token)
    connection.sendall(head.encode() + b" " * 149_000)
    return connection


def large_bodies(url: str) -> int:
    (line,) = (
        line for line in metrics(url).splitlines() if line.startswith("reference_gateway_large_bodies_bytes ")
    )
    return int(float(line.split()[1]))


def eventually(holds: Any, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while True:
        try:
            if holds():
                return True
        except requests.ConnectionError:
            pass
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
