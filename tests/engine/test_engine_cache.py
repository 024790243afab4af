"""The prefix cache: lifetimes, retention and eviction, by example."""

from dataclasses import replace

import pytest
from engine_driver import BLOCK, GLOBEX, Engine, segment

from cctest.engine.blocks import cut


def test_what_was_computed_is_read_the_next_time() -> None:
    engine = Engine()
    assert [engine.request(segment("abcd")) for _ in range(2)] == [0, 2]


def test_the_prefix_is_read_up_to_the_first_difference() -> None:
    engine = Engine()
    engine.request(segment("abcdef"))
    assert engine.request(segment("abcdXf")) == 2


def test_state_is_read_until_its_bound_and_not_at_it() -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=3))
    engine.clock.pass_seconds(3 - 1e-9)
    assert engine.request(segment("abcd")) == 2
    engine.clock.pass_seconds(1e-9)
    assert engine.request(segment("abcd")) == 0


def test_reads_do_not_restart_the_interval() -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=3))
    hits = []
    for _ in range(3):
        engine.clock.pass_seconds(1)
        hits.append(engine.request(segment("abcd", max_age=3)))
    assert hits == [2, 2, 0]


def test_recomputing_starts_a_new_interval() -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=3))
    engine.clock.pass_seconds(2)
    engine.request(segment("abcd", max_age=3, read=0))
    engine.clock.pass_seconds(2)
    assert engine.request(segment("abcd", max_age=3)) == 2


def test_a_reader_with_a_smaller_bound_reads_nothing_older() -> None:
    engine = Engine()
    engine.request(segment("abcd"))
    engine.clock.pass_seconds(5)
    assert engine.request(segment("abcd", max_age=6)) == 2
    assert engine.request(segment("abcd", max_age=5)) == 0


def test_state_computed_from_reused_state_expires_with_it() -> None:
    engine = Engine()
    engine.request(segment("ab", max_age=3))
    engine.clock.pass_seconds(2)
    engine.request(segment("abcd"))  # reads ab, computes cd, which is bound by what ab has left
    engine.clock.pass_seconds(1)
    engine.request(segment("ab", read=0))  # a new ab, with no bound
    assert engine.request(segment("abcd")) == 1


def test_state_that_may_not_be_read_may_still_be_retained() -> None:
    engine = Engine()
    assert [engine.request(segment("abcd", read=0)) for _ in range(2)] == [0, 0]
    assert engine.request(segment("abcd")) == 2


def test_state_that_may_not_be_retained_leaves_no_trace() -> None:
    engine = Engine()
    engine.request(segment("ab"), segment("cdef", read=0, retain=0))
    assert len(engine.cache) == 1
    assert engine.request(segment("abcdef")) == 1


def test_a_bound_of_zero_is_never_met() -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=0))
    assert engine.request(segment("abcd")) == 0


@pytest.mark.parametrize("max_age", [2**53 + 1, 10**400])
def test_a_huge_bound_is_a_bound_like_any_other(max_age: int) -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=max_age, keep_for=max_age))
    engine.clock.pass_seconds(1e6)
    assert engine.request(segment("abcd", max_age=max_age)) == 2


def test_a_clock_that_steps_back_lengthens_no_bound() -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=3))
    engine.clock.pass_seconds(3)
    assert engine.request(segment("xy")) == 0
    engine.clock.pass_seconds(-2)
    assert engine.request(segment("abcd", max_age=3)) == 0


def test_a_recorded_partition_is_checked_even_if_an_identity_is_met() -> None:
    engine = Engine()
    engine.request(segment("ab"))
    (own,) = cut([segment("ab")], BLOCK)
    forged = replace(own, terms=replace(own.terms, partition=GLOBEX))
    assert engine.cache.lookup([forged]).blocks == 0
    assert engine.cache.lookup([own]).blocks == 1


def test_the_least_recently_used_goes_first() -> None:
    engine = Engine(capacity=2)
    engine.request(segment("aa"))
    engine.clock.pass_seconds(1)
    engine.request(segment("bb"))
    engine.clock.pass_seconds(1)
    engine.request(segment("aa"))
    engine.clock.pass_seconds(1)
    engine.request(segment("cc"))
    assert engine.request(segment("aa")) == 1
    assert engine.request(segment("bb")) == 0


def test_a_hint_keeps_state_from_being_evicted_before_its_time() -> None:
    engine = Engine(capacity=2)
    engine.request(segment("aa", keep_for=60))
    for text in ("bb", "cc", "dd"):
        engine.clock.pass_seconds(1)
        engine.request(segment(text))
    assert engine.request(segment("aa")) == 1
    engine.clock.pass_seconds(61)
    for text in ("ee", "ff"):
        engine.clock.pass_seconds(1)
        engine.request(segment(text, keep_for=2))
    assert engine.request(segment("aa")) == 0


def test_a_hint_keeps_nothing_beyond_its_bound() -> None:
    engine = Engine(capacity=1)
    engine.request(segment("aa", max_age=1, keep_for=60))
    engine.clock.pass_seconds(2)
    assert engine.retained(segment("bb")) == 1


def test_of_one_request_the_deepest_blocks_go_first() -> None:
    engine = Engine(capacity=3)
    assert engine.retained(segment("aabbccddee")) == 3
    assert engine.request(segment("aabbccddee")) == 3


def test_a_cache_of_no_blocks_retains_nothing() -> None:
    engine = Engine(capacity=0)
    assert engine.retained(segment("abcd", keep_for=60)) == 0
    assert engine.request(segment("abcd")) == 0


def test_a_negative_capacity_is_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        Engine(capacity=-1)


def test_replacing_one_entry_over_and_over_takes_no_more_room() -> None:
    engine = Engine(capacity=4)
    for _ in range(1000):
        engine.request(segment("abcd", read=0))
    assert len(engine.cache) == 2
    assert len(engine.cache._queue) < 100
