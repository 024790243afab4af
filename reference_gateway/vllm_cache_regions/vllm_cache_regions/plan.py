"""Which salt and bound hold where, once the engine has compared the boundaries with the tokens that it got.

Offsets mean something only for the very tokens that they were measured on. A boundary therefore comes with a
digest of all tokens before it. Where one doesn't match, that boundary and all later ones are dropped, and
from the last boundary that matched on everything has the narrowest salt: what the request sent as
`cache_salt`. Text that renders in another way than the sender thought costs reuse, and never lets a token out
of its region.
"""

import hashlib
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vllm_cache_regions.carrier import Carried, Region

InnerKey = tuple[str, str, int]
"""Marks a salt that begins inside a block or at its start: a tag, the salt, and the offset in the block."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Regions that hold for a request, in order; the first starts at 0."""

    regions: tuple[Region, ...]

    @property
    def first_salt(self) -> str:
        """The salt of the first token."""
        return self.regions[0].salt

    @property
    def bounded(self) -> bool:
        """Whether any region has a maximum age."""
        return any(region.max_age_ms is not None for region in self.regions)

    def inner_keys(self, start: int, end: int) -> tuple[InnerKey, ...]:
        """Give what the hash of the block of tokens `start` to `end` needs beside what vLLM puts into it.

        A block that a boundary crosses belongs to both sides, and its hash says where in it the boundary is.
        All later blocks inherit that through the chain of hashes. The first region's salt is not among them.
        """
        if len(self.regions) == 1 or start > self.regions[-1].start:
            return ()
        return tuple(
            ("cache_salt", region.salt, region.start - start)
            for region in self.regions[1:]
            if start <= region.start < end
        )

    def max_age(self, start: int, end: int) -> float | None:
        """Give the bound in seconds of the block of tokens `start` to `end`: the tightest that it touches."""
        ends = [region.start for region in self.regions[1:]]
        return tightest(
            region
            for region, after in zip(self.regions, [*ends, None], strict=True)
            if region.start < end and (after is None or start < after)
        )


def tightest(regions: Iterable[Region]) -> float | None:
    """Give the smallest maximum age among regions, in seconds; None if none has any."""
    ages = [region.max_age_ms for region in regions if region.max_age_ms is not None]
    return min(ages) / 1000 if ages else None


def flat_plan(salt: str, replaced: Sequence[Region]) -> Plan:
    """Give one salt to the whole request, and the tightest bound of the regions in whose place that is."""
    return Plan((_narrowest(0, salt, replaced),))


def bound_plan(carried: Carried, tokens: Sequence[int], flat_salt: str) -> tuple[Plan, int]:
    """Compare boundaries with the tokens of the prompt. Returns the plan and how many boundaries it kept."""
    kept = _matching(carried, tokens)
    if kept == len(carried.digests):
        return Plan(carried.regions), kept
    dropped = carried.regions[kept:]
    return Plan((*carried.regions[:kept], _narrowest(dropped[0].start, flat_salt, dropped))), kept


def token_digest(tokens: Sequence[int]) -> bytes:
    """Digest tokens as a boundary's digest does: SHA-256 of each as four bytes, the lowest first."""
    return hashlib.sha256(_octets(tokens)).digest()


def _matching(carried: Carried, tokens: Sequence[int]) -> int:
    """Count the boundaries, from the first on, whose digests match."""
    sha = hashlib.sha256()
    done = 0
    for kept, (region, digest) in enumerate(zip(carried.regions[1:], carried.digests, strict=True)):
        if region.start > len(tokens):
            return kept
        sha.update(_octets(tokens[done : region.start]))
        done = region.start
        if sha.digest() != digest:
            return kept
    return len(carried.digests)


def _octets(tokens: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(tokens)}I", *tokens)


def _narrowest(start: int, salt: str, replaced: Sequence[Region]) -> Region:
    ages = [region.max_age_ms for region in replaced if region.max_age_ms is not None]
    return Region(start, salt, min(ages, default=None))
