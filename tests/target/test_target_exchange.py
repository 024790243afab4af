import gzip
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from local_server import (
    Behaviour,
    LocalServer,
    Visit,
    body_trickle,
    closed_port,
    endless_body,
    header_trickle,
    silent,
)

from cctest.target.credential import Credential, Header
from cctest.target.exchange import ExchangeError, ExchangeKind, Request, Response, Target

Serve = Callable[[Behaviour], LocalServer]
GET = Request("GET", "/v1/models")


def send(url: str, request: Request = GET, deadline: float = 5) -> Response:
    with Target(url, deadline=deadline) as target:
        return target.send(request)


def failure(url: str, deadline: float = 5) -> ExchangeError:
    with pytest.raises(ExchangeError) as caught:
        send(url, deadline=deadline)
    return caught.value


def answering(body: bytes, *headers: str, status: str = "200 OK") -> Behaviour:
    return lambda visit: visit.respond(body, *headers, status=status)


def test_a_response_arrives_whole(serve: Serve) -> None:
    server = serve(answering(b'{"a": 1}', "X-Kind: Test"))
    response = send(server.url)
    assert (response.status, response.body) == (200, b'{"a": 1}')
    assert response.headers["x-kind"] == "Test"
    assert response.started < response.ended
    assert response.events is None


def test_a_stream_is_split_into_events(serve: Serve) -> None:
    server = serve(
        answering(b"data: 1\n\ndata: [DONE]\n\n", "Content-Type: text/event-stream; charset=utf-8")
    )
    events = send(server.url).events
    assert events is not None
    assert [event.data for event in events] == [b"1", b"[DONE]"]


def test_the_request_is_sent_as_given(serve: Serve) -> None:
    server = serve(answering(b"{}"))
    credential = Credential("a", "secret-a", "t", "p")
    request = Request(
        "POST", "/v1/x", (("Content-Type", "application/json"),), b'{"\\u0000":1, }', credential
    )
    with Target(server.url, headers=(Header("X-Org", "acme"), Header("user-agent", "mine"))) as target:
        target.send(request)
    head, body = server.requests[0]
    lines = head.decode().split("\r\n")
    assert lines[0] == "POST /v1/x HTTP/1.1"
    assert body == request.body
    assert {line for line in lines[1:] if not line.startswith("Host:")} == {
        "user-agent: mine",
        "Accept: */*",
        "Accept-Encoding: identity",
        "X-Org: acme",
        "Content-Type: application/json",
        "Authorization: Bearer secret-a",
        "Content-Length: 14",
    }


def test_netrc_and_proxy_variables_are_not_used(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port()}")
    server = serve(answering(b"{}"))
    send(server.url, Request("GET", "/", credential=Credential("a", "secret-a", "t", "p")))
    send(server.url)
    assert b"Authorization: Bearer secret-a" in server.requests[0][0]
    assert b"authorization" not in server.requests[1][0].lower()


def test_cookies_are_not_carried_over(serve: Serve) -> None:
    server = serve(answering(b"{}", "Set-Cookie: who=a; Path=/"))
    with Target(server.url) as target:
        target.send(GET)
        target.send(GET)
    assert b"cookie" not in server.requests[1][0].lower()


def test_a_redirect_is_a_response_and_its_goal_is_never_contacted(serve: Serve) -> None:
    elsewhere = serve(answering(b"{}"))
    server = serve(answering(b"", f"Location: {elsewhere.url}/v1/models", status="307 Temporary Redirect"))
    response = send(server.url)
    assert response.status == 307
    assert elsewhere.connections == 0


def test_the_body_of_a_redirect_is_bounded_too(serve: Serve) -> None:
    def redirect_for_ever(visit: Visit) -> None:
        visit.say(b"HTTP/1.1 302 Found\r\nLocation: http://[broken\r\n\r\n")
        while not visit.stop.is_set():
            visit.say(b" " * 65536)

    assert failure(serve(redirect_for_ever).url).kind is ExchangeKind.TOO_LARGE


def test_an_error_status_is_a_response(serve: Serve) -> None:
    assert send(serve(answering(b"oops", status="500 Oh")).url).status == 500


def test_a_closed_port_refuses() -> None:
    error = failure(f"http://127.0.0.1:{closed_port()}")
    assert error.kind is ExchangeKind.REFUSED
    assert "127.0.0.1" in error.message


def test_an_unknown_host_is_unreachable() -> None:
    assert failure("http://host.invalid").kind is ExchangeKind.UNREACHABLE


@pytest.mark.parametrize("behaviour", [silent, header_trickle, body_trickle])
def test_the_deadline_is_total(serve: Serve, behaviour: Behaviour) -> None:
    started = time.monotonic()
    error = failure(serve(behaviour).url, deadline=0.4)
    assert error.kind is ExchangeKind.DEADLINE
    assert "0.4 s" in error.message
    assert time.monotonic() - started < 2


