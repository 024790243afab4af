"""Bounds on age by generations, on a real vLLM: reuse within the bound, and never at or past it.

Each trial has a namespace and a text of its own, so that its generation is born with its first request. Instants
are read around the exchange, so that an age is never overestimated: a hit whose age is too great is a proof.
"""

import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from live.conftest import Start
from reference_gateway.live.chat import Client, Json, message, text
from reference_gateway.live.engine import Engine, Options
from reference_gateway.live.gateway import running_gateway

MAX_AGE = 8
DEADLINE, MARGIN = 3.0, 1.0
BOUNDING = (
    *("--max-age", "generations"),
    *("--engine-deadline", str(DEADLINE), "--abort-margin", str(MARGIN)),
)
TRIALS = 200
STREAMED: Json = {"stream": True, "stream_options": {"include_usage": True}}


@dataclass(frozen=True)
class Trial:
    """A read: the least that its state's age can have been when it was answered, and what it found.

    `late` tells whether the read was sent when the bound had passed, `early` that it had plenty of time left.
    """

    age: float
    cached: int | None
    early: bool
    late: bool


def trial(client: Client, wait: float, way: Json) -> Trial | None:
    """Let state be computed, read it after `wait` seconds; None where the engine was too busy for one of both."""
    constraints = {
        "retention": {"mode": "allow", "max_age": MAX_AGE},
        "reuse": "exact",
        "share_max": "tenant",
        "namespace": secrets.token_hex(8),
    }
    fragment = message(text(20), "system", {"version": 1, "constraints": constraints})
    began = time.monotonic()
    made = client.ask(fragment, message("One?"))
    computed = time.monotonic()
    if made.http != 200:
        return None
    time.sleep(wait)
    sent = time.monotonic()
    read = client.ask(fragment, message("Two?"), **way)
    answered = time.monotonic()
    if read.http != 200:
        return None
    return Trial(
        age=sent - computed,
        cached=read.cached,
        early=answered - began < MAX_AGE - DEADLINE - MARGIN,
        late=sent - computed >= MAX_AGE,
    )


def trials(client: Client, count: int, jobs: int) -> list[Trial]:
    """Run overlapped trials at random ages, a good many of them early and about the bound."""
    chance = random.Random(7)
    waits = [
        chance.choice((chance.uniform(0, 1), chance.uniform(0, 10), chance.uniform(7.5, 8.5)))
        for _ in range(count)
    ]
    ways = [chance.choice(({}, STREAMED)) for _ in waits]
    with ThreadPoolExecutor(jobs) as pool:
        done = pool.map(lambda one: trial(client, *one), zip(waits, ways, strict=True))
        return [one for one in done if one is not None]


@contextmanager
def a_full_queue(ask: Callable[[], object]) -> Iterator[None]:
    """Keep more requests under way than the engine takes at a time."""
    over = threading.Event()

    def keep_asking() -> None:
        while not over.is_set():
            ask()

    threads = [threading.Thread(target=keep_asking) for _ in range(4)]
    for one in threads:
        one.start()
    try:
        yield
    finally:
        over.set()
        for one in threads:
            one.join()


def never_past_the_bound(done: list[Trial]) -> None:
    assert not [one for one in done if one.cached and one.age >= MAX_AGE]
    counts = Counter((bool(one.cached), one.late) for one in done)
    assert counts[False, True] > 0, counts  # some did read when the bound had passed
    assert counts[True, False] > 0, counts  # and some reuse there was


def test_state_is_reused_well_within_its_bound_and_never_past_it(engine: Engine) -> None:
    with running_gateway(engine, *BOUNDING) as gateway:
        done = trials(gateway.client(0), TRIALS, jobs=24)
    assert len(done) > TRIALS / 2
    never_past_the_bound(done)
    early = [one for one in done if one.early]
    assert early
    assert all(one.cached for one in early)


@pytest.mark.usefixtures("engine")
def test_nor_where_requests_wait_in_a_full_queue(start_engine: Start) -> None:
    engine = start_engine(Options(more=("--max-num-seqs", "1")))
    direct = Client(engine.url, engine.model, engine.headers())
    with (
        running_gateway(engine, *BOUNDING) as gateway,
        a_full_queue(lambda: direct.ask(message(text(20)), max_tokens=40, ignore_eos=True)),
    ):
        done = trials(gateway.client(0), TRIALS, jobs=24)
    never_past_the_bound(done)
