"""HTTP at random: whatever is in good order is answered, and what isn't disturbs nobody."""

import re
from contextlib import suppress
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from gateway.chat_bytes import SEEDS, mutated, seeds
from gateway.fuzzing import CHAT, HEAD, Extent, Front, check_forwarded, check_shape, extent, without_salt
from gateway.json_texts import seldom
from gateway.spelt_json import expected, in_any_order_of_usage, read
from gateway.talk import MONDAY
from gateway.wire import Wire

FIELDS = st.sampled_from(
    (
        *(
            "Accept: */*",
            "X-Tenant: globex",
            "X-Empty:",
            "Cookie: a=b; c",
            "X-Latin: \xe9\xff",
            "Cache-Salt: mine",
        ),
        *("x-LONG: " + "v" * 5000, "X-Forwarded-For: 10.0.0.1", "X-Tab: a\tb", "Accept-Encoding: gzip"),
        *(
            "Content-Type: text/plain",
            "Content-Type: application/json; charset=utf-16",
            "Expect: 100-continue",
        ),
        *(
            "Connection: keep-alive",
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk",
        ),
    )
)
STRANGERS = st.sampled_from(
    ("", "Bearer", "Basic x", "Bearer \xe9", f"Bearer {MONDAY}x", f"Bearer {MONDAY} x")
)
EXTENSIONS = st.sampled_from(("", "", ";a=b", ';q="x y"'))
TRAILERS = st.sampled_from(("", "", "X-Trailer: t\r\n", "Authorization: Bearer other\r\n"))
BODIES = st.one_of(seeds, mutated())


@dataclass(frozen=True)
class Posted:
    """A request as it is sent, the body that it has, and whether its caller is known."""

    data: bytes
    body: bytes
    known: bool


@st.composite
def framed(draw: DrawFn) -> Posted:
    """A request in good order: with its length, or in chunks of any size, with headers of all kinds."""
    body = draw(BODIES)
    known = not draw(seldom(8))
    head = HEAD if known else HEAD.replace(f"Bearer {MONDAY}", draw(STRANGERS))
    for one in draw(st.lists(FIELDS, max_size=4, unique_by=lambda one: one.split(":")[0])):
        head += f"{one}\r\n"
    if draw(st.booleans()):
        return Posted(f"{head}Content-Length: {len(body)}\r\n\r\n".encode("latin-1") + body, body, known)
    sizes = draw(st.lists(st.integers(1, 200), min_size=1, max_size=4))
    coded, at = f"{head}Transfer-Encoding: chunked\r\n\r\n".encode("latin-1"), 0
    while piece := body[at : at + sizes[at % len(sizes)]]:
        coded += f"{len(piece):x}{draw(EXTENSIONS)}\r\n".encode() + piece + b"\r\n"
        at += len(piece)
    return Posted(coded + f"0\r\n{draw(TRAILERS)}\r\n".encode(), body, known)


@pytest.mark.parametrize("many", extent(100))
def test_requests_one_behind_the_other_are_all_answered(forwarding: Front, many: Extent) -> None:
    @given(st.lists(framed(), min_size=1, max_size=3), st.integers(1, 2000))
    def exchange(requests: list[Posted], cut: int) -> None:
        data = b"".join(one.data for one in requests)
        with Wire(forwarding.url) as wire:
            wire.send(data[:cut])
            wire.send(data[cut:])
            responses = [wire.read() for _ in requests]
        # What the engine itself refused has reached it too.
        arrived = forwarding.arrived()
        accepted = iter([record for record in arrived if record.status == 200])
        for one, response in zip(requests, responses, strict=True):
            check_shape(response)
            assert (response.status == 401) == (not one.known)
            if response.status == 200:
                assert without_salt(next(accepted)) == in_any_order_of_usage(expected(read(one.body)))
        assert list(accepted) == []
        for record in arrived:
            check_forwarded(record)

    many(exchange)


DISORDER = (
    *(
        b"\0",
        b"\r",
        b"\n",
        b"\r\n",
        b"\r\n\r\n",
        b" ",
        b":",
        b"\xff",
        b"HTTP/9.9",
        b"GET / HTTP/1.1\r\n\r\n",
        b"PRI * HTTP/2.0",
    ),
    *(
        b"Content-Length: 1\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length: 99999999999999999999\r\n",
        b"ffffffffffffffffffff\r\n",
    ),
    *(
        b"Transfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Transfer-Encoding: identity\r\n",
        b"z\r\n",
    ),
    *(
        b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
        b"Host:\r\n",
        b"\x16\x03\x01\x02\x00",
        b"Authorization: Bearer x\r\n",
    ),
)


@st.composite
def disordered(draw: DrawFn) -> bytes:
    """A request, or two, with things in it where they don't belong."""
    data = bytearray(b"".join(one.data for one in draw(st.lists(framed(), min_size=1, max_size=2))))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data)))
        if draw(st.booleans()):
            at = data.find(b"\r\n", at) + 2
        gap = draw(st.sampled_from((0, 0, 1, 10, 100)))
        data[at : at + gap] = draw(st.one_of(st.sampled_from(DISORDER), st.binary(max_size=6)))
    if draw(seldom(5)):
        del data[draw(st.integers(0, len(data))) :]
    return bytes(data)


@pytest.mark.parametrize("many", extent(100))
def test_broken_framing_is_no_fault_of_the_gateways_and_disturbs_nobody_else(
    forwarding: Front, many: Extent
) -> None:
    @given(disordered())
    def exchange(data: bytes) -> None:
        with Wire(forwarding.url) as wire:
            with suppress(ConnectionError):  # it may be refused before all was sent
                wire.send(data)
            told = wire.rest()
        assert not re.search(rb"HTTP/1\.[01] 5\d\d", told), told
        for record in forwarding.arrived():
            check_forwarded(record)
        assert forwarding.post(SEEDS[0]).status == 200

    many(exchange)


METHODS = st.sampled_from(("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "PROPFIND"))
PATHS = st.sampled_from(
    (
        *(CHAT, "/v1/models", "/v1/cache_intent_capabilities", "/healthz", "/readyz", "/metrics", "/", "*"),
        *(
            "//",
            "/v1",
            f"{CHAT}/",
            f"/{CHAT}",
            "/v1/chat/../models",
            "/%00",
            "/%ff",
            "/%",
            "/v1%2fmodels",
            "/\xe9",
        ),
        *("http://elsewhere/healthz", "/healthz#x", "/v1/completions", "/cctest/record", "/" + "a" * 3000),
    )
)
QUERIES = st.sampled_from(("", "", "?", "?stream=true", "?%ff", "?cache_salt=mine&cache_salt=yours"))


@pytest.mark.parametrize("many", extent(100))
def test_any_method_and_path_is_answered(forwarding: Front, many: Extent) -> None:
    @given(METHODS, PATHS, QUERIES, st.booleans())
    def exchange(method: str, path: str, query: str, known: bool) -> None:
        token = f"Authorization: Bearer {MONDAY}\r\n" if known else ""
        head = f"{method} {path}{query} HTTP/1.1\r\nHost: gateway\r\n{token}Content-Length: 2\r\n\r\n"
        with Wire(forwarding.url) as wire:
            wire.send(f"{head}{{}}".encode("latin-1"))
            assert wire.read(without_body=method == "HEAD").status < 500
        assert forwarding.arrived() == []

    many(exchange)
