"""An engine with one pool for everybody: state is found by input alone, and every read is checked (POL-2).

Done rightly it conforms, and lets a narrower request read what was retained more widely (READ-12). Faults
come from what the check leaves out.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias

from cctest.contract.sharing import Context, intersect, lies_within
from cctest.engine.blocks import Block, Partition
from cctest.engine.cache import SECOND, Reused

from . import seams

Admission: TypeAlias = Callable[[Partition, Partition, int], bool]
"""Whether state recorded under the first partition may be read under the second, at a depth in blocks."""

_CALLER: ContextVar[Context | None] = ContextVar("caller", default=None)


def inside(recorded: Partition, reader: Partition, _: int) -> bool:
    """Admit a reader whose own boundary lies within the recorded one."""
    return recorded.boundary.contains(reader.boundary)


def within(recorded: Partition, reader: Partition, _: int) -> bool:
    """Admit a reader who lies within the recorded boundary, however wide its own request."""
    caller = _CALLER.get()
    return inside(recorded, reader, 0) or (
        caller is not None and lies_within(caller, "this request", recorded.boundary)
    )


def install(admits: Admission, *, namespaces: bool, relabel: bool = False) -> None:
    """Put a pool in the engine's place. `namespaces` says whether the namespace is checked beside `admits`.

    With `relabel` what was read is retained again under the reader's own boundary.
    """

    def checked(recorded: Partition, reader: Partition, depth: int) -> bool:
        same = not namespaces or recorded.namespace_digest == reader.namespace_digest
        return same and admits(recorded, reader, depth)

    seams.MARKS.wrap(lambda _: _no_marks)
    seams.CACHE.wrap(lambda _: lambda capacity_blocks, clock: Pool(checked, relabel=relabel))
    seams.IDENTIFY.wrap(_remembering)


def _no_marks(segments: Any, ends: Any, touched: Any, start: Any) -> Iterator[tuple[int, bytes]]:
    """Leave partitions out of the identity of blocks."""
    return iter(())


def _remembering(original: Any) -> Any:
    def identify(self: Any, authorization: Sequence[str]) -> Context:
        caller: Context = original(self, authorization)
        _CALLER.set(caller)
        return caller

    return identify


@dataclass(slots=True)
class _Held:
    """One retained block under one partition; instants in nanoseconds."""

    partition: Partition
    materialized_at: int
    expires_at: int | None

    def live(self, own_bound: int | None, now: int) -> bool:
        """Whether neither the bound that it was retained under nor the reader's own has passed."""
        bounded = own_bound is None or now - self.materialized_at < own_bound * SECOND
        return bounded and (self.expires_at is None or now < self.expires_at)


class Pool:
    """Blocks by input, each under any number of partitions. It has room for all that a probe sends."""

    def __init__(self, admits: Admission, *, relabel: bool) -> None:
        self._admits = admits
        self._relabel = relabel
        self._held: dict[bytes, list[_Held]] = defaultdict(list)
        self._read: list[_Held] = []

    def lookup(self, blocks: Sequence[Block]) -> Reused:
        """Find how many leading blocks may be read."""
        now = time.monotonic_ns()
        self._read = []
        for block in blocks:
            held = self._find(block, now)
            if held is None:
                break
            self._read.append(held)
        ends = [held.expires_at for held in self._read if held.expires_at is not None]
        return Reused(len(self._read), now, min(ends, default=None))

    def publish(self, blocks: Sequence[Block], reused: Reused) -> int:
        """Retain what was computed, no wider than what it was computed from (POL-4)."""
        if self._relabel:
            for block, held in zip(blocks, self._read, strict=False):
                self._keep(block, _Held(block.terms.partition, held.materialized_at, held.expires_at))
        for block in blocks[reused.blocks :]:
            self._keep(block, self._computed(block, reused))
        return len(blocks)

    def _find(self, block: Block, now: int) -> _Held | None:
        terms = block.terms
        if not terms.may_read:
            return None
        candidates = (
            held
            for held in self._held[block.identity]
            if held.live(terms.max_age, now) and self._admits(held.partition, terms.partition, block.depth)
        )
        return next(candidates, None)

    def _computed(self, block: Block, reused: Reused) -> _Held:
        own = block.terms.partition
        boundary = own.boundary
        if self._read and not self._relabel:
            boundary = intersect(self._read[-1].partition.boundary, boundary) or boundary
        ends = [reused.expires_at]
        if block.terms.max_age is not None:
            ends.append(reused.at + block.terms.max_age * SECOND)
        expires_at = min((end for end in ends if end is not None), default=None)
        return _Held(Partition(boundary, own.namespace_digest), reused.at, expires_at)

    def _keep(self, block: Block, held: _Held) -> None:
        others = [one for one in self._held[block.identity] if one.partition != held.partition]
        self._held[block.identity] = [*others, held]
