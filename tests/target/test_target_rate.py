import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from local_server import Behaviour, LocalServer, Visit

from cctest.target.exchange import Request, Target
from cctest.target.rate import Limiter, Rate

Serve = Callable[[Behaviour], LocalServer]
ASK = Request("GET", "/v1/models")


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def turns(limiter: Limiter, clock: Clock, count: int, each: float = 0.0) -> list[float]:
    begun = []
    for _ in range(count):
        with limiter.turn():
            begun.append(clock.now)
            clock.sleep(each)
    return begun


def test_beginnings_are_spaced_evenly() -> None:
    clock = Clock()
    limiter = Limiter(Rate(requests_per_second=4), clock.read, clock.sleep)
    assert turns(limiter, clock, 4) == [0.0, 0.25, 0.5, 0.75]


def test_what_was_not_used_is_not_saved_up_for_a_burst() -> None:
    clock = Clock()
    limiter = Limiter(Rate(requests_per_second=4), clock.read, clock.sleep)
    clock.sleep(10)
    assert turns(limiter, clock, 3) == [10.0, 10.25, 10.5]


def test_a_slow_target_is_not_waited_for_twice() -> None:
    clock = Clock()
    limiter = Limiter(Rate(requests_per_second=4), clock.read, clock.sleep)
    assert turns(limiter, clock, 3, each=1.0) == [0.0, 1.0, 2.0]


def test_without_limits_nothing_is_waited_for() -> None:
    clock = Clock()
    assert turns(Limiter(Rate(), clock.read, clock.sleep), clock, 3) == [0.0, 0.0, 0.0]


def test_threads_share_one_rate_and_one_bound(serve: Serve) -> None:
    lock = threading.Lock()
    under_way: list[int] = [0, 0]
    begun: list[float] = []

    def busy(visit: Visit) -> None:
        with lock:
            begun.append(time.monotonic())
            under_way[0] += 1
            under_way[1] = max(under_way)
        time.sleep(0.1)
        with lock:
            under_way[0] -= 1
        visit.respond(b"{}")

    with (
        Target(serve(busy).url, rate=Rate(requests_per_second=25, concurrency=2)) as target,
        ThreadPoolExecutor(8) as pool,
    ):
        assert [done.status for done in pool.map(target.send, [ASK] * 8)] == [200] * 8
    assert under_way[1] == 2
    assert max(begun) - min(begun) > 7 * 0.04 * 0.8


def test_waiting_for_a_turn_is_not_counted_against_the_deadline(serve: Serve) -> None:
    server = serve(lambda visit: visit.respond(b"{}"))
    with (
        Target(server.url, deadline=0.3, rate=Rate(requests_per_second=2)) as target,
        ThreadPoolExecutor(2) as pool,
    ):
        assert [done.status for done in pool.map(target.send, [ASK] * 2)] == [200, 200]
