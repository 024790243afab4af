"""Cut a token sequence into full blocks, each with an identity that carries its whole prefix and partition.

A block's identity is a SHA-256 over its parent's identity, its tokens, and every partition that its tokens
lie in together with the place where that partition starts. Two blocks are therefore the same block only if
everything before them is the same too, and state of two partitions can never meet (POL-2, NS-1).
"""

import hashlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Final

from cctest.contract.sharing import Boundary

ROOT: Final = hashlib.sha256(b"").digest()
"""The parent of a first block, where the execution identity is the same for everybody."""


@dataclass(frozen=True)
class Partition:
    """Where state lives: the boundary of its readers, and its effective namespace digest (POL-1)."""

    boundary: Boundary
    namespace_digest: str | None

    @cached_property
    def key(self) -> bytes:
        """A 32-byte key, over an encoding that can't be read in two ways."""
        parts = [str(self.boundary.scope), *self.boundary.coordinates]
        digest = hashlib.sha256(b"n" if self.namespace_digest is None else b"d")
        for part in (*parts, self.namespace_digest or ""):
            encoded = part.encode()
            digest.update(b"%d:" % len(encoded))
            digest.update(encoded)
        return digest.digest()


@dataclass(frozen=True, slots=True)
class Terms:
    """What the effective policy allows for state that depends on a fragment.

    `max_age` and `keep_for` are seconds; `max_age` bounds reuse (None: no bound), `keep_for` only moves the
    state back in the order of eviction.

    They come from composed policies: along the segments of one input they only get stricter (CMP-8), and
    what may be read may also be retained.
    """

    partition: Partition
    may_read: bool
    may_retain: bool
    max_age: int | None = None
    keep_for: int = 0


@dataclass(frozen=True, slots=True)
class Segment:
    """The tokens of one fragment, each of 1 to 255 bytes, and the terms of the state after it."""

    tokens: Sequence[bytes]
    terms: Terms


@dataclass(frozen=True, slots=True)
class Block:
    """A full block: its identity, its place from the start of the input (0 is first), and its terms.

    The terms are those of the last fragment that the block touches: its state depends on that one and on
    all before it (CMP-1).
    """

    identity: bytes
    depth: int
    terms: Terms


def cut(segments: Sequence[Segment], block_size: int, root: bytes = ROOT) -> list[Block]:
    """Cut the segments' tokens into the leading full blocks that may be retained.

    `block_size` is in tokens; tokens that fill no block belong to none. `root` stands for the execution
    identity. The chain ends before the first block that may not be retained, since everything after it
    depends on it (RET-1): such state gets no identity at all, so nothing can be found under one.
    """
    tokens = [token for segment in segments for token in segment.tokens]
    ends = list(accumulate(len(segment.tokens) for segment in segments))
    blocks: list[Block] = []
    identity = root
    first = 0
    for depth, start in enumerate(range(0, len(tokens) - block_size + 1, block_size)):
        end = start + block_size
        first = bisect_left(ends, start + 1, first)
        last = bisect_left(ends, end, first)
        terms = segments[last].terms
        if not terms.may_retain:
            break
        identity = _identity(
            identity, tokens[start:end], _partitions(segments, ends, range(first, last + 1), start)
        )
        blocks.append(Block(identity, depth, terms))
    return blocks


def _partitions(
    segments: Sequence[Segment], ends: Sequence[int], touched: range, start: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the partitions that a block's tokens lie in, each with the offset at which it starts."""
    previous = None
    begin = start
    for index in touched:
        key = segments[index].terms.partition.key
        if key != previous and ends[index] > begin:
            yield begin - start, key
            previous = key
        begin = max(begin, ends[index])


def _identity(parent: bytes, tokens: Sequence[bytes], partitions: Iterator[tuple[int, bytes]]) -> bytes:
    """Hash one block; every part is of fixed length or preceded by its length."""
    digest = hashlib.sha256(parent)
    marks = b"".join(offset.to_bytes(4, "big") + key for offset, key in partitions)
    digest.update(len(marks).to_bytes(4, "big") + marks)
    digest.update(len(tokens).to_bytes(4, "big") + bytes(map(len, tokens)))
    digest.update(b"".join(tokens))
    return digest.digest()
