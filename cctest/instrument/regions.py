"""Regions of the prompt, each with a salt of its own: a sharing boundary partway through the input.

Three flat lists in a body's `vllm_xargs`, beside its `cache_salt` (spec/regions.md says what for):

- `salt_regions`: offset and salt in turn. Offsets count tokens of the prompt, begin with 0 and rise.
- `salt_region_digests`: for every region but the first, the SHA-256 of all tokens before it.
- `salt_region_max_age_ms`: optional; a bound for every region, -1 for none.

From the last boundary on that has the digest of the tokens that came, all has the `cache_salt`.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from cctest.contract.source import JsonValue
from cctest.instrument.template import token_octets

REGIONS: Final = "salt_regions"
DIGESTS: Final = "salt_region_digests"
MAX_AGES: Final = "salt_region_max_age_ms"
REGION_LIMIT: Final = 64
"""Most regions of a request."""
SALT_LENGTH: Final = 128
"""Most characters in a salt."""

_UNBOUNDED: Final = -1
_LARGEST: Final = {REGIONS: 2**31, MAX_AGES: 2**53}
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class RegionsError(ValueError):
    """The regions can't be read; the message says which list is wrong and what would be right."""


@dataclass(frozen=True, slots=True)
class Region:
    """What is found under `salt`, from token `start` to the next region.

    It may be read until `max_age_ms` milliseconds after it was computed; None: without a bound.
    """

    start: int
    salt: str
    max_age_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Regions:
    """The regions of a request as they arrived, in order; a digest for each but the first."""

    regions: tuple[Region, ...]
    digests: tuple[bytes, ...]

    def in_effect(self, tokens: Sequence[bytes], salt: str) -> tuple[Region, ...]:
        """Give the regions that hold for these tokens; `salt` is that of the whole request.

        It takes the place of all regions whose end isn't where it was said to be, with the tightest of their
        bounds.
        """
        kept = sum(1 for _ in self._matching(tokens))
        if kept == len(self.digests):
            return self.regions
        dropped = self.regions[kept:]
        bounds = [one.max_age_ms for one in dropped if one.max_age_ms is not None]
        return (*self.regions[:kept], Region(dropped[0].start, salt, min(bounds, default=None)))

    def _matching(self, tokens: Sequence[bytes]) -> Iterable[Region]:
        """Yield the regions behind boundaries that are where they were said to be; none behind another."""
        read, done = hashlib.sha256(), 0
        for region, digest in zip(self.regions[1:], self.digests, strict=True):
            if region.start > len(tokens):
                return
            read.update(b"".join(map(token_octets, tokens[done : region.start])))
            done = region.start
            if read.digest() != digest:
                return
            yield region


def read_regions(extra: JsonValue) -> Regions | None:
    """Read `vllm_xargs`; None where it says nothing of regions. Raises RegionsError."""
    if not isinstance(extra, dict) or extra.keys().isdisjoint((REGIONS, DIGESTS, MAX_AGES)):
        return None
    flat, digests, ages = (_list(extra.get(name), name) for name in (REGIONS, DIGESTS, MAX_AGES))
    if not flat or len(flat) % 2:
        raise RegionsError(f"{REGIONS} must be offset and salt in turn, at least one of each")
    starts, salts = [_whole(one, REGIONS) for one in flat[::2]], [_salt(one) for one in flat[1::2]]
    if starts[0] != 0 or any(one >= after for one, after in pairwise(starts)):
        raise RegionsError(f"{REGIONS}: offsets must begin with 0 and rise")
    if len(digests) != len(starts) - 1:
        raise RegionsError(f"{DIGESTS} must be {len(starts) - 1}, one for each boundary")
    if ages and len(ages) != len(starts):
        raise RegionsError(f"{MAX_AGES} must be {len(starts)}, one for each region")
    bounds = [None if age == _UNBOUNDED else _whole(age, MAX_AGES) for age in ages] or [None] * len(starts)
    return Regions(tuple(map(Region, starts, salts, bounds)), tuple(map(_digest, digests)))


def _list(value: JsonValue, name: str) -> list[JsonValue]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > 2 * REGION_LIMIT:
        raise RegionsError(f"{name} must be a list for at most {REGION_LIMIT} regions")
    return value


def _whole(value: JsonValue, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST[name]:
        raise RegionsError(f"{name} must have whole numbers from 0 to {_LARGEST[name]}")
    return value


def _salt(value: JsonValue) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= SALT_LENGTH:
        raise RegionsError(f"{REGIONS}: salts must be texts of 1 to {SALT_LENGTH} characters")
    return value


def _digest(value: JsonValue) -> bytes:
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise RegionsError(f"{DIGESTS} must be SHA-256 digests of 64 lower-case hexadecimal digits")
    return bytes.fromhex(value)
