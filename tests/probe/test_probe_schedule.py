import time
from collections.abc import Generator

import pytest

from cctest.probe.schedule import run_overlapped


def task(name: str, wait: float, log: list[str]) -> Generator[float, None, str]:
    log.append(f"{name} begins")
    yield time.monotonic() + wait
    log.append(f"{name} ends")
    return name


def test_a_waiting_task_leaves_its_worker_to_others() -> None:
    log: list[str] = []
    results = list(run_overlapped([task("slow", 0.2, log), task("quick", 0.0, log)], jobs=1))
    assert results == ["quick", "slow"]
    assert log == ["slow begins", "quick begins", "quick ends", "slow ends"]


def test_whoever_may_go_on_does_before_another_one_begins() -> None:
    log: list[str] = []
    assert list(run_overlapped([task(name, 0.0, log) for name in "abc"], jobs=1)) == ["a", "b", "c"]
    assert log == ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]


def test_a_task_goes_on_no_earlier_than_it_asked() -> None:
    def patient() -> Generator[float, None, bool]:
        until = time.monotonic() + 0.05
        yield until
        return time.monotonic() >= until

    assert list(run_overlapped([patient() for _ in range(5)], jobs=2)) == [True] * 5


def test_many_waits_overlap_whatever_the_number_of_workers() -> None:
    began = time.monotonic()
    list(run_overlapped([task(str(number), 0.3, []) for number in range(40)], jobs=2))
    assert time.monotonic() - began < 40 * 0.3 / 2


def test_an_error_in_a_task_is_raised_where_the_results_are_read() -> None:
    def broken() -> Generator[float, None, None]:
        yield 0.0
        raise LookupError("our own fault")

    with pytest.raises(LookupError, match="our own fault"):
        list(run_overlapped([broken()], jobs=2))


def test_nothing_to_do_is_done_at_once() -> None:
    assert list(run_overlapped([], jobs=3)) == []
