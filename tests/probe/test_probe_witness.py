import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.source import JsonValue
from cctest.probe.case import Place, Role, Step
from cctest.probe.observation import Observation, entry_of, governed_candidates, span
from cctest.probe.prompt import BuiltFragment, BuiltRequest
from cctest.probe.witness import Reuse, by_engine, by_status, by_usage, rests_on_word
from cctest.target.chat import ChatResult
from cctest.target.chat import Place as StatusPlace
from cctest.target.exchange import Request

SILENT = BuiltFragment("silent", Place.SYSTEM, 300, governed=False)
SPOKEN = BuiltFragment("spoken", Place.USER, 600, governed=True)
QUESTION = BuiltFragment("question", Place.USER, 100, governed=False)
BUILT = BuiltRequest(b"{}", (SILENT, SPOKEN, QUESTION))


def seen(cached: int | None, status: JsonValue = None) -> Observation:
    chat = ChatResult(
        status=200,
        ok=True,
        content="",
        cache_status=status,
        status_place=StatusPlace.TOP_LEVEL,
        prompt_tokens=1000,
        cached_tokens=cached,
        error_code=None,
        error_message=None,
        problems=(),
    )
    return Observation(Step("ask", Role.SELF), BUILT, Request("POST", "/"), chat=chat)


def test_a_fragment_stands_where_its_bytes_stand() -> None:
    assert span(BUILT, "silent", 1000) == (0, 300)
    assert span(BUILT, "spoken", 1000) == (300, 900)


@pytest.mark.parametrize(
    ("cached", "reuse"),
    [
        (0, Reuse.UNSEEN),
        (300, Reuse.UNSEEN),
        (440, Reuse.UNSEEN),
        (460, Reuse.PARTLY),
        (600, Reuse.SEEN),
        (1000, Reuse.SEEN),
        (None, Reuse.UNKNOWN),
    ],
)
def test_counts_tell_how_much_of_a_fragment_was_reused(cached: int | None, reuse: Reuse) -> None:
    assert by_usage(seen(cached), "spoken")[0] is reuse


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_more_cached_tokens_never_mean_less_reuse(one: int, other: int) -> None:
    order = [Reuse.UNSEEN, Reuse.PARTLY, Reuse.SEEN]
    less, more = sorted((one, other))
    assert order.index(by_usage(seen(less), "spoken")[0]) <= order.index(by_usage(seen(more), "spoken")[0])


def test_without_a_record_the_engine_is_no_witness() -> None:
    assert by_engine(seen(1000), "spoken") == (Reuse.UNKNOWN, None)


def entry(outcome: str) -> dict[str, JsonValue]:
    return {"outcome": outcome, "constraint_result": "satisfied"}


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([entry("miss")], "miss"),
        ([entry("miss"), entry("bypass")], "miss"),
        ([entry("bypass"), entry("miss"), entry("bypass")], "miss"),
    ],
)
def test_entries_are_found_under_every_reading_of_who_is_governed(
    entries: list[JsonValue], expected: str
) -> None:
    found = entry_of(seen(None, entries), "spoken")
    assert found is not None
    assert found["outcome"] == expected


def test_entries_in_no_permitted_number_belong_to_nobody() -> None:
    assert entry_of(seen(None, [entry("miss")] * 4), "spoken") is None
    assert governed_candidates(BUILT.fragments) == {"own": [1], "effective": [1, 2], "every": [0, 1, 2]}


@pytest.mark.parametrize(
    ("outcome", "reuse"),
    [
        ("exact_hit", Reuse.SEEN),
        ("approximate_hit", Reuse.SEEN),
        ("miss", Reuse.UNSEEN),
        ("bypass", Reuse.UNSEEN),
        ("unobserved", Reuse.UNKNOWN),
        ("something", Reuse.UNKNOWN),
    ],
)
def test_the_status_is_a_witness_too(outcome: str, reuse: Reuse) -> None:
    assert by_status(seen(None, [entry(outcome)]), "spoken")[0] is reuse


@pytest.mark.parametrize(
    ("outcome", "cached", "reuse"),
    [
        ("exact_hit", 0, Reuse.SEEN),
        ("exact_hit", 16, Reuse.UNSEEN),
        ("exact_hit", 460, Reuse.PARTLY),
        ("exact_hit", 900, Reuse.SEEN),
        ("approximate_hit", 16, Reuse.SEEN),
    ],
)
def test_a_hit_tells_no_more_than_what_was_counted_beside_it(outcome: str, cached: int, reuse: Reuse) -> None:
    assert by_status(seen(cached, [entry(outcome)]), "spoken")[0] is reuse


@pytest.mark.parametrize(
    ("outcome", "cached", "rests"),
    [("exact_hit", None, True), ("exact_hit", 0, True), ("exact_hit", 900, False), ("miss", None, False)],
)
def test_a_hit_that_nothing_was_counted_for_is_a_word_alone(
    outcome: str, cached: int | None, rests: bool
) -> None:
    observation = seen(cached, [entry(outcome)])

    assert rests_on_word(by_status, observation, "spoken") == (("ask", "spoken") if rests else None)
    assert rests_on_word(by_usage, observation, "spoken") is None
