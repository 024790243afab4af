"""How old blocks are."""

import time

import pytest

from vllm_cache_regions.ages import BlockAges


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ages(clock: Clock) -> BlockAges:
    return BlockAges(clock)


def test_a_block_may_be_read_before_its_bound_and_not_at_it(ages: BlockAges, clock: Clock) -> None:
    ages.taken([1])
    ages.written(1, None, 5.0)
    clock.now = 1004.999
    assert ages.may_be_read(1, None)
    clock.now = 1005.0
    assert not ages.may_be_read(1, None)


def test_age_counts_from_when_the_block_was_taken_not_from_when_it_was_full(
    ages: BlockAges, clock: Clock
) -> None:
    ages.taken([1])
    clock.now = 1004.0
    ages.written(1, None, 5.0)
    clock.now = 1005.0
    assert not ages.may_be_read(1, None)


def test_a_bound_of_0_permits_no_read_at_all(ages: BlockAges) -> None:
    ages.taken([1, 2])
    ages.written(1, None, 0.0)
    assert not ages.may_be_read(1, None)
    assert not ages.may_be_read(2, 0.0)


def test_the_readers_own_bound_holds_as_well(ages: BlockAges, clock: Clock) -> None:
    ages.taken([1])
    ages.written(1, None, 60.0)
    clock.now = 1005.0
    assert ages.may_be_read(1, 6.0)
    assert not ages.may_be_read(1, 5.0)


def test_what_was_computed_from_a_block_expires_with_it(ages: BlockAges, clock: Clock) -> None:
    ages.taken([1])
    ages.written(1, None, 5.0)
    clock.now = 1004.0
    ages.taken([2, 3])
    ages.written(2, 1, None)
    ages.written(3, 2, 60.0)
    clock.now = 1005.0
    assert not ages.may_be_read(2, None)
    assert not ages.may_be_read(3, None)


def test_a_bound_is_never_loosened(ages: BlockAges, clock: Clock) -> None:
    ages.taken([1])
    ages.written(1, None, 5.0)
    ages.written(1, None, 60.0)
    clock.now = 1005.0
    assert not ages.may_be_read(1, None)


def test_moving_does_not_make_younger(ages: BlockAges, clock: Clock) -> None:
    ages.taken([1])
    ages.written(1, None, 5.0)
    clock.now = 1004.0
    ages.taken([2])
    ages.moved(1, 2)
    assert not ages.may_be_read(2, 4.0)
    clock.now = 1005.0
    assert not ages.may_be_read(2, None)


def test_a_block_taken_anew_has_lost_its_former_bound(ages: BlockAges, clock: Clock) -> None:
    ages.taken([1])
    ages.written(1, None, 5.0)
    clock.now = 1005.0
    ages.taken([1])
    assert ages.may_be_read(1, 1.0)
    assert not ages.any_expire


def test_a_block_of_unknown_age_is_not_for_readers_with_a_bound(ages: BlockAges) -> None:
    assert ages.may_be_read(1, None)
    assert not ages.may_be_read(1, 3600.0)
    ages.written(1, None, 3600.0)
    assert not ages.may_be_read(1, None)


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="no clock here counts sleep")
def test_a_block_grows_older_while_the_machine_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    now = {time.CLOCK_BOOTTIME: 1000.0, time.CLOCK_MONOTONIC: 10.0}
    monkeypatch.setattr(time, "clock_gettime", now.__getitem__)
    monkeypatch.setattr(time, "monotonic", lambda: now[time.CLOCK_MONOTONIC])
    ages = BlockAges()
    ages.taken([1])
    now[time.CLOCK_BOOTTIME] += 5
    assert not ages.may_be_read(1, 5.0)
