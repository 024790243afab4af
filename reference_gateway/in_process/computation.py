"""What the engines in this process have in common: no language model, one answer, and its token counts.

The answer is a fixed sentence with a mark that is drawn anew for each computation, so that an answer that was
replayed would show.
"""

import secrets
from collections.abc import Sequence
from typing import Final

from reference_gateway.backend import FragmentObservation, Served
from reference_gateway.in_process.render import ANSWER_PROMPT, render, tokenize
from reference_gateway.plan import Plan

SENTENCE: Final = "No language model runs here: this sentence is the same for every request."
LARGE: Final = 16_384
"""Model input of so many characters is computed off the event loop."""


def render_all(plan: Plan) -> list[str]:
    """Render the fragments of a plan, in order."""
    return [render(planned.fragment) for planned in plan.fragments]


def tokenize_all(texts: Sequence[str]) -> list[tuple[bytes, ...]]:
    """Cut rendered fragments into tokens, one by one."""
    return [tokenize(text) for text in texts]


def answer(plan: Plan, tokens: int, cached: int, fragments: tuple[FragmentObservation, ...]) -> Served:
    """Answer a plan whose fragments have so many `tokens`, of which `cached` were read."""
    answers = tuple(f"{SENTENCE} canary={secrets.token_hex(16)}" for _ in range(plan.request.choices))
    return Served(
        answers=answers,
        prompt_tokens=tokens + len(ANSWER_PROMPT),
        completion_tokens=sum(len(tokenize(text)) for text in answers),
        cached_tokens=cached,
        fragments=fragments,
    )