def test_the_deadline_holds_while_a_body_with_a_length_trickles(serve: Serve) -> None:
    def trickle(visit: Visit) -> None:
        visit.say(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        visit.trickle(b" ")

    assert failure(serve(trickle).url, deadline=0.3).kind is ExchangeKind.DEADLINE


def test_the_deadline_holds_on_a_connection_that_is_used_again(serve: Serve) -> None:
    turns = iter([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"])

    def once(visit: Visit) -> None:
        answer = next(turns, None)
        if answer is None:
            header_trickle(visit)
        else:
            visit.say(answer)

    server = serve(once)
    with Target(server.url, deadline=0.4) as target:
        target.send(GET)
        with pytest.raises(ExchangeError) as caught:
            target.send(GET)
    assert caught.value.kind is ExchangeKind.DEADLINE
    assert server.connections == 1


def test_the_deadline_holds_when_the_server_takes_nothing(serve: Serve) -> None:
    stop = threading.Event()

    def deaf(visit: Visit) -> None:
        stop.wait(10)

    server = serve(deaf)
    with Target(server.url, deadline=0.3) as target, pytest.raises(ExchangeError) as caught:
        target.send(Request("POST", "/", body=b"x" * 50_000_000))
    stop.set()
    assert caught.value.kind is ExchangeKind.DEADLINE


def test_after_a_missed_deadline_the_next_exchange_works(serve: Serve) -> None:
    turns = iter([header_trickle])

    def slow_once(visit: Visit) -> None:
        next(turns, answering(b"{}"))(visit)

    with Target(serve(slow_once).url, deadline=0.3) as target:
        with pytest.raises(ExchangeError):
            target.send(GET)
        assert target.send(GET).body == b"{}"


def test_an_endless_body_is_cut_off(serve: Serve) -> None:
    assert failure(serve(endless_body).url).kind is ExchangeKind.TOO_LARGE


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_compression_bomb_is_stopped(serve: Serve, encoding: str) -> None:
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    bomb = pack(b"\0" * 200_000_000)
    assert failure(serve(answering(bomb, f"Content-Encoding: {encoding}")).url).kind is ExchangeKind.TOO_LARGE


def test_an_encoding_that_nobody_asked_for_is_an_error(serve: Serve) -> None:
    error = failure(serve(answering(b"?", "Content-Encoding: br")).url)
    assert error.kind is ExchangeKind.BAD_ENCODING
    assert "'br'" in error.message


def test_gzip_is_understood_although_it_was_not_asked_for(serve: Serve) -> None:
    server = serve(answering(gzip.compress(b'{"a":1}'), "Content-Encoding: gzip"))
    assert json.loads(send(server.url).body) == {"a": 1}


def test_a_body_shorter_than_promised_is_broken(serve: Serve) -> None:
    def cut(visit: Visit) -> None:
        visit.say(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        visit.stream.close()

    assert failure(serve(cut).url).kind is ExchangeKind.BROKEN


def test_a_stream_that_ends_between_chunks_is_broken(serve: Serve) -> None:
    def cut(visit: Visit) -> None:
        visit.say(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\ndata: 1\r\n")
        visit.stream.close()

    assert failure(serve(cut).url).kind is ExchangeKind.BROKEN


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 500])
def test_what_is_no_http_is_broken(serve: Serve, answer: bytes) -> None:
    def talk(visit: Visit) -> None:
        visit.say(answer)
        visit.stream.close()

    assert failure(serve(talk).url).kind is ExchangeKind.BROKEN


def test_a_plain_server_behind_an_https_url_is_bad_tls() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            stream, _ = listener.accept()
            with stream:
                stream.recv(1000)
                stream.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        error = failure(f"https://127.0.0.1:{listener.getsockname()[1]}")
        thread.join()
    assert error.kind is ExchangeKind.BAD_TLS


def test_connections_are_kept_and_each_thread_has_its_own(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine a thread may pause for longer than an idle connection is kept.
    monkeypatch.setattr("cctest.target.deadline.IDLE_LIMIT", 60.0)
    server = serve(lambda visit: visit.say(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
    with Target(server.url) as target:
        ready = threading.Barrier(4)

        def talk() -> None:
            ready.wait()
            for _ in range(5):
                assert target.send(GET).status == 200

        threads = [threading.Thread(target=talk) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(server.requests) == 20
    assert server.connections == 4


@pytest.mark.parametrize(
    ("base_path", "path", "address"),
    [
        ("/v1", "/v1/models", "http://h/api/v1/models"),
        ("/openai/v1", "/v1/models", "http://h/api/openai/v1/models"),
        ("", "/v1/models", "http://h/api/models"),
        ("/v2/", "/v1/models", "http://h/api/v2/models"),
        ("/v2", "/v1beta/models", "http://h/api/v1beta/models"),
    ],
)
def test_the_base_path_stands_in_the_place_of_v1(base_path: str, path: str, address: str) -> None:
    assert Target("http://h/api/", base_path=base_path).address(path) == address
