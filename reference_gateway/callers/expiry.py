"""The instant by which credentials expire: wall-clock time that never goes back.

A clock that is set forward counts at once. One that is set back doesn't: from the latest instant that was
seen, time goes on by the monotonic clock, so that no credential comes alive again or lives longer. After the
clock was wrong and ahead, restart the gateway or send it SIGHUP: both start afresh from the wall clock.
"""

import time
from collections.abc import Callable


class ExpiryClock:
    """Gives seconds since the epoch, each time at least those that passed since it was last asked."""

    def __init__(
        self, wall: Callable[[], float] = time.time, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._ahead = wall() - monotonic()

    def now(self) -> float:
        """Give the time."""
        monotonic = self._monotonic()
        self._ahead = max(self._ahead, self._wall() - monotonic)
        return monotonic + self._ahead

    def start_afresh(self) -> None:
        """Trust the wall clock as it is now."""
        self._ahead = self._wall() - self._monotonic()
