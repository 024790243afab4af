"""Requests at random: none breaks the gateway, and what reaches the engine is what its caller sent.

Short and always the same for every change, long and random with the marker `full`.
"""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.chat_bytes import mutated
from gateway.chat_texts import chat_texts
from gateway.fuzzing import Extent, Front, extent
from gateway.talk import MONDAY, NAMESAKE

CALLERS = st.sampled_from((MONDAY, NAMESAKE))
"""Of two tenants."""


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
