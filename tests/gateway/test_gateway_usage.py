"""What token counts prove about a fragment."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.sharing import Context
from cctest.contract.vocabulary import OnUnenforceable, Outcome, Scope
from gateway.talk import Json, intent, message, tool
from reference_gateway.engine.usage import LONGEST_TOKEN, Count, observe, outcome, own_bytes, read_count
from reference_gateway.lowering.lowering import Lowered, Lowering
from reference_gateway.lowering.salt import Salts
from reference_gateway.plan import make_plan
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION
from reference_gateway.request.intake import Fragment, Kind, read_chat_request


def usage(cached: Any, prompt: Any = 100) -> Json:
    return {"prompt_tokens": prompt, "prompt_tokens_details": {"cached_tokens": cached}}


@pytest.mark.parametrize("cached", [0, 16, 100])
def test_a_possible_count_is_read(cached: int) -> None:
    assert read_count(usage(cached)) == Count(100, cached)


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"prompt_tokens": 100},
        {"prompt_tokens": 100, "prompt_tokens_details": None},
        {"prompt_tokens": 100, "prompt_tokens_details": {}},
        {"prompt_tokens": 100, "prompt_tokens_details": [0]},
        {"prompt_tokens_details": {"cached_tokens": 0}},
        *(usage(cached) for cached in (None, True, False, "0", "16", 16.0, -16, 101)),
        *(usage(0, prompt) for prompt in (None, True, "100", -1)),
    ],
)
def test_an_absent_or_impossible_count_is_no_observation(told: Json) -> None:
    assert read_count(told) is None
    assert outcome(read_count(told), 10**6, 16) is Outcome.UNOBSERVED


@pytest.mark.parametrize(
    ("cached", "own", "expected"),
    [
        (0, 10_000, Outcome.MISS),
        (0, 2, Outcome.MISS),
        (96, 10_000, Outcome.EXACT_HIT),
        (84, 10_000, Outcome.EXACT_HIT),
        (100, 1, Outcome.EXACT_HIT),
        (80, 10_000, Outcome.UNOBSERVED),  # a block that could have been read was not: whose, nobody knows
        (16, 10_000, Outcome.UNOBSERVED),
        (96, 4 * LONGEST_TOKEN, Outcome.UNOBSERVED),  # may lie wholly in what was computed
        (96, 4 * LONGEST_TOKEN + 1, Outcome.EXACT_HIT),
    ],
)
def test_only_what_the_count_proves_is_claimed(cached: int, own: int, expected: Outcome) -> None:
    assert outcome(Count(100, cached), own, 16) is expected


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=5),
    st.integers(0, 20),
    st.tuples(st.integers(1, 32), st.integers(1, 32)),
    st.integers(0, 30),
    st.data(),
)
def test_a_claim_is_true_wherever_the_fragments_stand(
    lengths: list[int], head: int, blocks: tuple[int, int], reused_blocks: int, data: st.DataObject
) -> None:
    """Against an engine whose boundaries are known: fragments of so many tokens, each behind a template's head."""
    block, told_block = blocks
    own = [data.draw(st.integers(length, length * LONGEST_TOKEN)) for length in lengths]
    prompt = sum(lengths) + head * len(lengths) + 1
    cached = min(reused_blocks, (prompt - 1) // block) * block
    end = 0
    for length, size in zip(lengths, own, strict=True):
        start, end = end + head, end + head + length
        claim = outcome(Count(prompt, cached), size, min(block, told_block))
        if claim is Outcome.EXACT_HIT:
            assert cached > start
            assert cached >= end // block * block
        if claim is Outcome.MISS:
            assert cached == 0


@pytest.mark.parametrize(
    ("fragment", "size"),
    [
        (message(" é \n"), 2),
        (message("x", role="system"), 1),
        (message("x", role="assistant"), 0),
        ({"role": "user", "content": [{"type": "text", "text": "ab"}, {"type": "image_url"}]}, 2),
        ({"role": "user", "content": None}, 0),
        (tool("f"), 0),
        ({"type": "function", "function": {"name": "f", "description": "abc"}}, 3),
        ({"type": "custom"}, 0),
    ],
)
def test_only_text_that_is_surely_rendered_counts(fragment: Json, size: int) -> None:
    kind = Kind.MESSAGE if "role" in fragment else Kind.TOOL
    assert own_bytes(Fragment(kind, "/x/0", fragment, None)) == size


MISS, HIT, UNOBSERVED = Outcome.MISS, Outcome.EXACT_HIT, Outcome.UNOBSERVED


@pytest.mark.parametrize(
    ("members", "of_nothing", "of_all"),
    [
        ({}, MISS, HIT),
        ({"echo": False, "prompt_logprobs": None, "truncate_prompt_tokens": None}, MISS, HIT),
        ({"n": 2}, UNOBSERVED, UNOBSERVED),
        ({"prompt_logprobs": 0}, UNOBSERVED, HIT),
        ({"echo": True}, UNOBSERVED, HIT),
        ({"truncate_prompt_tokens": 16}, MISS, UNOBSERVED),
        ({"chat_template_kwargs": {"without_system": True}}, MISS, UNOBSERVED),
        ({"a_member_that_nobody_knows": 1}, MISS, UNOBSERVED),
    ],
)
def test_what_a_caller_asks_for_may_leave_a_count_without_meaning(
    members: Json, of_nothing: Outcome, of_all: Outcome
) -> None:
    """An engine that tells of each token of the prompt looks nothing up; one may leave a fragment out."""
    body = {"model": "m", "messages": [message("x" * 10_000, intent())], **members}
    request = read_chat_request(json.dumps(body).encode())
    capabilities = Lowering(Salts(b"secret")).capabilities(OnUnenforceable.BYPASS)
    plan = make_plan(request, Context("acme", "alice"), "r", capabilities, BY_CONSTRUCTION)
    for cached, expected in ((0, of_nothing), (96, of_all)):
        (told,) = observe(plan, Lowered("salt", shared=True, share=Scope.TENANT), Count(100, cached), 16)
        assert told.outcome is expected
