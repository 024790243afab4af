from collections.abc import Callable

import pytest
from local_server import Behaviour, LocalServer, Visit, closed_port, silent

from cctest.probe.readiness import wait_until_ready
from cctest.problem import TargetProblem
from cctest.target.exchange import Target

Serve = Callable[[Behaviour], LocalServer]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def wait(url: str, seconds: float, clock: Clock, deadline: float = 5) -> None:
    with Target(url, deadline=deadline) as target:
        wait_until_ready(target, None, seconds, clock.read, clock.sleep)


def in_turn(*statuses: str) -> Behaviour:
    left = iter(statuses)
    return lambda visit: visit.respond(b"", status=next(left, "200 OK"))


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found", "401 Unauthorized"])
def test_anything_below_500_is_ready(serve: Serve, status: str) -> None:
    clock, server = Clock(), serve(in_turn(status))
    wait(server.url, 10, clock)
    assert (clock.now, len(server.requests)) == (0.0, 1)


def test_a_model_list_is_as_good_as_the_capabilities(serve: Serve) -> None:
    def behaviour(visit: Visit) -> None:
        visit.respond(b"{}", status="200 OK" if b"/v1/models" in visit.head else "503 Service Unavailable")

    clock = Clock()
    wait(serve(behaviour).url, 10, clock)
    assert clock.now == 0.0


def test_a_server_that_comes_up_is_waited_for(serve: Serve) -> None:
    clock = Clock()
    wait(serve(in_turn(*["503 Not Yet"] * 5)).url, 10, clock)
    assert 0 < clock.now < 5


def test_the_last_trouble_is_told_when_time_is_up(serve: Serve) -> None:
    clock = Clock()
    with pytest.raises(TargetProblem, match=r"wasn't ready within 3 s: HTTP 502") as caught:
        wait(serve(in_turn(*["502 Bad Gateway"] * 100)).url, 3, clock)
    assert caught.value.exit == 4
    with pytest.raises(TargetProblem, match="refuses connections"):
        wait(f"http://127.0.0.1:{closed_port()}", 3, clock)


def test_a_server_that_never_answers_is_given_up(serve: Serve) -> None:
    with pytest.raises(TargetProblem, match="no complete answer"):
        wait(serve(silent).url, 0.2, Clock(), deadline=0.2)
