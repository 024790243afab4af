"""What an engine makes of a prompt, asked of its tokenizer: how many tokens the first fragments determine.

This is what the figures of experiments are held against, so it has nothing from the gateway, which finds
boundaries in a way of its own.
"""

from collections.abc import Sequence
from typing import Final

import requests

from reference_gateway.live.chat import Json, by_kind, without_intent
from reference_gateway.live.engine import Engine

_SECONDS: Final = 30.0
_OTHERS: Final = ("The end.", "you may", "9. Zero", "\u00e9t\u00e9")
"""Texts without a common beginning, in place of whatever follows a boundary.

Some of their first letters become one token with the space in front of them, some don't: that token is no
part of what is the same whatever follows.
"""


def tokens(engine: Engine, fragments: Sequence[Json]) -> list[int]:
    """Give the tokens of a prompt, intents left out."""
    body = {"model": engine.model, **by_kind(map(without_intent, fragments))}
    response = requests.post(f"{engine.url}/tokenize", json=body, headers=engine.headers(), timeout=_SECONDS)
    response.raise_for_status()
    return [int(token) for token in response.json()["tokens"]]


def boundary(engine: Engine, fragments: Sequence[Json], count: int) -> int:
    """Give the tokens at the beginning that are the same whatever the messages behind the first `count` say.

    `count` must leave a message over. These tokens are all that whoever may read only the first `count`
    fragments can be lent; an engine lends the whole blocks of them.
    """
    prompts = [
        tokens(engine, [*fragments[:count], *({**one, "content": other} for one in fragments[count:])])
        for other in _OTHERS
    ]
    alike = (len(set(column)) == 1 for column in zip(*prompts, strict=False))
    return next((index for index, same in enumerate(alike) if not same), min(map(len, prompts)))


def whole_blocks(count: int, block_size: int) -> int:
    """Give the tokens of the whole blocks of so many tokens."""
    return count // block_size * block_size


def common_tokens(one: Sequence[int], other: Sequence[int]) -> int:
    """Give how many tokens two prompts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
