"""A block-hashed prefix cache with vLLM's semantics: salts are in the hashes of blocks, and blocks chain.

A salt is in the hash of the block in which its region begins, and so, through the chain, in all later ones. A
request in one partition has one region, from its first token on.

It shares no code with `cctest.engine`, which our own gateway uses: a fault in one of them then shows.
"""

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from cctest.instrument.regions import Region

_NEVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A block of an input: its hash, and for how many seconds after it was computed it may be read."""

    hash: bytes
    max_age: float


@dataclass(frozen=True, slots=True)
class _Block:
    """When a block was computed, and the instant from which nobody may read it any more."""

    computed: float
    until: float


class PrefixCache:
    """Blocks of `block_size` tokens, at most `capacity_blocks`; the least recently used goes first.

    Of blocks that were used together the deepest goes first. `clock` gives monotonic seconds. Safe to use
    from several threads.
    """

    def __init__(
        self, block_size: int, capacity_blocks: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._block_size = block_size
        self._capacity = capacity_blocks
        self._clock = clock
        self._blocks: OrderedDict[bytes, _Block] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Count the retained blocks."""
        return len(self._blocks)

    def serve(
        self,
        tokens: Sequence[bytes],
        regions: Sequence[Region] = (),
        identity: bytes = b"",
        *,
        look_up: bool = True,
        retain: bool = True,
    ) -> int:
        """Compute the state of an input, and give how many of its tokens were reused.

        That is a multiple of the block size and never the whole input: its last token is always computed.
        All full blocks are retained afterwards, unless `retain` is false. Tokens have up to 255 bytes;
        without `regions` the input is in the partition that all share; `identity` stands for the execution
        identity. Without `look_up` all is computed.

        A block is read within the bound under which it was computed and that of its reader; none outlives
        what it was computed from. A block that regions share has the tighter bound of them.
        """
        wanted = list(self._wanted(tokens, regions, identity))
        most = max(len(tokens) - 1, 0) // self._block_size if look_up else 0
        with self._lock:
            now = self._clock()
            reused = self._readable(wanted[:most], now)
            if retain:
                self._retain(wanted, reused, now)
            for block in reversed(wanted if retain else wanted[:reused]):
                self._blocks.move_to_end(block.hash)
            while len(self._blocks) > self._capacity:
                self._blocks.popitem(last=False)
        return reused * self._block_size

    def _readable(self, wanted: Sequence[_Wanted], now: float) -> int:
        """Count the blocks, from the first on, that may be read."""
        for count, one in enumerate(wanted):
            block = self._blocks.get(one.hash)
            if block is None or now >= min(block.until, block.computed + one.max_age):
                return count
        return len(wanted)

    def _retain(self, wanted: Sequence[_Wanted], reused: int, now: float) -> None:
        """Take in all blocks behind those that were reused, as computed now."""
        until = min((self._blocks[one.hash].until for one in wanted[:reused]), default=_NEVER)
        for one in wanted[reused:]:
            until = min(until, now + one.max_age)
            self._blocks[one.hash] = _Block(now, until)

    def _wanted(
        self, tokens: Sequence[bytes], regions: Sequence[Region], identity: bytes
    ) -> Iterator[_Wanted]:
        ends = [(one, after.start) for one, after in pairwise(regions)]
        ends += [(one, len(tokens)) for one in regions[-1:]]
        parent = hashlib.sha256(identity).digest()
        size = self._block_size
        for start in range(0, len(tokens) - size + 1, size):
            block = tokens[start : start + size]
            within = [one for one, end in ends if one.start < start + size and start < end]
            salts = b"".join(_spelt(one, start) for one in within if one.start >= start)
            lengths = len(salts).to_bytes(4, "big") + bytes(map(len, block))
            parent = hashlib.sha256(b"".join((parent, lengths, salts, *block))).digest()
            yield _Wanted(parent, min(map(_max_age, within), default=_NEVER))


def _spelt(region: Region, start: int) -> bytes:
    """Spell out a region that begins in the block from token `start` on: where in it, and its salt."""
    salt = region.salt.encode("utf-8", "surrogatepass")
    return b"%d:%d:%b" % (region.start - start, len(salt), salt)


def _max_age(region: Region) -> float:
    return _NEVER if region.max_age_ms is None else region.max_age_ms / 1000
