"""What random requests are held against: answers without a fault, and forwarded bodies that are the callers' own."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from cctest.instrument.client import EngineRecord
from gateway.engine import Setting
from gateway.partition_oracle import Partitions
from gateway.spelt_json import Members, Spelt, expected, in_any_order_of_usage, less, member, read
from gateway.talk import MONDAY
from gateway.wire import Response, Wire

IDLE_SECONDS = 2.0
"""A connection that was idle for longer may be closed by the server just as it is used."""
CHAT = "/v1/chat/completions"
SALT = re.compile("[0-9a-f]{64}")
HEAD = f"POST {CHAT} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer {MONDAY}\r\n"

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
