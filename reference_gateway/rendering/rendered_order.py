"""Whether a model's template renders fragments in their declared order (CMP-11, BND-2).

The declared order is all tools in array order, then all messages in array order (BND-1). Where a template, or
the engine before it, renders otherwise, or where that isn't known, state after one fragment may depend on a
later one; then one policy has to do for the whole request.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from reference_gateway.rendering.sentinels import Conversation, Sentinel, Shape, shape_of
from reference_gateway.request.intake import Fragment


class Order(StrEnum):
    """In which order a model's template renders fragments."""

    DECLARED = "declared"
    PARTLY = "partly declared"
    """Requests of some shapes in declared order, and others not."""
    OTHER = "other"
    NOT_ESTABLISHED = "not established"


@dataclass(frozen=True, slots=True)
class RenderedOrder:
    """The order of one model, and in words what it was judged from.

    `shapes` are those of the requests that are rendered in declared order; None is all there are.
    """

    order: Order
    why: str
    shapes: frozenset[Shape] | None = frozenset()

    def holds_for(self, fragments: Iterable[Fragment]) -> bool:
        """Tell whether these fragments are known to be rendered in declared order."""
        return self.shapes is None or shape_of(fragments) in self.shapes


NOT_SURVEYED: Final = RenderedOrder(Order.NOT_ESTABLISHED, "the engine has not been asked yet")


BY_CONSTRUCTION: Final = RenderedOrder(Order.DECLARED, "the gateway's own template", None)
"""The order of an engine whose template is ours: one fragment after the other, whatever they are."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """What an engine made of a conversation: the model input as text; None where it refused to render it."""

    conversation: Conversation
    prompt: str | None
    refusal: str = ""


def judge(renderings: Sequence[Rendering]) -> RenderedOrder:
    """Judge by what became of conversations of sentinels, one of each shape.

    A conversation that the engine refuses is one that it refuses from callers as well: nothing is established
    for it and nothing lost.
    """
    in_order: set[Shape] = set()
    disorder = None
    for one in renderings:
        if one.prompt is None:
            continue
        found = _disorder(one.conversation, one.prompt)
        if found is None:
            in_order.add(one.conversation.shape)
        elif disorder is None:
            disorder = f"{one.conversation.name}: {found}"
    if disorder is not None:
        return RenderedOrder(Order.PARTLY if in_order else Order.OTHER, disorder, frozenset(in_order))
    if not in_order:
        why = renderings[0].refusal if renderings else "nothing was asked"
        return RenderedOrder(Order.NOT_ESTABLISHED, f"the engine renders nothing: {why}")
    why = f"seen in {len(in_order)} of {len(renderings)} conversations"
    return RenderedOrder(Order.DECLARED, why, frozenset(in_order))


def _disorder(conversation: Conversation, prompt: str) -> str | None:
    """Say what is not in declared order.

    Not only must each fragment begin after the one before it: it must not occur again later on, since the
    state after its last word would depend on what stands between.
    """
    seen = []
    for fragment in conversation.fragments:
        span = _span(fragment, prompt)
        if span is None:
            return f"{fragment.place} does not appear in the model input"
        seen.append((fragment.place, *span))
    for (earlier, _, end), (later, start, _) in pairwise(seen):
        if start < end:
            places = ", ".join(place for place, *_ in sorted(seen, key=lambda one: one[1]))
            return f"part of {later} stands before the end of {earlier}; seen: {places}"
    return None


def _span(fragment: Sentinel, prompt: str) -> tuple[int, int] | None:
    """Give where a fragment's markers begin first and where they begin last; None where none occurs."""
    first = [at for marker in fragment.markers if (at := prompt.find(marker)) >= 0]
    last = [at for marker in fragment.markers if (at := prompt.rfind(marker)) >= 0]
    return (min(first), max(last)) if first else None
