"""What a real vLLM tells of its cache, where, and what its counts mean (section 13)."""

import secrets
import time

import pytest

from reference_gateway.live.chat import Client, message, text
from reference_gateway.live.engine import Engine


@pytest.mark.parametrize("sentences", [3, 10, 31, 75, 150])
def test_a_count_is_a_multiple_of_the_block_and_leaves_a_token_to_compute(
    direct: Client, block: int, sentences: int
) -> None:
    prompt = message(text(sentences))

    first, again = direct.ask(prompt), direct.ask(prompt)

    assert again.cached is not None
    assert again.prompt == first.prompt
    assert again.prompt is not None
    assert again.cached == (again.prompt - 1) // block * block


def test_a_prompt_shorter_than_a_block_is_never_reused(direct: Client, block: int) -> None:
    prompt = message(secrets.token_hex(2))
    first, again = direct.ask(prompt), direct.ask(prompt)
    if first.prompt is None or first.prompt > block:
        pytest.skip("this model's template alone fills a block")
    assert again.cached == 0


def test_a_stream_tells_usage_only_if_asked(direct: Client) -> None:
    prompt = message(text())
    direct.ask(prompt)

    unasked = direct.ask(prompt, stream=True)
    asked = direct.ask(prompt, stream=True, stream_options={"include_usage": True})

    assert all(chunk.get("usage") is None for chunk in unasked.chunks)
    assert asked.cached == direct.ask(prompt).cached
    *others, last = asked.chunks
    assert last["choices"] == []
    assert last["usage"] is not None
    assert all(chunk.get("usage") is None for chunk in others)


def test_the_count_for_several_answers_takes_in_what_they_read_of_one_another(direct: Client) -> None:
    """So it proves nothing: it says that a text which nobody sent before was cached."""
    several = direct.ask(message(text()), n=3, temperature=1.0)
    assert several.cached is not None
    assert several.cached > 0


def test_state_has_no_bound_of_lifetime(direct: Client, block: int) -> None:
    """Nothing in a request could bound it; after a pause it is all there. That it never ends isn't shown."""
    prompt = message(text())
    direct.ask(prompt)
    time.sleep(5)
    again = direct.ask(prompt)
    assert again.prompt is not None
    assert again.cached == (again.prompt - 1) // block * block


def test_the_engines_own_counter_agrees_with_its_responses(direct: Client, engine: Engine) -> None:
    prompt = message(text())
    before = engine.counter("vllm:prefix_cache_hits_total")
    told = [direct.ask(prompt).cached or 0 for _ in range(3)]
    assert engine.counter("vllm:prefix_cache_hits_total") - before == sum(told)
