"""Bounds on age for an engine that knows none (RET-3), by letting state become unaddressable in time.

The argument
------------
State is found under its salt and nowhere else. Under a bound of `max_age` seconds a salt is random: it is a
*generation*, born at the instant `b` at which the first request takes it. Nothing was computed under it
before `b`, so all state under it was materialised at some instant `m >= b` (RET-4).

An engine looks state up whenever it schedules a request: at once, after a time in its queue, and again after
a preemption, as long as the request lives. So the instant at which a salt is chosen bounds nothing; the end
of the request's life does. The gateway ends it: `deadline` seconds after it took the salt at the instant `t`
it calls the request off, whatever state that is in, and the engine has forgotten it at
`t + deadline + margin`.

A generation is given out only while `t + deadline + margin < b + max_age`. So every look-up under it happens
before `b + max_age <= m + max_age`: nothing is ever read once its bound has passed. A later request is given
another generation, under which there is nothing yet. A read restarts nothing, as `b` never moves (RET-4).

Where `max_age <= deadline + margin` there is no such instant `t`: nothing is retained then, which is always
permitted (RET-2). Where the gateway forgets a generation early, for want of memory or because it was started
anew, state is lost and no bound is stretched. Replicas draw their own and share none.

What it rests on
----------------
- `margin` covers what lies between the deadline and the end of the request in the engine: the event loop's
  lag, the closed connection being noticed, and the engine finishing the step that it is in. A gateway that is
  stopped for longer, as a virtual machine may be, keeps no deadline while it is; nor does an engine notice
  in time that a request was called off while its server is stopped for longer. What was read too late then
  goes no further than the engine: an answer that comes after the deadline is passed on to nobody.
- The clock counts the seconds that pass, those in which the machine sleeps included. It is monotonic; if it
  is seen to step back all the same, nobody knows how much time has passed, and every generation is forgotten.
  One that steps forward ends them early.
- The bound is part of what a generation is for. Readers under another bound have another generation, so the
  reader's own bound holds as well as the writer's (READ-16).
"""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final

SECOND: Final = 1_000_000_000
"""Nanoseconds."""
CAPACITY: Final = 65_536
"""Generations remembered."""
MARGIN: Final = 5.0
"""Seconds for the end of a request to take effect in the engine, unless the operator says otherwise."""

_BOOT_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", None)


def elapsed_ns() -> int:
    """Give nanoseconds of a monotonic clock, one that counts sleep where the system has such a clock."""
    if _BOOT_CLOCK is None:
        return time.monotonic_ns()
    return time.clock_gettime_ns(_BOOT_CLOCK)


@dataclass(frozen=True, slots=True)
class _Generation:
    """A random salt, and the last instant (exclusive) at which a request may take it."""

    salt: str
    closes_at: int


class Generations:
    """The living generations, one for each key and bound.

    `deadline` is the most seconds that the gateway lets a request live after it took a salt, `margin` the
    seconds in which calling it off takes effect. `clock` gives nanoseconds.
    """

    def __init__(
        self,
        deadline: float,
        *,
        margin: float = MARGIN,
        capacity: int = CAPACITY,
        clock: Callable[[], int] = elapsed_ns,
    ) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self._life = round((deadline + margin) * SECOND)
        self._capacity = capacity
        self._clock = clock
        self._latest = clock()
        # In the order of birth; whoever is forgotten for want of room is among the oldest.
        self._living: OrderedDict[tuple[Hashable, int], _Generation] = OrderedDict()

    def __len__(self) -> int:
        """Count the generations that are remembered."""
        return len(self._living)

    def salt(self, key: Hashable, max_age: int) -> str | None:
        """Give the salt for state of `key` under a bound of `max_age` seconds, from this instant on.

        None where the bound is too small for anything to be retained under it.
        """
        open_for = max_age * SECOND - self._life
        if open_for <= 0:
            return None
        now = self._now()
        place = (key, max_age)
        living = self._living.get(place)
        if living is not None and now < living.closes_at:
            return living.salt
        born = _Generation(secrets.token_hex(32), now + open_for)
        self._living.pop(place, None)
        self._living[place] = born
        while len(self._living) > self._capacity:
            self._living.popitem(last=False)
        return born.salt

    def _now(self) -> int:
        now = self._clock()
        if now < self._latest:
            self._living.clear()
        self._latest = now
        return now
