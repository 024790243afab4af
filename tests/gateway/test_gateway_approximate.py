"""Approximate reuse on the embedded engine, over HTTP: what is lent, what is said of it, what it never becomes."""

import pytest

from gateway.conftest import As
from gateway.process import running
from gateway.talk import BOB, MONDAY, NAMESAKE, Caller, Json, intent, message, text

ASKING = intent(reuse="approximate")


def similar() -> tuple[str, str]:
    """Two texts that differ in their first words only."""
    rest = text().partition(" ")[2]
    return f"one {rest}", f"other {rest}"


def test_similar_text_is_lent_the_state_and_that_is_told(caller: Caller) -> None:
    one, other = similar()
    assert caller.chat(message(one, ASKING)).each("outcome") == ["miss"]
    lent = caller.chat(message(other, ASKING))
    assert lent.each("outcome") == ["approximate_hit"]
    assert lent.cached > 0


def test_nothing_is_lent_to_who_did_not_ask_for_it(caller: Caller) -> None:
    one, other = similar()
    caller.chat(message(one, ASKING))
    assert caller.chat(message(other, intent())).each("outcome") == ["miss"]
    assert caller.chat(message(other)).cached > 0
    one, other = similar()
    caller.chat(message(one, ASKING))
    assert caller.chat(message(other)).cached == 0


def test_nothing_is_lent_of_what_was_retained_for_exact_reuse(caller: Caller) -> None:
    one, other = similar()
    caller.chat(message(one, intent()))
    assert caller.chat(message(other, ASKING)).each("outcome") == ["miss"]


def test_lent_state_and_all_after_it_never_comes_back_as_exact(caller: Caller) -> None:
    one, other = similar()
    after = text()
    caller.chat(message(one, ASKING))
    downstream = caller.chat(message(other, ASKING), message(after, ASKING))
    assert downstream.each("outcome") == ["approximate_hit", "miss"]
    exact = caller.chat(message(other, intent()), message(after, intent()))
    assert exact.each("outcome") == ["miss", "miss"]
    assert exact.cached == 0
    again = caller.chat(message(other, intent()), message(after, intent()))
    assert again.each("outcome") == ["exact_hit", "exact_hit"]


def test_state_computed_after_lent_state_is_lent_again_as_approximate(caller: Caller) -> None:
    one, other = similar()
    after = text()
    caller.chat(message(one, ASKING))
    caller.chat(message(other, ASKING), message(after, ASKING))
    again = caller.chat(message(other, ASKING), message(after, ASKING))
    assert again.each("outcome") == ["approximate_hit", "approximate_hit"]
    assert again.each("retention") == ["retained", "retained"]


def test_one_exact_fragment_before_it_keeps_lent_state_away(caller: Caller) -> None:
    one, other = similar()
    head = text()
    caller.chat(message(head, intent()), message(one, ASKING))
    assert caller.chat(message(head, intent()), message(other, ASKING)).each("outcome") == [
        "exact_hit",
        "miss",
    ]


@pytest.mark.parametrize("later", ["exact", "none"])
@pytest.mark.parametrize("place", [1, 2])
def test_one_stricter_fragment_after_it_keeps_lent_state_away_too(
    caller: Caller, later: str, place: int
) -> None:
    """What it depends on would not be what fresh computation gives."""
    one, other = similar()
    caller.chat(message(one, ASKING))
    after = [message(text(), ASKING), message(text(), ASKING)]
    after[place - 1] = message(text(), intent(reuse=later))
    strict = caller.chat(message(other, ASKING), *after)
    assert "approximate_hit" not in strict.each("outcome")
    assert strict.cached == 0
    assert caller.chat(message(other, ASKING)).each("outcome") == ["exact_hit"]


def test_text_that_nobody_spoke_for_is_not_approximated_for_the_sake_of_what_follows(caller: Caller) -> None:
    head, other_head = similar()
    asked = message(text(), ASKING)
    caller.chat(message(head), asked)
    assert caller.chat(message(other_head), asked).cached == 0


@pytest.mark.parametrize("asked", [ASKING, intent("public", reuse="approximate")])
def test_only_the_readers_own_tenant_lends(caller_as: As, asked: Json) -> None:
    one, other = similar()
    third = f"third {other.partition(' ')[2]}"
    caller_as(MONDAY).chat(message(one, asked))
    assert caller_as(NAMESAKE).chat(message(other, asked)).each("outcome") == ["miss"]
    assert caller_as(BOB).chat(message(third, asked)).each("outcome") == ["approximate_hit"]


def test_another_namespace_is_lent_nothing(caller: Caller) -> None:
    one, other = similar()
    caller.chat(message(one, ASKING))
    named = intent(reuse="approximate", namespace="other")
    assert caller.chat(message(other, named)).each("outcome") == ["miss"]


def test_a_short_text_is_similar_to_nothing_but_itself(caller: Caller) -> None:
    caller.chat(message("one short text", ASKING))
    assert caller.chat(message("other short text", ASKING)).cached == 0


def test_what_there_is_no_room_for_is_not_said_to_be_retained() -> None:
    with running("--capacity-blocks", "0") as (url, _):
        caller = Caller(url)
        for _ in range(2):
            said = caller.chat(message(text(), ASKING), message(text(), ASKING))
            assert said.each("retention") == ["declined", "declined"]


def test_the_operator_says_in_how_many_words_similar_texts_may_differ() -> None:
    with running("--similar-but-for", "0") as (url, _):
        caller = Caller(url, MONDAY)
        one, other = similar()
        caller.chat(message(one, ASKING))
        assert caller.chat(message(other, ASKING)).each("outcome") == ["miss"]
