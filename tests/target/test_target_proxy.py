import base64
import socket
import ssl
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pytest
import trustme
from local_server import Behaviour, LocalServer, Visit, body_trickle, closed_port, local_server

from cctest.problem import UsageProblem
from cctest.target.credential import Credential
from cctest.target.curl import reproduce
from cctest.target.exchange import ExchangeError, ExchangeKind, Request, Target
from cctest.target.proxy import Proxy, proxy_for
from cctest.target.tls import Tls

Serve = Callable[[Behaviour], LocalServer]
ALICE = Credential("alice", "alice-token", "t", "p")
ASK = Request("GET", "/v1/models", credential=ALICE)


@pytest.mark.parametrize(
    ("target", "environment", "proxy"),
    [
        ("http://h.example", {}, None),
        ("http://h.example", {"HTTP_PROXY": "http://p:1"}, "http://p:1"),
        ("http://h.example", {"HTTP_PROXY": "http://p:1", "http_proxy": "http://q:1"}, "http://q:1"),
        ("http://h.example", {"HTTP_PROXY": "p:1"}, "http://p:1"),
        ("http://h.example", {"HTTP_PROXY": ""}, None),
        ("http://h.example", {"HTTPS_PROXY": "http://p:1"}, None),
        ("https://h.example", {"HTTPS_PROXY": "http://p:1", "HTTP_PROXY": "http://q:1"}, "http://p:1"),
        ("http://localhost:8000", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://127.3.2.1", {"HTTP_PROXY": "http://p:1"}, None),
        ("http://[::1]:8000", {"HTTP_PROXY": "http://p:1"}, None),
    ],
)
def test_the_environment_names_the_proxy(
    target: str, environment: Mapping[str, str], proxy: str | None
) -> None:
    found = proxy_for(target, environment)
    assert (found.url if found else None) == proxy


@pytest.mark.parametrize(
    ("exceptions", "target", "excepted"),
    [
        ("*", "http://h.example", True),
        ("h.example", "http://h.example", True),
        ("h.example", "http://sub.h.example", True),
        (".h.example", "http://sub.h.example", True),
        ("*.h.example", "http://sub.h.example", True),
        ("h.example", "http://oh.example", False),
        ("other, H.Example ,", "http://h.example", True),
        ("h.example:8000", "http://h.example:8000", True),
        ("h.example:8000", "http://h.example", False),
        ("h.example:80", "http://h.example", True),
        ("10.0.0.0/8", "http://10.1.2.3", True),
        ("10.0.0.0/8", "http://11.1.2.3", False),
        ("10.1.2.3", "http://10.1.2.3:9", True),
        ("2001:db8::/32", "http://[2001:db8::1]", True),
        ("", "http://h.example", False),
    ],
)
@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_exceptions_are_honoured(exceptions: str, target: str, excepted: bool, name: str) -> None:
    environment = {"HTTP_PROXY": "http://p:1", name: exceptions}
    assert (proxy_for(target, environment) is None) is excepted


@pytest.mark.parametrize("url", ["socks5://canary:canary@p:1", "http://", "ftp://p"])
def test_a_proxy_of_another_kind_is_a_mistake_that_quotes_nothing(url: str) -> None:
    with pytest.raises(
        UsageProblem, match="the environment variable HTTP_PROXY: is no http or https"
    ) as caught:
        proxy_for("http://h.example", {"HTTP_PROXY": url})
    assert "canary" not in str(caught.value)


def test_what_is_shown_of_a_proxy_holds_no_password() -> None:
    proxy = Proxy("http://user:canary@p.example:3128", "HTTP_PROXY")
    assert proxy.address == "http://p.example:3128"
    assert "canary" not in repr(proxy)


def forwarding(destination: int) -> Behaviour:
    """A proxy that sends everything, whatever host is asked for, to one port of this machine."""

    def behave(visit: Visit) -> None:
        with socket.create_connection(("127.0.0.1", destination)) as onward:
            if visit.head.startswith(b"CONNECT "):
                visit.say(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                onward.sendall(visit.head + b"\r\n\r\n" + visit.body)
            back = threading.Thread(target=_pump, args=(onward, visit.stream), daemon=True)
            back.start()
            _pump(visit.stream, onward)
            back.join()

    return behave


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(65536):
            sink.sendall(chunk)
        sink.shutdown(socket.SHUT_WR)


def ok(visit: Visit) -> None:
    visit.respond(b"{}")


def test_a_plain_request_goes_through_the_proxy(serve: Serve) -> None:
    origin = serve(ok)
    middle = serve(forwarding(origin.port))
    proxy = Proxy(f"http://user:pa%40ss@127.0.0.1:{middle.port}", "HTTP_PROXY")
    with Target("http://gateway.invalid", proxy=proxy) as target:
        assert target.send(ASK).status == 200
    head = middle.requests[0][0]
    assert head.startswith(b"GET http://gateway.invalid/v1/models HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic " + base64.b64encode(b"user:pa@ss") in head
    assert b"Authorization: Bearer alice-token" in origin.requests[0][0]


def test_a_secure_request_goes_through_a_tunnel_that_sees_no_token(serve: Serve, tmp_path: Path) -> None:
    authority, ca_file = trustme.CA(), tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("gateway.invalid").configure_cert(context)
    with local_server(ok, context) as origin:
        middle = serve(forwarding(origin.port))
        proxy = Proxy(middle.url, "HTTPS_PROXY")
        with Target("https://gateway.invalid", proxy=proxy, tls=Tls(ca_file=ca_file)) as target:
            assert target.send(ASK).status == 200
        assert b"Authorization: Bearer alice-token" in origin.requests[0][0]
    assert middle.requests[0][0].startswith(b"CONNECT gateway.invalid:443 ")
    assert b"alice-token" not in b"".join(head for head, _ in middle.requests)


def test_the_deadline_holds_through_a_proxy(serve: Serve) -> None:
    middle = serve(forwarding(serve(body_trickle).port))
    proxy = Proxy(middle.url, "HTTP_PROXY")
    with (
        Target("http://gateway.invalid", proxy=proxy, deadline=0.4) as target,
        pytest.raises(ExchangeError) as caught,
    ):
        target.send(ASK)
    assert caught.value.kind is ExchangeKind.DEADLINE


def refusing(visit: Visit) -> None:
    visit.respond(b"", status="407 Proxy Authentication Required")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_is_down_is_told_apart_from_the_target(scheme: str) -> None:
    proxy = Proxy(f"http://user:canary@127.0.0.1:{closed_port()}", "HTTPS_PROXY")
    with Target(f"{scheme}://gateway.invalid", proxy=proxy) as target, pytest.raises(ExchangeError) as caught:
        target.send(ASK)
    assert caught.value.kind is ExchangeKind.UNREACHABLE
    assert "that HTTPS_PROXY names can't be used: Connection refused" in caught.value.message
    assert "canary" not in caught.value.message


def test_a_tunnel_that_is_refused_is_the_proxys_doing(serve: Serve) -> None:
    proxy = Proxy(serve(refusing).url, "HTTPS_PROXY")
    with Target("https://gateway.invalid", proxy=proxy) as target, pytest.raises(ExchangeError) as caught:
        target.send(ASK)
    assert "407" in caught.value.message
    assert "HTTPS_PROXY" in caught.value.message


def test_the_curl_command_names_the_proxy_and_no_password() -> None:
    target = Target("http://h.example", proxy=Proxy("http://us%65r:canary@p.example:1", "HTTP_PROXY"))
    command = reproduce(ASK, target)
    assert '--proxy http://p.example:1 --proxy-user user:"$CCTEST_PROXY_PASSWORD"' in command
    assert "canary" not in command
