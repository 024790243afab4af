"""Processes that die and come back, and clocks that are set: nothing weaker is ever served."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
from hypothesis import given, settings
from hypothesis import strategies as st
from local_server import closed_port

from cctest.contract.sharing import Context
from cctest.contract.vocabulary import Outcome
from cctest.instrument.client import Engine
from gateway.engine import MODEL, SECRET, forwarding
from gateway.process import running
from gateway.talk import BOB, MONDAY, NAMESAKE, Caller, Json, Reply, intent, message, text
from reference_gateway.in_process.embedded import EmbeddedBackend
from reference_gateway.plan import make_plan
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION
from reference_gateway.request.intake import read_chat_request

SECOND = 1_000_000_000
HOUR = 3600
GENERATIONS = ("--max-age", "generations", "--engine-deadline", "5", "--abort-margin", "1")
WAIT = 30.0
"""Seconds in which a gateway finds its engine again."""


@dataclass
class Killable:
    """An instrumented engine whose process can be killed, and started anew at the same address."""

    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def engine(self) -> Engine:
        return Engine(f"http://127.0.0.1:{self.port}")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._close()

    def start(self) -> None:
        self.process = _started(self.port)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()
        self._close()

    def salts(self, words: str) -> list[str]:
        """The partitions of the requests with `words` since the engine was started."""
        with self.engine as engine:
            found = [entry for entry in engine.entries() if words.encode() in entry.body]
        return [str(entry.cache_salt) for entry in found]

    def _close(self) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


def _started(port: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "cctest", "engine", "--port", str(port), "--stop-with-stdin"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b"listening on ")
    return process


@pytest.fixture
def killable() -> Iterator[Killable]:
    port = closed_port()
    made = Killable(port, _started(port))
    yield made
    made.stop()


@contextmanager
def in_front(killable: Killable, folder: Path, *options: str) -> Iterator[str]:
    with running(*forwarding(killable.url, folder, SECRET), *options) as (url, _):
        yield url


def caller(url: str, token: str = MONDAY) -> Caller:
    return Caller(url, token, MODEL)


def served(ask: Callable[[], Reply]) -> Reply:
    """Ask until it is served; meanwhile the gateway may only say that it has no engine."""
    deadline = time.monotonic() + WAIT
    while (reply := ask()).http != 200:
        assert reply.http in (502, 503), reply
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return reply


@pytest.mark.parametrize("usage", [True, False])
def test_an_engine_killed_in_the_middle_of_a_stream(killable: Killable, tmp_path: Path, usage: bool) -> None:
    words = text(400)
    with in_front(killable, tmp_path) as url:
        with killable.engine as engine:
            engine.misbehave([{"match": words, "do": {"delay": {"between": 30}}}])
        body: Json = {"model": MODEL, "messages": [message(words, intent())], "stream": True}
        body |= {"stream_options": {"include_usage": True}} if usage else {}
        headers = {"Authorization": f"Bearer {MONDAY}"}
        with requests.post(
            f"{url}/v1/chat/completions", json=body, headers=headers, timeout=WAIT, stream=True
        ) as response:
            pieces = response.iter_content(None)
            told = next(pieces)
            killable.kill()
            told += b"".join(pieces)
        assert response.status_code == 200
        *chunks, last = [
            json.loads(event.removeprefix("data: ")) for event in told.decode().split("\n\n") if event
        ]
        assert chunks
        assert set(last) == {"error"}
        assert not any("cache_status" in chunk for chunk in chunks)
        assert caller(url).chat(message("x")).http == 502


def test_an_engine_killed_before_its_first_byte(killable: Killable, tmp_path: Path) -> None:
    words = text()
    with in_front(killable, tmp_path) as url:
        with killable.engine as engine:
            engine.misbehave([{"match": words, "do": {"delay": {"first": 30}}}])
        replies: list[Reply] = []
        asking = threading.Thread(target=lambda: replies.append(caller(url).chat(message(words, intent()))))
        asking.start()
        while not killable.salts(words):
            time.sleep(0.02)
        killable.kill()
        asking.join()
    assert [reply.http for reply in replies] == [502]
    assert "cache_status" not in replies[0].body


def test_an_engine_that_comes_back_is_served_from_in_the_same_partitions(
    killable: Killable, tmp_path: Path
) -> None:
    words = text(400)
    asked = message(words, intent())
    forbidden = message(words, intent(mode="forbid"))
    with in_front(killable, tmp_path) as url:
        caller(url).chat(asked)
        caller(url).chat(forbidden)
        before = killable.salts(words)
        killable.kill()
        assert caller(url).chat(asked).http == 502
        killable.start()
        first = served(lambda: caller(url).chat(asked))
        again = caller(url).chat(asked)
        stranger = caller(url, NAMESAKE).chat(asked)
        bypassed = caller(url).chat(forbidden)
        after = killable.salts(words)
    assert first.each("outcome") == stranger.each("outcome") == ["miss"]
    assert again.each("outcome") == ["exact_hit"]
    assert bypassed.each("outcome") == ["bypass"]
    assert bypassed.cached == 0
    assert after[-4] == after[-3] == before[0]
    assert len({before[0], before[1], *after[-2:]}) == 4


def test_a_gateway_that_was_killed_finds_its_partitions_again(killable: Killable, tmp_path: Path) -> None:
    words = text(400)
    asked, forbidden = message(words, intent()), message(words, intent(mode="forbid"))
    options = forwarding(killable.url, tmp_path, SECRET)
    with running(*options) as (url, process):
        caller(url).chat(asked)
        caller(url).chat(forbidden)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with running(*options) as (url, _):
        stranger = caller(url, NAMESAKE).chat(asked)
        colleague = caller(url, BOB).chat(asked)
        bypassed = caller(url).chat(forbidden)
    assert (stranger.cached, bypassed.cached) == (0, 0)
    assert colleague.each("outcome") == ["exact_hit"]


def test_a_gateway_that_was_killed_remembers_no_generation(killable: Killable, tmp_path: Path) -> None:
    words = text(400)
    asked = message(words, intent(max_age=600))
    options = [*forwarding(killable.url, tmp_path, SECRET), *GENERATIONS]
    with running(*options) as (url, process):
        replies = [caller(url).chat(asked) for _ in range(2)]
        process.send_signal(signal.SIGKILL)
        process.wait()
    with running(*options) as (url, _):
        replies += [caller(url).chat(asked) for _ in range(2)]
    assert [reply.each("outcome") for reply in replies] == [["miss"], ["exact_hit"]] * 2
    assert len(set(killable.salts(words))) == 2


def test_replicas_share_what_has_no_bound_and_none_of_their_generations(
    killable: Killable, tmp_path: Path
) -> None:
    unbounded, bounded = text(400), text(400)
    with (
        in_front(killable, tmp_path, *GENERATIONS) as one,
        in_front(killable, tmp_path, *GENERATIONS) as other,
    ):
        shared = [caller(url).chat(message(unbounded, intent())).cached for url in (one, other)]
        own = [
            caller(url).chat(message(bounded, intent(max_age=600))).cached for url in (one, other, one, other)
        ]
    assert shared[0] == 0 < shared[1]
    assert own[:2] == [0, 0]
    assert min(own[2:]) > 0


def test_an_embedded_engine_that_was_killed_has_forgotten_everything() -> None:
    asked = message(text(), intent())
    for _ in range(2):
        with running() as (url, process):
            assert [Caller(url).chat(asked).each("outcome")[0] for _ in range(2)] == ["miss", "exact_hit"]
            os.kill(process.pid, signal.SIGKILL)
            process.wait()


STEPS = st.lists(
    st.one_of(
        st.just("ask"),
        st.sampled_from((0.5, 5.0, 9.5, 30.0)),
        st.sampled_from((-HOUR, HOUR)).map(lambda offset: ("set", offset)),
    ),
    min_size=4,
    max_size=16,
)


@settings(deadline=None, max_examples=200)
@given(STEPS, st.sampled_from((1, 10, 40)))
def test_however_the_clock_is_set_nothing_is_read_once_its_bound_has_passed(
    steps: list["str | float | tuple[str, int]"], max_age: int
) -> None:
    """The model knows how much time has really passed; a clock that is ahead may only end things early."""
    elapsed, offset = 0.0, 0
    backend = EmbeddedBackend(clock=lambda: round((HOUR * 100 + elapsed + offset) * SECOND))
    body = json.dumps({"model": "embedded", "messages": [message(text(), intent(max_age=max_age))]}).encode()
    plan = make_plan(
        read_chat_request(body), Context("acme", "alice"), "r", backend.capabilities, BY_CONSTRUCTION
    )
    computed_at: float | None = None
    for step in steps:
        if isinstance(step, tuple):
            offset += step[1]
        elif isinstance(step, float):
            elapsed += step
        elif asyncio.run(backend.serve(plan)).fragments[0].outcome is Outcome.EXACT_HIT:
            assert computed_at is not None
            assert elapsed < computed_at + max_age
        else:
            computed_at = elapsed
