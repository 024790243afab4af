"""What an engine's token counts prove about each fragment, and nothing beyond (BND-7, STA-5).

An engine with one partition per request tells one count: so many of the prompt's tokens were read from its
cache. Where in the prompt a fragment stands isn't known here. So the following is claimed (READ-30):

- nothing was read: every fragment is a miss;
- all was read but one block at the end, which an engine always computes, and a fragment's own text has more
  bytes than the computed tokens could hold: wherever it is rendered, all of its blocks that could be read
  were, and some of its own words among them. It is a hit. The template's own words are none;
- otherwise it can't be told.

Nor can it be told whether there was a look-up at all where the caller asks what the model makes of the prompt
itself, or whether a fragment is in the prompt where the caller has a say in how the prompt is made.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import Outcome, Scope
from reference_gateway.backend import FragmentObservation
from reference_gateway.lowering.lowering import Lowered
from reference_gateway.plan import Plan
from reference_gateway.request.intake import Fragment, Kind

LONGEST_TOKEN: Final = 128
"""Bytes of text in the longest token of the vocabularies in use (runs of spaces, mostly)."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many tokens the prompt has, and how many of them were read from the cache."""

    prompt: int
    cached: int


def read_count(usage: Mapping[str, JsonValue]) -> Count | None:
    """Read an engine's `usage`; None where it tells nothing, or something impossible."""
    details = usage.get("prompt_tokens_details")
    cached = _natural(details.get("cached_tokens")) if isinstance(details, dict) else None
    prompt = _natural(usage.get("prompt_tokens"))
    if prompt is None or cached is None or cached > prompt:
        return None
    return Count(prompt, cached)


def observe(
    plan: Plan, lowered: Lowered, count: Count | None, block_size: int
) -> tuple[FragmentObservation, ...]:
    """Tell what became of each fragment of a request that was served in one partition.

    That state is retained is told only where it was found: of what was computed nobody learns whether the
    engine kept it. The count for several answers includes what they read of one another's, and tells nothing.
    """
    if not lowered.shared:
        bypassed = FragmentObservation(Outcome.BYPASS, retained=False, share=Scope.REQUEST)
        return (bypassed,) * len(plan.fragments)
    request = plan.request
    if request.choices != 1 or (request.prompt_told and count is not None and count.cached == 0):
        count = None
    if request.other_input or count is None or count.cached == 0 or count.prompt - count.cached > block_size:
        outcomes = [outcome(count, 0, block_size)] * len(plan.fragments)  # whatever the fragments hold
    else:
        outcomes = [outcome(count, own_bytes(one.fragment), block_size) for one in plan.fragments]
    return tuple(
        FragmentObservation(told, True if told is Outcome.EXACT_HIT else None, lowered.share)
        for told in outcomes
    )


def outcome(count: Count | None, own: int, block_size: int) -> Outcome:
    """Tell what became of a fragment with `own` bytes of text of its own, where a look-up was made.

    `block_size` is in tokens. One that is smaller than the engine's only claims less.
    """
    if count is None:
        return Outcome.UNOBSERVED
    if count.cached == 0:
        return Outcome.MISS
    computed = count.prompt - count.cached
    if computed <= block_size and own > computed * LONGEST_TOKEN:
        return Outcome.EXACT_HIT
    return Outcome.UNOBSERVED


def own_bytes(fragment: Fragment) -> int:
    """Count the bytes of a fragment's text that any template renders whole, if it renders the fragment.

    Templates drop the reasoning out of an assistant's earlier turns: those count for nothing.
    """
    if fragment.kind is Kind.TOOL:
        function = fragment.value.get("function")
        return _size(function.get("description")) if isinstance(function, dict) else 0
    if fragment.value.get("role") == "assistant":
        return 0
    content = fragment.value.get("content")
    if isinstance(content, list):
        return sum(_size(part.get("text")) for part in content if isinstance(part, dict))
    return _size(content)


def _size(value: JsonValue) -> int:
    return len(value.strip().encode()) if isinstance(value, str) else 0


def _natural(value: JsonValue) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value
