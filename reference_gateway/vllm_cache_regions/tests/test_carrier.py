"""What a request carries, read and written."""

from typing import Any

import pytest

from vllm_cache_regions.carrier import (
    DIGESTS,
    MAX_AGES,
    MOST_REGIONS,
    REGIONS,
    BadRegionsError,
    Carried,
    Region,
    carries_regions,
    parse_regions,
    spell_regions,
)

DIGEST = "ab" * 32
GOOD: dict[str, Any] = {REGIONS: [0, "pub", 1760, "own"], DIGESTS: [DIGEST], MAX_AGES: [5000, -1]}


def test_regions_are_read() -> None:
    assert parse_regions(GOOD) == Carried(
        (Region(0, "pub", 5000), Region(1760, "own", None)), (bytes.fromhex(DIGEST),)
    )


def test_what_is_written_is_read_again() -> None:
    carried = parse_regions(GOOD)
    assert spell_regions(carried) == GOOD
    assert parse_regions(spell_regions(carried)) == carried


def test_ages_may_be_left_out() -> None:
    carried = parse_regions({REGIONS: [0, "pub"]})
    assert carried.regions == (Region(0, "pub", None),)
    assert MAX_AGES not in spell_regions(carried)


def test_a_request_without_any_of_the_lists_has_nothing_to_do_with_regions() -> None:
    assert not carries_regions(None)
    assert not carries_regions({"temperature_of_soup": 3})
    assert carries_regions({DIGESTS: []})


@pytest.mark.parametrize(
    ("change", "at_fault"),
    [
        ({REGIONS: []}, REGIONS),
        ({REGIONS: "0,pub"}, REGIONS),
        ({REGIONS: {"0": "pub"}}, REGIONS),
        ({REGIONS: [0, "pub", 1760]}, REGIONS),
        ({REGIONS: [1, "pub", 1760, "own"]}, REGIONS),
        ({REGIONS: [0, "pub", 0, "own"]}, REGIONS),
        ({REGIONS: [0, "pub", -5, "own"]}, REGIONS),
        ({REGIONS: [0, "pub", 1760.0, "own"]}, REGIONS),
        ({REGIONS: [False, "pub", True, "own"]}, REGIONS),
        ({REGIONS: [0, "pub", "1760", "own"]}, REGIONS),
        ({REGIONS: [0, "pub", 2**31 + 1, "own"]}, REGIONS),
        ({REGIONS: ["pub", 0, "own", 1760]}, REGIONS),
        ({REGIONS: [0, "", 1760, "own"]}, REGIONS),
        ({REGIONS: [0, "p" * 129, 1760, "own"]}, REGIONS),
        ({REGIONS: [part for n in range(MOST_REGIONS + 1) for part in (n, "s")]}, REGIONS),
        ({DIGESTS: []}, DIGESTS),
        ({DIGESTS: [DIGEST, DIGEST]}, DIGESTS),
        ({DIGESTS: [DIGEST.upper()]}, DIGESTS),
        ({DIGESTS: [DIGEST[:-1]]}, DIGESTS),
        ({DIGESTS: [DIGEST + "\n"]}, DIGESTS),
        ({DIGESTS: [7]}, DIGESTS),
        ({MAX_AGES: [5000]}, MAX_AGES),
        ({MAX_AGES: [5000, -2]}, MAX_AGES),
        ({MAX_AGES: [5000, 1.5]}, MAX_AGES),
        ({MAX_AGES: [5000, True]}, MAX_AGES),
        ({MAX_AGES: 5000}, MAX_AGES),
    ],
)
def test_bad_regions_are_refused_by_name(change: dict[str, Any], at_fault: str) -> None:
    with pytest.raises(BadRegionsError) as refused:
        parse_regions({**GOOD, **change})
    assert refused.value.name == at_fault
    assert str(refused.value).startswith(f"{at_fault}: ")


def test_digests_or_ages_without_regions_are_refused() -> None:
    with pytest.raises(BadRegionsError):
        parse_regions({DIGESTS: [DIGEST]})
