"""Counting the tokens of prompts."""

from hypothesis import given
from hypothesis import strategies as st

from reference_gateway.live.prompt import common_tokens, whole_blocks

TOKENS = st.lists(st.integers(0, 1), max_size=12)


@given(TOKENS, TOKENS)
def test_common_tokens_are_those_that_both_begin_with(one: list[int], other: list[int]) -> None:
    common = common_tokens(one, other)
    assert one[:common] == other[:common]
    assert common == min(len(one), len(other)) or one[common] != other[common]


def test_only_whole_blocks_count() -> None:
    assert [whole_blocks(count, 32) for count in (0, 31, 32, 95)] == [0, 0, 32, 64]
