"""How far two renders that differ in what follows agree, in whole blocks."""

from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.source import JsonValue
from reference_gateway.rendering.boundary import common_prefix

BLOCK = 16


def lengths(common: int) -> tuple[int, int]:
    """Tokens in whole blocks, and behind them, of renders that have so many tokens in common."""
    one: list[JsonValue] = [*range(common), 1001, 1002]
    other: list[JsonValue] = [*range(common), 2001]
    found = common_prefix(one, other, BLOCK)
    assert found is not None
    assert [*found.whole, *found.rest] == one[:common]
    return len(found.whole), len(found.rest)


@given(st.integers(0, 200))
def test_the_last_token_in_common_may_be_another_one_in_front_of_other_text(common: int) -> None:
    """The space before a sentinel is a token of its own; before most words it is part of theirs."""
    whole, rest = lengths(common)
    assert whole % BLOCK == 0
    assert whole <= max(0, common - 1) < whole + BLOCK
    assert rest == common - whole


def test_a_block_that_the_last_token_in_common_would_complete_is_not_counted() -> None:
    assert lengths(2 * BLOCK) == (BLOCK, BLOCK)
    assert lengths(2 * BLOCK + 1) == (2 * BLOCK, 1)


def test_renders_that_do_not_differ_tell_nothing() -> None:
    assert common_prefix([1, 2], [1, 2], BLOCK) is None
    assert common_prefix([1, 2], "no tokens", BLOCK) is None
