"""How fast, and with how many exchanges at a time, a target is asked."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """Limits on what is sent; None is no limit.

    `requests_per_second` spaces the beginnings of exchanges evenly: there are no bursts. `concurrency` is the
    most exchanges under way.
    """

    requests_per_second: float | None = None
    concurrency: int | None = None


class Limiter:
    """Keeps a rate. One limiter stands for one target, whatever number of threads ask it."""

    def __init__(
        self,
        rate: Rate,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval = 1 / rate.requests_per_second if rate.requests_per_second else 0.0
        self._slots = threading.Semaphore(rate.concurrency) if rate.concurrency else None
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next = clock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for one's turn, and hold it for one exchange."""
        if self._slots is None:
            self._pace()
            yield
            return
        with self._slots:
            self._pace()
            yield

    def _pace(self) -> None:
        if not self._interval:
            return
        with self._lock:
            now = self._clock()
            turn = max(now, self._next)
            self._next = turn + self._interval
        if turn > now:
            self._sleep(turn - now)
