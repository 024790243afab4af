"""Ways in which the embedded engine's approximate reuse goes wrong."""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from cctest.contract.vocabulary import Outcome, Reuse
from cctest.engine.blocks import Partition
from cctest.engine.donors import Link
from reference_gateway.plan import PlannedFragment

from . import seams
from .model import Word, fault

_STREAMED: ContextVar[bool] = ContextVar("streamed", default=False)


def edit_observations(change: Callable[[Any], Any]) -> None:
    """Change what the engine reports of a fragment."""
    seams.OBSERVE_EMBEDDED.wrap(
        lambda original: lambda self, planned, span, found: change(original(self, planned, span, found))
    )


def edit_partitions_of_donors(change: Callable[[Partition], Partition]) -> None:
    """Look for donors in another partition than the one that the reader's state is in."""

    def moved(link: Link) -> Link:
        return replace(link, terms=replace(link.terms, partition=change(link.terms.partition)))

    seams.CHAIN.wrap(lambda original: lambda lender, links: original(lender, list(map(moved, links))))


def note_streaming() -> None:
    """Remember for the engine whether the running request asks for a stream."""

    def make(original: Any) -> Any:
        async def serve(self: Any, request: Any) -> Any:
            _STREAMED.set(b'"stream": true' in await request.body())
            return await original(self, request)

        return serve

    seams.CHAT.wrap(make)


@fault(
    rules=("APX-3", "REU-2"),
    checks=("laundering#approximate-not-exact",),
    status=Word.LIES,
)
def approximate_state_comes_back_as_exact() -> None:
    """State from approximate reuse is retained as if it had been computed."""

    def make(original: Any) -> Any:
        def find(self: Any, lender: str, blocks: Any, links: Any) -> Any:
            found = original(self, lender, blocks, links)
            if found.lent:
                self._cache.publish(blocks, self._cache.lookup(blocks))
            return found

        return find

    seams.FIND.wrap(make)


@fault(
    rules=("APX-4", "STA-4"),
    checks=("laundering#approximate-reported",),
    status=Word.LIES,
    public="D21",
)
def approximate_hit_reported_as_exact() -> None:
    """Approximate reuse is reported as an exact hit."""
    edit_observations(
        lambda one: replace(one, outcome=Outcome.EXACT_HIT) if one.outcome is Outcome.APPROXIMATE_HIT else one
    )


@fault(
    rules=("APX-2", "SHR-2", "SHR-4"),
    checks=("approximate-boundary#foreigner-computes",),
    public="D12",
)
def donors_of_other_tenants() -> None:
    """Donor state is searched among everybody's."""
    edit_partitions_of_donors(
        lambda partition: replace(partition, boundary=replace(partition.boundary, coordinates=()))
    )
    seams.CHAIN.wrap(lambda original: lambda lender, links: original("anybody", links))


@fault(rules=("APX-2", "NS-1"), checks=("approximate-boundary#other-namespace-computes",), public="D14")
def donors_of_other_namespaces() -> None:
    """Donor state is searched without regard to namespaces."""
    edit_partitions_of_donors(lambda partition: replace(partition, namespace_digest=None))


@fault(
    rules=("APX-1", "FBK-1", "REU-2", "CMP-4"),
    checks=("laundering#approximate-not-exact",),
    cells=({"stream": "streamed"},),
    public="D20",
)
def exact_served_approximately_when_streamed() -> None:
    """On the path of streams a request for exact reuse is served approximately."""
    note_streaming()

    def approximated(one: PlannedFragment) -> PlannedFragment:
        if not one.terms.may_read or one.policy.reuse is Reuse.NONE:
            return replace(one, approximate=False)
        return replace(one, approximate=True, policy=replace(one.policy, reuse=Reuse.APPROXIMATE))

    def make(original: Any) -> Any:
        def links(self: Any, plan: Any, texts: Sequence[str], ends: Sequence[int]) -> Any:
            if not _STREAMED.get():
                return original(self, plan, texts, ends)
            fragments = tuple(map(approximated, plan.fragments))
            return original(self, replace(plan, fragments=fragments), texts, ends)

        return links

    seams.LINKS.wrap(make)
