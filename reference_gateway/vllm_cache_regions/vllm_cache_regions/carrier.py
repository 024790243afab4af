"""What a request carries: three flat lists in `vllm_xargs`.

    "salt_regions": [0, "salt of all that see the first part", 1760, "salt of one tenant"],
    "salt_region_digests": ["sha-256, in hex, of the tokens before 1760"],
    "salt_region_max_age_ms": [3600000, -1]

Regions are offset and salt in turn; offsets count tokens of the prompt, and a region reaches to the next one,
the last over everything that is generated as well. There is a digest for every boundary, that is for every
region but the first, and, where any are given, a maximum age for every region: -1 for none.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeGuard

REGIONS: Final = "salt_regions"
DIGESTS: Final = "salt_region_digests"
MAX_AGES: Final = "salt_region_max_age_ms"
NAMES: Final = (REGIONS, DIGESTS, MAX_AGES)

UNBOUNDED: Final = -1
"""Stands in a list of maximum ages for none."""

MOST_REGIONS: Final = 64
LONGEST_SALT: Final = 128
"""Characters; as long as vLLM's own `cache_salt` may be."""

_MOST_TOKENS: Final = 2**31
_MOST_MILLISECONDS: Final = 2**53
_HEX_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class BadRegionsError(ValueError):
    """Regions that can't be read. `name` is the list at fault, the message says what would be right."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name


@dataclass(frozen=True, slots=True)
class Region:
    """A part of the input that starts at token `start` and is shared by all who send `salt`.

    It may be reused until `max_age_ms` after it was computed; None: without a bound.
    """

    start: int
    salt: str
    max_age_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Carried:
    """Regions of a request, in order, and the digest of the tokens before each of them but the first."""

    regions: tuple[Region, ...]
    digests: tuple[bytes, ...]


def carries_regions(extra_args: Mapping[str, Any] | None) -> TypeGuard[Mapping[str, Any]]:
    """Tell whether a request has anything to do with regions."""
    return extra_args is not None and any(name in extra_args for name in NAMES)


def parse_regions(extra_args: Mapping[str, Any]) -> Carried:
    """Read the regions of a request. Raises BadRegionsError."""
    starts, salts = _offsets_and_salts(_list(extra_args, REGIONS))
    digests = _digests(_list(extra_args, DIGESTS), len(starts) - 1)
    ages = _max_ages(_list(extra_args, MAX_AGES), len(starts))
    return Carried(tuple(map(Region, starts, salts, ages)), digests)


def spell_regions(carried: Carried) -> dict[str, list[str | int]]:
    """Write regions as `vllm_xargs`: the inverse of `parse_regions`."""
    spelled: dict[str, list[str | int]] = {
        REGIONS: [part for region in carried.regions for part in (region.start, region.salt)],
        DIGESTS: [digest.hex() for digest in carried.digests],
    }
    if any(region.max_age_ms is not None for region in carried.regions):
        spelled[MAX_AGES] = [
            UNBOUNDED if region.max_age_ms is None else region.max_age_ms for region in carried.regions
        ]
    return spelled


def _list(extra_args: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = extra_args.get(name, [])
    if not isinstance(value, list | tuple):
        raise BadRegionsError(name, "must be a list")
    if len(value) > 2 * MOST_REGIONS:
        raise BadRegionsError(name, f"at most {MOST_REGIONS} regions are possible")
    return value


def _offsets_and_salts(flat: Sequence[Any]) -> tuple[list[int], list[str]]:
    if not flat or len(flat) % 2:
        raise BadRegionsError(REGIONS, "must be offset and salt in turn, at least one of each")
    starts, salts = list(flat[::2]), list(flat[1::2])
    if not all(_is_whole(start, _MOST_TOKENS) for start in starts):
        raise BadRegionsError(REGIONS, "offsets must be whole numbers of tokens, 0 or more")
    if starts[0] != 0 or any(start >= after for start, after in pairwise(starts)):
        raise BadRegionsError(REGIONS, "offsets must begin with 0 and rise")
    if not all(isinstance(salt, str) and 0 < len(salt) <= LONGEST_SALT for salt in salts):
        raise BadRegionsError(REGIONS, f"salts must be texts of 1 to {LONGEST_SALT} characters")
    return starts, salts


def _digests(texts: Sequence[Any], boundaries: int) -> tuple[bytes, ...]:
    if len(texts) != boundaries:
        raise BadRegionsError(
            DIGESTS, f"must be one for each of the {boundaries} boundaries, not {len(texts)}"
        )
    if not all(isinstance(text, str) and _HEX_DIGEST.fullmatch(text) for text in texts):
        raise BadRegionsError(DIGESTS, "must be SHA-256 digests of 64 lower-case hexadecimal digits")
    return tuple(map(bytes.fromhex, texts))


def _max_ages(ages: Sequence[Any], regions: int) -> list[int | None]:
    if not ages:
        return [None] * regions
    if len(ages) != regions:
        raise BadRegionsError(MAX_AGES, f"must be one for each of the {regions} regions, not {len(ages)}")
    if not all(age == UNBOUNDED or _is_whole(age, _MOST_MILLISECONDS) for age in ages):
        raise BadRegionsError(MAX_AGES, f"must be whole milliseconds, 0 or more, or {UNBOUNDED} for no bound")
    return [None if age == UNBOUNDED else age for age in ages]


def _is_whole(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
