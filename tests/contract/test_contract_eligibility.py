import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.eligibility import eligible


@pytest.mark.parametrize(
    ("materialized_at", "max_age", "now", "answer"),
    [
        (100, 60, 100, True),
        (100, 60, 159, True),
        (100, 60, 159.999, True),
        (100, 60, 160, False),
        (100, 60, 161, False),
        (100, 0, 100, False),
        (100, 0, 99, False),
        (100, None, 10**18, True),
        (100.5, 10**400, 1e300, True),
        (0, 2**53 + 1, 2**53, True),
        (0, 2**53 + 1, 2**53 + 1, False),
        (1, 1, 2, False),
    ],
)
def test_state_is_eligible_until_its_age_reaches_the_bound(
    materialized_at: float, max_age: int | None, now: float, answer: bool
) -> None:
    assert eligible(materialized_at, max_age, now) is answer


@given(st.integers(0), st.integers(1), st.integers(0))
def test_whole_instants_follow_the_formula_of_the_rule(materialized_at: int, max_age: int, age: int) -> None:
    now = materialized_at + age
    assert eligible(materialized_at, max_age, now) is (now < materialized_at + max_age)
