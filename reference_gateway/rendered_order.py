"""Whether a model's template renders fragments in their declared order (CMP-11, BND-2).

The declared order is all tools in array order, then all messages in array order (BND-1). Where a template
renders otherwise, or where that isn't known, state after one fragment may depend on a later one; then one
policy has to do for the whole request.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from reference_gateway.intake import Fragment, Kind
from reference_gateway.sentinels import Conversation, Sentinel

SURVEYED_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})
"""The roles for which the order is established. What a template does with others isn't known."""


class Order(StrEnum):
    """In which order a model's template renders fragments."""

    DECLARED = "declared"
    OTHER = "other"
    NOT_ESTABLISHED = "not established"


@dataclass(frozen=True, slots=True)
class RenderedOrder:
    """The order of one model, and in words what it was judged from."""

    order: Order
    why: str

    def holds_for(self, fragments: Iterable[Fragment]) -> bool:
        """Tell whether these fragments are known to be rendered in declared order."""
        return self.order is Order.DECLARED and all(
            one.kind is Kind.TOOL or one.value.get("role") in SURVEYED_ROLES for one in fragments
        )


BY_CONSTRUCTION: Final = RenderedOrder(Order.DECLARED, "the gateway's own template")
"""The order of an engine whose template is ours."""
NOT_SURVEYED: Final = RenderedOrder(Order.NOT_ESTABLISHED, "the engine has not been asked yet")


@dataclass(frozen=True, slots=True)
class Rendering:
    """What an engine made of a conversation: the model input as text; None where it refused to render it."""

    conversation: Conversation
    prompt: str | None
    refusal: str = ""


def judge(renderings: Sequence[Rendering]) -> RenderedOrder:
    """Judge a template by what it made of conversations of sentinels.

    A conversation that the engine refuses is one that it refuses from callers as well, so nothing can be
    reused out of order there; but without the required ones too little was seen.
    """
    for one in renderings:
        if one.prompt is not None and (found := _disorder(one.conversation, one.prompt)) is not None:
            return RenderedOrder(Order.OTHER, f"{one.conversation.name}: {found}")
    for one in renderings:
        if one.prompt is None and one.conversation.required:
            why = f"{one.conversation.name}: the engine refused to render it: {one.refusal}"
            return RenderedOrder(Order.NOT_ESTABLISHED, why)
    rendered = sum(one.prompt is not None for one in renderings)
    if not any(one.prompt is not None and one.conversation.required for one in renderings):
        return RenderedOrder(Order.NOT_ESTABLISHED, "nothing was rendered")
    return RenderedOrder(Order.DECLARED, f"seen in {rendered} of {len(renderings)} conversations")


def _disorder(conversation: Conversation, prompt: str) -> str | None:
    """Say what is not in declared order.

    Not only must each fragment begin after the one before it: it must not occur again later on, since the
    state after its last word would depend on what stands between.
    """
    spans = [_span(fragment, prompt) for fragment in conversation.fragments]
    for fragment, span in zip(conversation.fragments, spans, strict=True):
        if span is None:
            return f"{fragment.place} does not appear in the model input"
    seen = [
        (fragment, *span)
        for fragment, span in zip(conversation.fragments, spans, strict=True)
        if span is not None
    ]
    for (earlier, _, end), (later, start, _) in pairwise(seen):
        if start < end:
            in_order = ", ".join(one.place for one, *_ in sorted(seen, key=lambda each: each[1]))
            return f"part of {later.place} stands before the end of {earlier.place}; seen: {in_order}"
    return None


def _span(fragment: Sentinel, prompt: str) -> tuple[int, int] | None:
    """Give where a fragment's markers begin first and where they begin last; None where none occurs."""
    first = [at for marker in fragment.markers if (at := prompt.find(marker)) >= 0]
    last = [at for marker in fragment.markers if (at := prompt.rfind(marker)) >= 0]
    return (min(first), max(last)) if first else None
