"""A prefix cache of bounded size whose entries stop being readable when their time is over.

Time comes from a clock that is passed in: whole nanoseconds, monotonic (RET-7). The cache isn't locked;
a caller with several threads serialises `lookup` and `publish`.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

from cctest.contract.eligibility import eligible
from cctest.engine.blocks import Block, Partition

SECOND: Final = 1_000_000_000
"""Nanoseconds."""


@dataclass(frozen=True, slots=True)
class Reused:
    """What a lookup found.

    `blocks` leading blocks can be read. `at` is the instant of the lookup, `expires_at` the one at which the
    first of the read blocks expires (None: never), and `oldest` the one at which the oldest was materialised
    (None: nothing was read), all in nanoseconds of the cache's clock.
    """

    blocks: int
    at: int
    expires_at: int | None
    oldest: int | None = None


@dataclass(slots=True)
class _Entry:
    """One retained block, with the policy under which it was materialised (POL-1)."""

    partition: Partition
    materialized_at: int
    expires_at: int | None
    keep_until: int
    last_used: int
    depth: int
    serial: int

    def use(self, now: int, keep_for: int) -> None:
        """Record a use. It moves the entry in the order of eviction and leaves its bound alone (RET-4)."""
        self.last_used = now
        self.keep_until = max(self.keep_until, _keep_until(now, keep_for, self.expires_at))

    def order(self, identity: bytes) -> tuple[int, int, int, int, bytes]:
        """Sort key of eviction: first what nobody expects to use, then the least recent, then the deepest."""
        return (self.keep_until, self.last_used, -self.depth, self.serial, identity)


class BlockCache:
    """Blocks by identity, at most `capacity_blocks` of them.

    When there is one too many, that entry goes whose last use plus the time for which a hint asked to keep it
    lies furthest back. The memory bound always wins over a hint (HNT-2).
    """

    def __init__(self, capacity_blocks: int, clock: Callable[[], int]) -> None:
        if capacity_blocks < 0:
            raise ValueError(f"capacity_blocks must not be negative, got {capacity_blocks}")
        self._capacity = capacity_blocks
        self._clock = clock
        self._now = clock()
        self._entries: dict[bytes, _Entry] = {}
        # Holds every live entry once, under its order when it was last looked at. Orders only grow while
        # an entry lives, so a stale place is corrected when it comes up; that of a replaced entry is dropped.
        self._queue: list[tuple[int, int, int, int, bytes]] = []
        self._serials = count()

    def __len__(self) -> int:
        """Count the retained blocks."""
        return len(self._entries)

    def lookup(self, blocks: Sequence[Block]) -> Reused:
        """Find how many leading blocks can be read, and mark them used.

        A block is read only if its terms allow it, neither the bound it was retained under nor the reader's
        own has passed (RET-3), and the recorded partition is the reader's (POL-2). The first block that
        can't be read ends the prefix.
        """
        now = self._tick()
        expires_at: int | None = None
        oldest: int | None = None
        reused = 0
        for block in blocks:
            entry = self._readable(block, now)
            if entry is None:
                break
            entry.use(now, block.terms.keep_for)
            expires_at = _sooner(expires_at, entry.expires_at)
            oldest = _sooner(oldest, entry.materialized_at)
            reused += 1
        return Reused(reused, now, expires_at, oldest)

    def publish(self, blocks: Sequence[Block], reused: Reused) -> int:
        """Retain what was computed after a lookup of the same blocks; count the leading blocks now retained.

        Computed blocks replace what was there and start a new interval at the lookup's instant (RET-5). State
        computed from reused state expires no later than that state does.
        """
        for block in blocks[reused.blocks :]:
            if not block.terms.may_retain:
                break
            self._insert(block, reused)
            self._evict()
            if block.identity not in self._entries:
                break
        for retained, block in enumerate(blocks):
            if block.identity not in self._entries:
                return retained
        return len(blocks)

    def _tick(self) -> int:
        """Read the clock. Where it stepped back nobody knows how old anything is: all is dropped (RET-7)."""
        now = self._clock()
        if now < self._now:
            self._entries.clear()
        self._now = now
        return now

    def _readable(self, block: Block, now: int) -> _Entry | None:
        if not block.terms.may_read:
            return None
        entry = self._entries.get(block.identity)
        if entry is None or entry.partition != block.terms.partition:
            return None
        if entry.expires_at is not None and now >= entry.expires_at:
            del self._entries[block.identity]
            return None
        own_bound = None if block.terms.max_age is None else block.terms.max_age * SECOND
        return entry if eligible(entry.materialized_at, own_bound, now) else None

    def _insert(self, block: Block, reused: Reused) -> None:
        now, terms = reused.at, block.terms
        own_end = None if terms.max_age is None else now + terms.max_age * SECOND
        expires_at = _sooner(own_end, reused.expires_at)
        entry = _Entry(
            partition=terms.partition,
            materialized_at=now,
            expires_at=expires_at,
            keep_until=_keep_until(now, terms.keep_for, expires_at),
            last_used=now,
            depth=block.depth,
            serial=next(self._serials),
        )
        self._entries[block.identity] = entry
        heapq.heappush(self._queue, entry.order(block.identity))

    def _evict(self) -> None:
        while len(self._entries) > self._capacity:
            place = heapq.heappop(self._queue)
            identity = place[-1]
            entry = self._entries.get(identity)
            if entry is None or entry.serial != place[-2]:
                continue
            if entry.order(identity) == place:
                del self._entries[identity]
            else:
                heapq.heappush(self._queue, entry.order(identity))
        if len(self._queue) > 2 * len(self._entries) + 64:
            self._queue = [entry.order(identity) for identity, entry in self._entries.items()]
            heapq.heapify(self._queue)


def _sooner(a: int | None, b: int | None) -> int | None:
    if a is None or b is None:
        return b if a is None else a
    return min(a, b)


def _keep_until(now: int, keep_for: int, expires_at: int | None) -> int:
    """Say until when an entry is expected to be of use: never beyond its bound."""
    wanted = now + keep_for * SECOND
    return wanted if expires_at is None else min(wanted, expires_at)
