"""The load of `mix`, and what its requests may reuse of one another."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from reference_gateway.live.gateway import PRINCIPALS
from reference_gateway.live.mixed_load import (
    TENANTS,
    Arrival,
    Someone,
    Texts,
    arrivals,
    authors,
    shared_parts,
)

ALICE, BOB = (Someone(0, principal) for principal in PRINCIPALS)
STRANGER = Someone(1, PRINCIPALS[0])


def sent(sender: Someone, author: Someone, question: int = 0) -> Arrival:
    return Arrival(0.0, sender, author, question)


def test_the_same_seed_gives_the_same_load() -> None:
    assert arrivals(60, 2, 7) == arrivals(60, 2, 7) != arrivals(60, 2, 8)


@given(st.integers(0, 2**16))
def test_requests_come_in_order_and_in_time(seed: int) -> None:
    load = arrivals(30, 2, seed)
    assert all(0 < one.at < 30 for one in load)
    assert all(one.at < other.at for one, other in pairwise(load))
    assert all(one.sender.tenant < TENANTS for one in load)


@given(st.integers(0, 2**16))
def test_every_tenth_request_repeats_an_earlier_one_as_somebody_else(seed: int) -> None:
    load = arrivals(60, 2, seed)
    for number, one in enumerate(load):
        repeats = number % 10 == 9
        assert (one.question != number) == repeats
        assert not repeats or one.question < number
        assert repeats or one.sender == one.author


def test_colleagues_and_strangers_repeat_in_turn() -> None:
    load = [one for one in arrivals(200, 2, 1) if one.sender != one.author]
    assert {one.sender.tenant == one.author.tenant for one in load} == {True, False}


def test_the_rate_is_kept_on_average() -> None:
    assert 0.9 < len(arrivals(2000, 2, 3)) / 4000 < 1.1


def test_each_part_is_shared_as_far_as_its_intent_says() -> None:
    assert shared_parts(STRANGER, ALICE) == 1
    assert shared_parts(BOB, ALICE) == 2
    assert shared_parts(ALICE, ALICE) == 4


def test_prompts_differ_just_where_their_texts_do() -> None:
    texts = Texts()
    first, colleague, stranger = (
        texts.prompt(sent(one, one, number)) for number, one in enumerate((ALICE, BOB, STRANGER))
    )
    tools = len(texts.tools)
    assert first[:tools] == colleague[:tools] == stranger[:tools]
    assert first[tools] == colleague[tools] != stranger[tools]
    assert first[tools + 1] != colleague[tools + 1]
    assert texts.prompt(sent(STRANGER, ALICE, 0)) == first


def test_every_author_has_a_request() -> None:
    load = arrivals(60, 2, 1)
    assert {one.author for one in load} == set(authors(load))
