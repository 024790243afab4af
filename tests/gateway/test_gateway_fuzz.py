"""Requests at random: none breaks the gateway, and what reaches the engine is what its caller sent.

Short and always the same for every change, long and random with the marker `full`.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from cctest.instrument.client import EngineRecord
from gateway.chat_bytes import SEEDS, mutated, seeds
from gateway.chat_texts import chat_texts
from gateway.engine import Setting
from gateway.json_texts import seldom
from gateway.partition_oracle import Partitions
from gateway.spelt_json import Members, Spelt, expected, in_any_order_of_usage, less, member, read
from gateway.talk import MONDAY, NAMESAKE
from gateway.wire import Response, Wire

IDLE_SECONDS = 2.0
"""A connection that was idle for longer may be closed by the server just as it is used."""
CHAT = "/v1/chat/completions"
SALT = re.compile("[0-9a-f]{64}")
HEAD = f"POST {CHAT} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer {MONDAY}\r\n"
CALLERS = st.sampled_from((MONDAY, NAMESAKE))
"""Of two tenants."""


Extent = Callable[[Callable[[], None]], None]
"""Runs an exchange, which hypothesis has wrapped, for so many examples."""


def extent(brief: int) -> list[Any]:
    """So many examples for every change, always the same; in full ten times as many, always others."""
    common = settings(
        max_examples=brief, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )

    def once(exchange: Callable[[], None]) -> None:
        settings(common, derandomize=True)(exchange)()

    def ten_times(exchange: Callable[[], None]) -> None:
        run = settings(common)(exchange)
        for _ in range(10):
            run()

    full = [pytest.mark.full, pytest.mark.timeout(1200)]
    return [pytest.param(once, id=f"{brief}"), pytest.param(ten_times, id=f"{brief * 10}", marks=full)]


@dataclass
class Front:
    """A gateway, and if it forwards what the engine behind it got."""

    url: str
    setting: Setting | None = None
    seen: int = 0
    accepted: int = 0
    refused: int = 0
    partitions: Partitions = field(default_factory=Partitions)
    _wire: Wire | None = None
    _used: float = field(default_factory=time.monotonic)

    @property
    def wire(self) -> Wire:
        """The connection that is kept; a fresh one where that may have ended."""
        idle = time.monotonic() - self._used
        self._used = time.monotonic()
        if self._wire is None or idle > IDLE_SECONDS:
            self.hang_up()
            self._wire = Wire(self.url)
        return self._wire

    def hang_up(self) -> None:
        if self._wire is not None:
            self._wire.close()
        self._wire = None

    def post(self, body: bytes, token: str = MONDAY) -> Response:
        """Send a body in the usual way, and read the answer."""
        try:
            self.wire.send(
                f"{HEAD.replace(MONDAY, token)}Content-Length: {len(body)}\r\n\r\n".encode() + body
            )
            response = self.wire.read()
        except Exception:
            self.hang_up()
            raise
        if response.is_last:
            self.hang_up()
        return response

    def arrived(self) -> list[EngineRecord]:
        """What reached the engine since it was last asked."""
        if self.setting is None:
            return []
        entries = self.setting.engine.entries(self.seen)
        self.seen = entries[-1].number if entries else self.seen
        return [entry for entry in entries if entry.path == CHAT]

    def judge(self, body: bytes, response: Response, token: str = MONDAY) -> None:
        """Hold an answer, and what was forwarded for it, against what was sent."""
        check_shape(response)
        self.accepted += response.status == 200
        self.refused += response.status != 200
        arrived = self.arrived()
        if self.setting is not None and response.status == 200:
            assert len(arrived) == 1
        for record in arrived:
            check_forwarded(record)
            sent = read(body)
            assert without_salt(record) == in_any_order_of_usage(expected(sent))
            if record.status == 200:
                self.partitions.judge(sent, token, str(record.cache_salt))


def check_shape(response: Response) -> None:
    """Every answer is a completion, a whole stream, or an error in OpenAI's shape which is not the gateway's fault."""
    assert response.status < 500, response
    if response.headers["content-type"].startswith("text/event-stream"):
        assert response.status == 200
        assert response.body.endswith(b"\n\ndata: [DONE]\n\n")
        events = response.body.decode().removesuffix("\n\n").split("\n\n")[:-1]
        assert all("error" not in json.loads(event.removeprefix("data: ")) for event in events)
    elif response.status == 200:
        assert json.loads(response.body)["choices"]
    else:
        error = json.loads(response.body)["error"]
        assert {"message", "type", "param", "code"} <= set(error)
        assert error["message"]


def check_forwarded(record: EngineRecord) -> None:
    """What holds for all that reaches the engine, whoever sent what."""
    body = read(record.body)
    assert isinstance(body, Members)
    salts = [value for name, value in body if name == "cache_salt"]
    assert [bool(SALT.fullmatch(str(salt))) for salt in salts] == [True]
    for name in ("tools", "messages"):
        fragments = member(body, name)
        for fragment in fragments if isinstance(fragments, list) else []:
            assert member(fragment, "cache_intent") is None
    assert MONDAY not in str(record.headers)


def without_salt(record: EngineRecord) -> Spelt:
    return in_any_order_of_usage(less(read(record.body), {"cache_salt"}))


@pytest.fixture
def forwarding(two_ends: Setting) -> Iterator[Front]:
    front = Front(two_ends.url, two_ends, seen=two_ends.engine.about().latest)
    yield front
    front.hang_up()


@pytest.fixture
def embedded(gateway_url: str) -> Iterator[Front]:
    front = Front(gateway_url)
    yield front
    front.hang_up()


@pytest.mark.parametrize("many", extent(1200))
def test_the_engine_gets_what_the_caller_sent(forwarding: Front, many: Extent) -> None:
    @given(chat_texts(), CALLERS)
    def exchange(text: str, token: str) -> None:
        body = text.encode()
        forwarding.judge(body, forwarding.post(body, token), token)

    many(exchange)
    assert forwarding.accepted > 0.3 * (forwarding.accepted + forwarding.refused)
    assert forwarding.refused > 0


@pytest.mark.parametrize("many", extent(400))
def test_nor_do_bytes_at_random_break_it(forwarding: Front, many: Extent) -> None:
    @given(mutated())
    def exchange(body: bytes) -> None:
        forwarding.judge(body, forwarding.post(body))

    many(exchange)
    assert forwarding.accepted > 0
    assert forwarding.refused > 0


@pytest.mark.parametrize("many", extent(300))
def test_the_embedded_engine_takes_whatever_comes(embedded: Front, many: Extent) -> None:
    @given(st.one_of(chat_texts("embedded").map(str.encode), mutated("embedded")))
    def exchange(body: bytes) -> None:
        embedded.judge(body, embedded.post(body))

    many(exchange)
    assert embedded.accepted > 0


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
