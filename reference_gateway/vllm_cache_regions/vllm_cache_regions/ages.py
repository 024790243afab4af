"""How old blocks are, by the one clock of the engine that computed them.

A block is as old as the time since it was taken into use, which is before its first token was computed.
Reading it, moving it and computing it again under another block change nothing about that. Two bounds hold:
the one under which it was written, and the reader's own. What was computed from a block that expires, expires
with it at the latest: only so can a chain of reuses not outlive what it began with.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

_NEVER: Final = float("-inf")
"""The age of what was never seen being taken into use."""
_BOOT_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", None)


def elapsed() -> float:
    """Give seconds of a monotonic clock, one that counts the machine's sleep where there is such a clock."""
    return time.monotonic() if _BOOT_CLOCK is None else time.clock_gettime(_BOOT_CLOCK)


@dataclass(slots=True)
class BlockAges:
    """When each block of a pool was taken into use, and when it expires; seconds of a monotonic clock.

    A block of which nothing is known is as good as expired for whoever has a bound.
    """

    clock: Callable[[], float] = elapsed
    _since: dict[int, float] = field(default_factory=dict)
    _until: dict[int, float] = field(default_factory=dict)

    @property
    def any_expire(self) -> bool:
        """Whether any block has a bound at all."""
        return bool(self._until)

    def taken(self, blocks: Iterable[int]) -> None:
        """Note that blocks are taken into use, their former content gone."""
        now = self.clock()
        for block in blocks:
            self._since[block] = now
            self._until.pop(block, None)

    def written(self, block: int, before: int | None, max_age: float | None) -> None:
        """Note the bound, in seconds, of a block that is written, and the block `before` it."""
        ends = [] if max_age is None else [self._since.get(block, _NEVER) + max_age]
        if before in self._until:
            ends.append(self._until[before])
        if block in self._until:
            ends.append(self._until[block])
        if ends:
            self._until[block] = min(ends)

    def moved(self, source: int, target: int) -> None:
        """Note that the content of a block now stands in another one too."""
        self._since[target] = min(self._since.get(source, _NEVER), self._since.get(target, _NEVER))
        self.written(target, source, None)

    def may_be_read(self, block: int, max_age: float | None) -> bool:
        """Tell whether a reader with a bound of its own, in seconds, may have a block now."""
        now = self.clock()
        until = self._until.get(block)
        if until is not None and now >= until:
            return False
        if max_age is None:
            return True
        since = self._since.get(block)
        return since is not None and now < since + max_age
