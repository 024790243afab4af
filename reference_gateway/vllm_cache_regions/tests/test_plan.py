"""Boundaries against tokens, and what a block hashes with."""

import hashlib

import pytest

from vllm_cache_regions.carrier import Carried, Region
from vllm_cache_regions.plan import Plan, bound_plan, flat_plan, token_digest

TOKENS = list(range(1000, 1100))


def carried(*regions: Region, wrong: tuple[int, ...] = ()) -> Carried:
    """Regions with right digests, but for the boundaries whose places are `wrong`."""
    digests = [token_digest(TOKENS[: region.start]) for region in regions[1:]]
    for place in wrong:
        digests[place] = bytes(32)
    return Carried(regions, tuple(digests))


THREE = (Region(0, "pub", None), Region(20, "org", 9000), Region(50, "own", 4000))


def test_a_digest_is_over_four_bytes_per_token_the_lowest_first() -> None:
    assert token_digest([1, 258]) == hashlib.sha256(bytes([1, 0, 0, 0, 2, 1, 0, 0])).digest()


def test_boundaries_that_match_hold() -> None:
    assert bound_plan(carried(*THREE), TOKENS, "flat") == (Plan(THREE), 2)


def test_from_the_first_mismatch_on_everything_has_the_narrowest_salt_and_the_tightest_bound() -> None:
    plan, kept = bound_plan(carried(*THREE, wrong=(1,)), TOKENS, "flat")
    assert plan == Plan((Region(0, "pub", None), Region(20, "flat", 4000)))
    assert kept == 1


def test_a_match_after_a_mismatch_counts_for_nothing() -> None:
    assert bound_plan(carried(*THREE, wrong=(0,)), TOKENS, "flat") == (Plan((Region(0, "flat", 4000),)), 0)


def test_a_boundary_at_the_end_of_the_prompt_holds_and_one_beyond_it_does_not() -> None:
    at_end = (Region(0, "pub"), Region(100, "own"))
    assert bound_plan(carried(*at_end), TOKENS, "flat") == (Plan(at_end), 1)
    beyond = Carried((Region(0, "pub"), Region(101, "own")), (token_digest(TOKENS),))
    assert bound_plan(beyond, TOKENS, "flat") == (Plan((Region(0, "flat"),)), 0)


@pytest.mark.parametrize("place", [0, 19])
def test_one_other_token_before_a_boundary_is_a_mismatch(place: int) -> None:
    other = [*TOKENS]
    other[place] += 1
    assert bound_plan(carried(*THREE), other, "flat")[1] == 0


def test_a_token_after_a_boundary_does_not_concern_it() -> None:
    other = [*TOKENS[:20], 7, *TOKENS[21:]]
    assert bound_plan(carried(*THREE), other, "flat")[1] == 1


@pytest.mark.parametrize(
    ("start", "end", "keys"),
    [
        (0, 16, ()),
        (16, 32, (("cache_salt", "org", 4),)),
        (32, 48, ()),
        (48, 64, (("cache_salt", "own", 2),)),
        (64, 80, ()),
        (20, 40, (("cache_salt", "org", 0),)),
        (16, 51, (("cache_salt", "org", 4), ("cache_salt", "own", 34))),
        (0, 20, ()),
    ],
)
def test_a_block_says_which_regions_begin_in_it_and_where(start: int, end: int, keys: object) -> None:
    assert Plan(THREE).inner_keys(start, end) == keys


@pytest.mark.parametrize(
    ("start", "end", "age"),
    [(0, 20, None), (0, 21, 9.0), (16, 32, 9.0), (32, 50, 9.0), (32, 51, 4.0), (64, 4096, 4.0)],
)
def test_a_block_has_the_tightest_bound_of_all_regions_that_it_touches(
    start: int, end: int, age: float | None
) -> None:
    assert Plan(THREE).max_age(start, end) == age


def test_a_flat_plan_has_the_tightest_bound_of_what_it_replaces() -> None:
    assert flat_plan("flat", THREE) == Plan((Region(0, "flat", 4000),))
    assert not flat_plan("flat", THREE[:1]).bounded
