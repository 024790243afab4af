"""The embedded engine under a clock that a test sets: lifetimes from intent to observation."""

import asyncio
import json

import pytest

from cctest.contract.sharing import Context
from cctest.contract.vocabulary import Outcome
from gateway.talk import Json, intent, message, text
from reference_gateway.backend import Backend, Served
from reference_gateway.in_process.embedded import EmbeddedBackend
from reference_gateway.plan import make_plan
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION
from reference_gateway.request.intake import read_chat_request

SECOND = 1_000_000_000


class Engine:
    """An embedded engine and what time it is there."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.backend = EmbeddedBackend(clock=lambda: round(self.seconds * SECOND))

    def serve(self, *fragments: Json) -> Served:

        body = json.dumps({"model": "embedded", "messages": fragments}).encode()
        plan = make_plan(
            read_chat_request(body), Context("acme", "alice"), "r", self.backend.capabilities, BY_CONSTRUCTION
        )
        return asyncio.run(self.backend.serve(plan))

    def outcome(self, *fragments: Json) -> Outcome:
        return self.serve(*fragments).fragments[-1].outcome


def test_the_engine_is_a_backend() -> None:
    backend: Backend = EmbeddedBackend()
    assert backend.models == ("embedded",)


def test_state_is_reused_until_its_bound_and_not_at_it() -> None:
    engine, fragment = Engine(), message(text(), intent(max_age=10))
    assert engine.outcome(fragment) is Outcome.MISS
    engine.seconds = 9.999
    assert engine.outcome(fragment) is Outcome.EXACT_HIT
    engine.seconds = 10
    assert engine.outcome(fragment) is Outcome.MISS


def test_warming_starts_a_new_interval_and_reading_does_not() -> None:
    engine, words = Engine(), text()
    reading, warming = message(words, intent(max_age=10)), message(words, intent(reuse="none", max_age=10))
    engine.serve(reading)
    engine.seconds = 8
    assert engine.outcome(reading) is Outcome.EXACT_HIT
    engine.seconds = 9
    assert engine.outcome(warming) is Outcome.BYPASS
    engine.seconds = 18
    assert engine.outcome(reading) is Outcome.EXACT_HIT
    engine.seconds = 19
    assert engine.outcome(reading) is Outcome.MISS


def test_the_smallest_bound_of_a_request_governs_what_depends_on_it() -> None:
    engine = Engine()
    fragments = [
        message(text(), intent(max_age=60)),
        message(text(), intent(max_age=5)),
        message(text(), intent()),
    ]
    engine.serve(*fragments)
    engine.seconds = 5
    outcomes = [one.outcome for one in engine.serve(*fragments).fragments]
    assert outcomes == [Outcome.EXACT_HIT, Outcome.MISS, Outcome.MISS]


def test_what_was_computed_from_older_state_lives_no_longer_than_that() -> None:
    engine, prefix, rest = Engine(), text(), message(text(), intent())
    engine.serve(message(prefix, intent(max_age=10)))
    engine.seconds = 9
    engine.serve(message(prefix, intent()), rest)  # reads the prefix, computes the rest from it
    engine.seconds = 10
    engine.serve(message(prefix, intent()))  # a fresh prefix, without a bound
    assert engine.outcome(message(prefix, intent()), rest) is Outcome.MISS


@pytest.mark.parametrize("words", [10, 20_000])
def test_long_input_is_served_like_short_input(words: int) -> None:
    engine, fragment = Engine(), message(text(words), intent())
    assert [engine.outcome(fragment) for _ in range(2)] == [Outcome.MISS, Outcome.EXACT_HIT]
