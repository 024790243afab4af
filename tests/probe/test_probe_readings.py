"""Which readings a report tells of."""

import pytest

from cctest.probe.case import ReadingSpec
from cctest.probe.readings import without_noise
from cctest.verdict import Reading

SPEC = ReadingSpec("READ-8", "reuse", "read", {"reused": "retained", "not_reused": "not-retained"})
OTHER = ReadingSpec("READ-5", "answer", "ask", {"refused": "rejected", "served": "fallback"})
SPECS = {"warming#READ-8": SPEC, "invalid#READ-5": OTHER}


def shown(*taken: str, cells: int) -> list[str]:
    readings = [Reading("READ-8", one, "warming#READ-8") for one in taken]
    return [one.taken for one in without_noise(readings, SPECS, {"warming": cells})]


@pytest.mark.parametrize(
    ("taken", "cells", "left"),
    [
        (["not-retained"] * 4, 4, ["not-retained"] * 4),
        (["not-retained"] * 3, 4, ["not-retained"] * 3),
        (["not-retained"] * 2, 4, []),
        (["not-retained", "not-retained", "not-retained", "retained"], 4, ["retained"]),
        (["retained"], 4, ["retained"]),
        (["not-retained"], 1, ["not-retained"]),
    ],
)
def test_an_absence_of_reuse_may_be_chance_and_a_reuse_is_not(
    taken: list[str], cells: int, left: list[str]
) -> None:
    assert shown(*taken, cells=cells) == left


def test_what_shows_otherwise_than_by_reuse_is_told_in_every_way_that_it_was_taken() -> None:
    readings = [Reading("READ-5", taken, "invalid#READ-5") for taken in ("rejected", "fallback")]

    assert list(without_noise(readings, SPECS, {"invalid": 8})) == readings
