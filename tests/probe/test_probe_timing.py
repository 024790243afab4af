import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.probe.timing import compare

SECONDS = st.lists(st.floats(0.001, 10, allow_nan=False), min_size=2, max_size=30)


def test_a_sample_that_is_always_faster_is_clear() -> None:
    compared = compare([1.0 + n / 100 for n in range(40)], [2.0 + n / 100 for n in range(40)])
    assert compared.faster == 1.0
    assert compared.clear


def test_equal_samples_tell_nothing() -> None:
    compared = compare([1.0] * 20, [1.0] * 20)
    assert (compared.faster, compared.chance) == (0.5, 1.0)


def test_the_chance_is_that_of_the_published_table() -> None:
    # Mann-Whitney, n = m = 5, U = 2: one-sided p = 0.018 by the normal approximation with continuity
    compared = compare([1, 2, 3, 4, 7], [5, 6, 8, 9, 10])
    assert compared.faster == 1 - 2 / 25
    assert compared.chance == pytest.approx(0.0184, abs=0.001)


@given(SECONDS, SECONDS)
def test_the_two_directions_mirror_each_other(one: list[float], other: list[float]) -> None:
    forth, back = compare(one, other), compare(other, one)
    assert math.isclose(forth.faster + back.faster, 1.0, abs_tol=1e-9)
    assert not (forth.clear and back.clear)


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="need values"):
        compare([], [1.0])
