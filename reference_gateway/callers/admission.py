"""How many requests a principal may have under way, and how many it may begin in a second."""

import math
import time
from collections.abc import Callable
from typing import Final

from cctest.contract.sharing import Context
from reference_gateway.callers.limits import Limits
from reference_gateway.refusal import RefusalError

_TIDY_AT: Final = 10_000


class _Seat:
    """One principal's requests under way, and what it has left of its rate."""

    __slots__ = ("at", "left", "under_way")

    def __init__(self, left: float, at: float) -> None:
        self.under_way = 0
        self.left = left
        self.at = at

    def leave(self) -> None:
        self.under_way -= 1


class Admission:
    """Lets principals in. A principal is one *of a tenant*: namesakes don't share a seat."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._concurrency = limits.concurrency
        self._rate = limits.rate
        self._burst = max(1.0, limits.rate or 0.0)
        self._clock = clock
        self._seats: dict[tuple[str, str], _Seat] = {}

    def enter(self, caller: Context) -> Callable[[], None]:
        """Let one request in, and give what is to be called when it is over. Raises RefusalError (429)."""
        who = (caller.tenant, caller.principal)
        seat = self._seats.get(who)
        if seat is None:
            self._tidy()
            seat = self._seats[who] = _Seat(self._burst, self._clock())
        if self._concurrency is not None and seat.under_way >= self._concurrency:
            message = f"{self._concurrency} requests of yours are under way; that is the most at once"
            raise RefusalError(429, "too_many_requests", message, retry_after="1")
        if self._rate is not None:
            self._spend(seat, self._rate)
        seat.under_way += 1
        return seat.leave

    def _spend(self, seat: _Seat, rate: float) -> None:
        now = self._clock()
        seat.left = min(self._burst, seat.left + (now - seat.at) * rate)
        seat.at = now
        if seat.left < 1.0:
            wait = math.ceil((1.0 - seat.left) / rate)
            message = f"you may begin {rate:g} requests a second"
            raise RefusalError(429, "rate_limited", message, retry_after=str(wait))
        seat.left -= 1.0

    def _tidy(self) -> None:
        """Forget principals who have nothing under way and their whole rate left, once there are many."""
        if len(self._seats) < _TIDY_AT:
            return
        now, rate = self._clock(), self._rate or math.inf
        for who, seat in list(self._seats.items()):
            if not seat.under_way and seat.left + (now - seat.at) * rate >= self._burst:
                del self._seats[who]
