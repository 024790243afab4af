"""Credentials that expire: at their instant, and for good."""

from datetime import UTC, datetime, timedelta

import pytest

from cctest.contract.sharing import Context
from reference_gateway.callers.credentials import Credential, Credentials
from reference_gateway.callers.expiry import ExpiryClock
from reference_gateway.callers.token_hash import hash_token
from reference_gateway.refusal import RefusalError

START = 1_800_000_000.0
HOUR = 3600.0


class Clocks:
    """A wall clock that can be set, and a monotonic one that only runs."""

    def __init__(self) -> None:
        self.wall = START
        self.monotonic = 50.0

    def run(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def clock(clocks: Clocks) -> ExpiryClock:
    return ExpiryClock(lambda: clocks.wall, lambda: clocks.monotonic)


def expiring(clock: ExpiryClock, instant: float) -> Credentials:
    return Credentials([Credential(hash_token("t", b"salt"), Context("a", "b"), expires=instant)], clock)


def accepted(credentials: Credentials) -> bool:
    try:
        credentials.identify(["Bearer t"])
    except RefusalError as error:
        return (error.status, error.message) != (401, "the token has expired")
    return True


def test_a_credential_counts_until_its_instant(clocks: Clocks, clock: ExpiryClock) -> None:
    credentials = expiring(clock, START + 10)
    clocks.run(9.9)
    assert accepted(credentials)
    clocks.run(0.1)
    assert not accepted(credentials)


def test_a_clock_set_back_an_hour_brings_no_credential_back(clocks: Clocks, clock: ExpiryClock) -> None:
    credentials = expiring(clock, START + 10)
    clocks.run(11)
    assert not accepted(credentials)
    clocks.wall -= HOUR
    assert not accepted(credentials)


def test_a_clock_set_back_an_hour_lets_none_live_longer(clocks: Clocks, clock: ExpiryClock) -> None:
    credentials = expiring(clock, START + 10)
    assert accepted(credentials)
    clocks.wall -= HOUR
    clocks.run(9)
    assert accepted(credentials)
    clocks.run(2)
    assert not accepted(credentials)


def test_a_clock_set_forward_counts_at_once(clocks: Clocks, clock: ExpiryClock) -> None:
    credentials = expiring(clock, START + 10)
    clocks.wall += HOUR
    assert not accepted(credentials)


def test_after_a_clock_was_ahead_the_operator_can_start_afresh(clocks: Clocks, clock: ExpiryClock) -> None:
    credentials = expiring(clock, START + 10)
    clocks.wall += HOUR
    assert not accepted(credentials)
    clocks.wall -= HOUR
    assert not accepted(credentials)
    clock.start_afresh()
    assert accepted(credentials)


def test_an_hour_asleep_counts(clocks: Clocks, clock: ExpiryClock) -> None:
    clocks.wall += HOUR  # the monotonic clock may stand still meanwhile
    assert datetime.fromtimestamp(clock.now(), UTC) == datetime.fromtimestamp(START, UTC) + timedelta(hours=1)
