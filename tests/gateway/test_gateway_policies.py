"""Retention, reuse and hints, and what the status says of them."""

import pytest

from gateway.conftest import As
from gateway.process import running
from gateway.talk import BOB, MONDAY, NAMESAKE, Caller, Json, intent, message, text


@pytest.mark.parametrize(
    "forbidding", [intent(mode="forbid"), intent(max_age=0)], ids=["forbid", "max_age 0"]
)
def test_what_must_not_be_retained_is_not_and_that_is_told(caller: Caller, forbidding: Json) -> None:
    fragment = message(text(), forbidding)
    replies = [caller.chat(fragment) for _ in range(2)]
    assert [reply.cached for reply in replies] == [0, 0]
    assert replies[1].status == [
        {
            "outcome": "bypass",
            "effective_share": "request",
            "retention": "forbidden",
            "constraint_result": "satisfied",
        }
    ]


def test_forbid_reaches_everything_after_it_and_nothing_before(caller: Caller) -> None:
    fragments = [message(text(), intent()), message(text(), intent(mode="forbid")), message(text(), intent())]
    caller.chat(*fragments)
    again = caller.chat(*fragments)
    assert again.each("outcome") == ["exact_hit", "bypass", "bypass"]
    assert again.each("retention") == ["retained", "forbidden", "forbidden"]


@pytest.mark.parametrize("forbidding", [intent(mode="forbid"), intent(max_age=0), intent("request")])
def test_warm_state_is_not_read_under_a_policy_that_retains_nothing(caller: Caller, forbidding: Json) -> None:
    words = text()
    caller.chat(message(words, intent()))
    assert caller.chat(message(words, forbidding)).cached == 0
    assert caller.chat(message(words, intent())).cached > 0


def test_reuse_none_computes_afresh_and_warms(caller: Caller) -> None:
    words = text()
    caller.chat(message(words, intent()))
    warming = caller.chat(message(words, intent(reuse="none")))
    assert warming.cached == 0
    assert warming.status == [
        {
            "outcome": "bypass",
            "effective_share": "tenant",
            "retention": "retained",
            "constraint_result": "satisfied",
        }
    ]
    assert caller.chat(message(words, intent())).status[0]["outcome"] == "exact_hit"


def test_before_a_fragment_that_needs_fresh_computation_state_is_still_read(caller: Caller) -> None:
    fragments = [message(text(), intent()), message(text(), intent(reuse="none"))]
    caller.chat(*fragments)
    assert caller.chat(*fragments).each("outcome") == ["exact_hit", "bypass"]


def test_approximate_is_served_as_exact(caller: Caller) -> None:
    fragment = message(text(), intent(reuse="approximate"))
    assert [caller.chat(fragment).status[0]["outcome"] for _ in range(2)] == ["miss", "exact_hit"]


def test_request_scope_is_bypassed_and_declined(caller: Caller) -> None:
    entry = caller.chat(message(text(), intent("request"))).status[0]
    assert (entry["outcome"], entry["effective_share"], entry["retention"]) == (
        "bypass",
        "request",
        "declined",
    )


def test_only_fragments_with_an_effective_policy_have_an_entry(caller: Caller) -> None:
    reply = caller.chat(
        message("a"), message("b", intent(id="b")), message("c"), message("d", intent(id="d"))
    )
    assert [entry.get("id") for entry in reply.status] == ["b", None, "d"]


@pytest.mark.parametrize(
    ("seconds", "report"), [(0, "accepted"), (3600, "accepted"), (3601, "clipped"), (-1, "ignored")]
)
def test_a_hint_is_reported_where_it_was_given(caller: Caller, seconds: int, report: str) -> None:
    hinted = intent(hints={"reuse_within": seconds, "unknown": 1})
    first, second = caller.chat(message(text(), hinted), message("go")).status
    assert first["hints"] == {"reuse_within": report}
    assert "hints" not in second


@pytest.mark.parametrize(("seconds", "report"), [(60, "ignored"), (3601, "clipped")])
def test_a_hint_without_effect_is_not_accepted(caller: Caller, seconds: int, report: str) -> None:
    hinted = intent(mode="forbid", hints={"reuse_within": seconds})
    assert caller.chat(message(text(), hinted)).status[0]["hints"] == {"reuse_within": report}


def test_a_fragment_shorter_than_a_block_is_a_miss_and_nothing_of_it_is_retained(caller: Caller) -> None:
    for _ in range(2):
        entry = caller.chat(message("hi", intent())).status[0]
        assert (entry["outcome"], entry["retention"]) == ("miss", "declined")


def test_a_fragment_reused_in_part_is_a_miss(caller: Caller) -> None:
    words = text()
    caller.chat(
        message(words + " one way to go on that is longer than any single block of this cache is", intent())
    )
    other = caller.chat(
        message(words + " another way on, which is longer than a single block of the cache too", intent())
    )
    assert other.cached > 0
    assert other.status[0]["outcome"] == "miss"


def test_a_fragment_is_a_hit_whatever_follows_it(caller: Caller) -> None:
    prefix = message(text(), intent())
    caller.chat(prefix, message(text()))
    assert caller.chat(prefix, message(text())).each("outcome") == ["exact_hit", "miss"]


def test_a_new_message_is_no_hit_for_the_words_of_the_template(caller: Caller) -> None:
    for length in range(64):  # so that messages start at every place in a block
        prefix = message(text(40) + "x" * length, intent())
        caller.chat(prefix, message("a first question"))
        assert caller.chat(prefix, message("Who else is here?")).status[1]["outcome"] == "miss"


def test_a_hit_in_another_partition_is_not_told(caller_as: As) -> None:
    fragment = message(text(), intent("principal"))
    caller_as(MONDAY).chat(fragment)
    for token in (BOB, NAMESAKE):
        assert caller_as(token).chat(fragment).status[0]["outcome"] == "miss"


def test_what_does_not_fit_is_declined() -> None:
    with running("--capacity-blocks", "4") as (url, _):
        caller = Caller(url)
        words, hints = text(), {"reuse_within": 3600}
        fragments = [message(words[:300], intent(hints=hints)), message(words[300:], intent(hints=hints))]
        assert caller.chat(*fragments).each("retention") == ["retained", "declined"]
        again = caller.chat(*fragments)
        assert again.cached == 4 * 16


def test_the_flag_decides_what_the_capabilities_promise() -> None:
    import requests

    with running("--on-unenforceable", "reject", "--reuse-within-max", "5", "--block-size", "4") as (url, _):
        body = requests.get(f"{url}/v1/cache_intent_capabilities", timeout=30).json()
        capabilities = body["cache_intent_capabilities"]
        assert capabilities["on_unenforceable"] == "reject"
        assert capabilities["hints"] == {"reuse_within_max": 5}
        fragment = message(text(), intent(hints={"reuse_within": 6}))
        assert Caller(url).chat(fragment).status[0]["hints"] == {"reuse_within": "clipped"}
        assert Caller(url).chat(fragment).status[0]["outcome"] == "exact_hit"
