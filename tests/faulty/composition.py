"""Faults of composition: what several fragments make of each other, and the order they are taken in."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cctest.contract.composition import NO_POLICY
from cctest.contract.intent import Constraints
from cctest.contract.vocabulary import Scope
from cctest.engine.blocks import Segment
from reference_gateway.plan import WITHOUT_INTENT
from reference_gateway.request.intake import ChatRequest, Fragment, Kind

from . import edits, seams
from .model import Word, fault

_EVERYTHING = ("CMP-1", "CMP-2", "CMP-3", "CMP-4", "CMP-5", "RET-1", "RET-3", "STA-7", "NS-1", "DIG-1")
"""What one policy for all fragments breaks, whichever it is."""


def _govern_all(choose: Callable[[Sequence[Constraints]], Constraints]) -> None:
    """Serve every fragment of a request under one and the same policy, those without intent too."""

    def governed(request: ChatRequest) -> ChatRequest:
        stated = [fragment.intent for fragment in request.fragments if fragment.intent]
        if not stated:
            return request
        chosen = choose([intent.constraints for intent in stated])
        return replace(
            request,
            fragments=tuple(
                replace(one, intent=replace(one.intent, constraints=chosen)) if one.intent else one
                for one in request.fragments
            ),
        )

    edits.default_scope(Scope.PUBLIC)
    edits.edit_request(governed)


@fault(
    rules=("CMP-5", "CMP-1", "CMP-8", "SHR-2", "STA-7", "POL-2"),
    checks=(
        "public-then-tenant#tenant-part-computed",
        "tenant-then-public#first-computed",
        "tenant-then-public#share-not-wider",
    ),
)
def widest_boundary_wins() -> None:
    """The widest of a request's boundaries holds for all of it."""
    edits.widest_boundary()


@fault(
    rules=(*_EVERYTHING, "SHR-2", "STA-4"),
    checks=("public-then-tenant#tenant-part-computed", "forbid-last#forbidden-part-computed"),
)
def first_intent_governs_all() -> None:
    """The first intent of a request is the policy of all of it, so that a hit is told of what must be fresh."""
    _govern_all(lambda stated: stated[0])


@fault(
    rules=("CAP-6", *_EVERYTHING, "CMP-8", "REU-1", "POL-2"),
    checks=("tenant-then-public#first-computed", "tenant-then-public#second-computed"),
)
def last_intent_governs_all() -> None:
    """The last intent of a request is the policy of all of it, and relaxes what it should inherit."""
    _govern_all(lambda stated: stated[-1])


@fault(
    rules=("CMP-6", "SHR-3", "SHR-2", "POL-2"),
    checks=("no-policy-is-not-public#silent-part-computed",),
)
def silence_at_the_start_is_for_everybody() -> None:
    """What nobody has spoken for yet is kept for every tenant; what is spoken for is not."""

    def make(add: Any) -> Any:
        def composed(self: Any, constraints: Constraints) -> Any:
            silent = constraints is WITHOUT_INTENT and self.policy is NO_POLICY
            return add(self, _public(constraints) if silent else constraints)

        return composed

    seams.COMPOSE.wrap(make)


@fault(
    rules=("CMP-6", "SHR-3", "SHR-2"),
    checks=("no-policy-is-not-public#spoken-part-computed",),
)
def no_policy_is_the_widest() -> None:
    """A request that begins without any policy is public, and stays so."""

    def opened(request: ChatRequest) -> ChatRequest:
        if request.fragments[0].intent or not any(one.intent for one in request.fragments):
            return request
        public = [
            replace(one, intent=replace(one.intent, constraints=_public(one.intent.constraints)))
            if one.intent
            else one
            for one in request.fragments
        ]
        return replace(request, fragments=tuple(public))

    edits.default_scope(Scope.PUBLIC)
    edits.edit_request(opened)


def _public(stated: Constraints) -> Constraints:
    return replace(stated, share_max=Scope.PUBLIC)


@fault(
    rules=("CMP-10", "CMP-5", "CMP-8", "CMP-1", "SHR-2"),
    checks=("tenant-then-public#first-computed",),
    public="D33",
)
def public_text_moved_to_the_front() -> None:
    """Public messages are rendered before the others, so that more state can be shared."""

    def is_public(fragment: Fragment) -> bool:
        return fragment.intent is not None and fragment.intent.constraints.share_max is Scope.PUBLIC

    def moved(request: ChatRequest) -> ChatRequest:
        ordered = sorted(request.fragments, key=lambda fragment: not is_public(fragment))
        return replace(request, fragments=tuple(ordered))

    edits.edit_request(moved)


@fault(
    rules=("CMP-10", "SHR-2", "STA-2", "STA-3", "STA-6", "REU-1", "REU-2", *_EVERYTHING),
    checks=("order-kept#swapped-computed",),
    status=Word.LIES,
    cells=({"place": "tools"},),
    public="D34",
)
def tools_sorted_by_name() -> None:
    """Tools pass through a map that is ordered by their names, so that any order is the same input."""

    def by_name(fragment: Fragment) -> tuple[bool, str]:
        function: Any = fragment.value.get("function")
        return fragment.kind is not Kind.TOOL, str(function["name"]) if function else ""

    def ordered(request: ChatRequest) -> ChatRequest:
        tools = [one for one in request.fragments if one.kind is Kind.TOOL]
        others = [one for one in request.fragments if one.kind is not Kind.TOOL]
        return replace(request, fragments=(*sorted(tools, key=by_name), *others))

    edits.edit_request(ordered)


@fault(
    rules=("BND-10", "CAP-6", "CMP-1", "CMP-5", "SHR-2", "STA-7"),
    checks=("public-then-tenant#tenant-part-computed",),
)
def one_partition_by_the_first_boundary() -> None:
    """The engine has one partition per request, and it is that of the first boundary, not the narrowest."""

    def first(stated: Sequence[Constraints]) -> Callable[[Constraints], Constraints]:
        return lambda one: replace(one, share_max=stated[0].share_max)

    edits.default_scope(Scope.PUBLIC)
    edits.edit_all_constraints(first)
    edits.edit_capabilities(per_fragment_share=False)


@fault(
    rules=("CMP-1", "RET-1", "CMP-5", "CMP-2", "CMP-4", "CMP-3", "NS-1"),
    checks=("forbid-behind-few-words#none-of-it-read",),
)
def blocks_are_governed_by_their_first_token() -> None:
    """A block that spans fragments is kept under the policy of the fragment in which it begins."""

    def make(cut: Any) -> Any:
        def by_first(segments: Any, block_size: int, root: bytes) -> Any:
            placed = [(token, one.terms) for one in segments for token in one.tokens]
            blocks = [placed[start : start + block_size] for start in range(0, len(placed), block_size)]
            whole = [Segment([token for token, _ in block], block[0][1]) for block in blocks]
            return cut(whole, block_size, root)

        return by_first

    seams.CUT.wrap(make)
