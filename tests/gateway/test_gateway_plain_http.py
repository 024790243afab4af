"""What HTTP/1.1 has beside requests: wishes for other protocols, and trailers."""

import json
from collections.abc import Callable

import pytest

from gateway.talk import MONDAY
from gateway.wire import Wire

BODY = b'{"model":"embedded","messages":[{"role":"user","content":"hi"}]}'
POST = "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\n"
TOKEN = f"Authorization: Bearer {MONDAY}\r\n"
WISH = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"


def plain(head: str) -> bytes:
    return f"{POST}{head}Content-Length: {len(BODY)}\r\n\r\n".encode() + BODY


def chunked(head: str, trailer: str = "") -> bytes:
    framed = b"%x\r\n%b\r\n0\r\n" % (len(BODY), BODY)
    return f"{POST}{head}Transfer-Encoding: chunked\r\n\r\n".encode() + framed + f"{trailer}\r\n".encode()


@pytest.mark.parametrize("cut", [1, 100, 100_000])
@pytest.mark.parametrize("spell", [plain, chunked])
def test_a_wish_for_http2_is_passed_over(gateway_url: str, spell: Callable[[str], bytes], cut: int) -> None:
    wishing, usual = spell(TOKEN + WISH), spell(TOKEN)
    data = wishing + usual + wishing
    with Wire(gateway_url) as wire:
        for part in (data[:cut], data[cut:]):
            wire.send(part)
        assert [wire.read().status for _ in range(3)] == [200, 200, 200]


def test_who_asks_for_a_tunnel_gets_none(gateway_url: str) -> None:
    with Wire(gateway_url) as wire:
        wire.send(b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n")
        assert wire.read().status in (400, 404, 405)


def test_a_trailer_authenticates_nobody(gateway_url: str) -> None:
    with Wire(gateway_url) as wire:
        wire.send(chunked("", trailer=TOKEN))
        assert wire.read().status == 401
        wire.send(chunked(TOKEN, trailer=TOKEN))
        assert wire.read().status == 200


def test_what_is_no_http_is_told_so_in_the_shape_of_every_other_error(gateway_url: str) -> None:
    with Wire(gateway_url) as wire:
        wire.send(b"hello\r\n\r\n")
        refused = wire.read()
    assert (refused.status, json.loads(refused.body)["error"]["code"]) == (400, "bad_request")
