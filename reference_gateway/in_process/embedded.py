"""The embedded engine: no language model, but a real prefix cache that enforces all of version 1."""

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from itertools import accumulate, pairwise, takewhile
from typing import Final

from cctest.contract.capabilities import Capabilities
from cctest.contract.vocabulary import OnUnenforceable, Outcome, RetentionMode, Reuse, Scope
from cctest.engine.blocks import Block, Segment, cut
from cctest.engine.cache import BlockCache, Reused
from cctest.engine.donors import Donor, Donors, Link
from reference_gateway.backend import FragmentObservation, Served
from reference_gateway.in_process.computation import LARGE, answer, render_all, tokenize_all
from reference_gateway.in_process.similarity import OTHER_WORDS, SimilarityClass, but_for_first_words
from reference_gateway.plan import Plan, PlannedFragment
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION, RenderedOrder

MODEL: Final = "embedded"
DEFAULT_SIMILARITY: Final = but_for_first_words(OTHER_WORDS)


@dataclass(frozen=True, slots=True)
class _Found:
    """What became of one input: `read` and `retained` tokens of exact state, and what was lent.

    `lent` tokens from the start were taken from similar input, `offered` ones may be taken from this one.
    """

    read: int
    retained: int
    lent: int = 0
    offered: int = 0


@dataclass(frozen=True, slots=True)
class _Similar:
    """The leading fragments whose state similar input may `lend`, and whether this one may `borrow` it.

    The answer, and the state after the last fragment, depend on whatever is borrowed (CMP-1): all fragments
    have to permit it (APX-1). What is computed for the leading ones may be lent to others all the same.
    """

    lend: Sequence[Link]
    borrow: bool


class EmbeddedBackend:
    """An engine in this process.

    `block_size` is in tokens, `reuse_within_max` in seconds; `clock` gives monotonic nanoseconds.
    `similarity` says which fragments are similar; None leaves approximate reuse out. `capacity_blocks` bounds
    the exact state and the donors alike.
    """

    def __init__(
        self,
        *,
        block_size: int = 16,
        capacity_blocks: int = 65_536,
        reuse_within_max: int = 3600,
        on_unenforceable: OnUnenforceable = OnUnenforceable.BYPASS,
        similarity: SimilarityClass | None = DEFAULT_SIMILARITY,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._block_size = block_size
        self._cache = BlockCache(capacity_blocks, clock)
        self._donors = Donors(capacity_blocks)
        self._similarity = similarity
        self._lock = threading.Lock()
        self._root = hashlib.sha256(f"{MODEL}:{block_size}".encode()).digest()
        self.models: Final = (MODEL,)
        self.ready: Final = True
        self.capabilities: Final = Capabilities(
            versions=(1,),
            retention_modes=tuple(RetentionMode),
            retention_max_age=True,
            reuse=tuple(Reuse) if similarity else (Reuse.NONE, Reuse.EXACT),
            share_max=tuple(Scope),
            namespace=True,
            on_unenforceable=on_unenforceable,
            status=True,
            per_fragment_share=True,
            hints={"reuse_within_max": reuse_within_max},
        )

    def order(self, _: str) -> RenderedOrder:
        """Tell the order of our own template."""
        return BY_CONSTRUCTION

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep up nothing: it is in this process."""
        return nullcontext()

    async def serve(self, plan: Plan) -> Served:
        """Serve a plan; a long one in a thread of its own."""
        texts = render_all(plan)
        if sum(map(len, texts)) < LARGE:
            return self.compute(plan, texts)
        return await asyncio.to_thread(self.compute, plan, texts)

    def compute(self, plan: Plan, texts: Sequence[str]) -> Served:
        """Serve a plan whose fragments are rendered as `texts`, from any thread."""
        tokens = tokenize_all(texts)
        segments = [Segment(own, planned.terms) for own, planned in zip(tokens, plan.fragments, strict=True)]
        ends = list(accumulate(map(len, tokens)))
        blocks = cut(segments, self._block_size, self._root)
        links = self._links(plan, texts, ends)
        with self._lock:
            found = self._find(plan.caller.tenant, blocks, links)
        spans = pairwise([0, *ends])
        return answer(
            plan,
            ends[-1],
            max(found.read, found.lent),
            tuple(
                self._observe(planned, span, found)
                for planned, span in zip(plan.fragments, spans, strict=True)
            ),
        )

    def _links(self, plan: Plan, texts: Sequence[str], ends: Sequence[int]) -> _Similar:
        """Give the leading fragments whose state may be lent."""
        if self._similarity is None:
            return _Similar((), borrow=False)
        placed = zip(plan.fragments, texts, ends, strict=True)
        links = [
            Link(self._similarity(text), end, planned.terms)
            for planned, text, end in takewhile(lambda one: one[0].approximate, placed)
        ]
        return _Similar(links, borrow=plan.fragments[-1].policy.reuse is Reuse.APPROXIMATE)

    def _find(self, lender: str, blocks: Sequence[Block], links: _Similar) -> _Found:
        """Read what there is, compute the rest, and retain what may be retained.

        What is computed after lent state depends on it, and is never retained as exact (APX-3).
        """
        reused = self._cache.lookup(blocks)
        read = reused.blocks * self._block_size
        lend = links.lend
        # A donor has to bring a whole block more than what is there exactly.
        beyond = read + self._block_size - 1
        loan = self._donors.find(lender, lend, beyond, reused.at) if links.borrow else None
        retained = read if loan else self._cache.publish(blocks, reused) * self._block_size
        source = _joined(loan.donor, reused) if loan else _computed(reused)
        offered = self._donors.lend(lender, lend, source, reused.at)
        return _Found(
            read,
            retained,
            lent=lend[loan.fragments - 1].end if loan else 0,
            offered=lend[offered - 1].end if offered else 0,
        )

    def _observe(self, planned: PlannedFragment, span: tuple[int, int], found: _Found) -> FragmentObservation:
        """Tell what became of the fragment with the tokens `span`."""
        terms = planned.terms
        start, end = span
        outcome = Outcome.BYPASS
        if terms.may_read:
            if self._is_hit(found.read, span):
                outcome = Outcome.EXACT_HIT
            else:
                outcome = Outcome.APPROXIMATE_HIT if end <= found.lent else Outcome.MISS
        return FragmentObservation(
            outcome=outcome,
            retained=terms.may_retain and (found.retained > start or end <= found.offered),
            share=terms.partition.boundary.scope,
        )

    def _is_hit(self, read: int, span: tuple[int, int]) -> bool:
        """Tell whether a fragment counts as reused (READ-30).

        It does if all of it was read; or all full blocks up to its end, being at least a block's worth of it.
        A block that it shares with its successor depends on that one too and is judged as the successor's.
        Without the block's worth, a new message would be a hit for the template's own words at its head.
        """
        start, end = span
        whole_blocks = read >= end - end % self._block_size and read - start >= self._block_size
        return read >= end or whole_blocks


def _computed(reused: Reused) -> Donor:
    """Describe exact state: what was read of it may be older than what was computed."""
    oldest = reused.at if reused.oldest is None else reused.oldest
    return Donor(oldest, reused.expires_at, approximate=False)


def _joined(donor: Donor, reused: Reused) -> Donor:
    """Describe state that depends on a donor's and on what was read: it ends with the first of them."""
    exact = _computed(reused)
    ends = [end for end in (donor.expires_at, exact.expires_at) if end is not None]
    oldest = min(donor.materialized_at, exact.materialized_at)
    return Donor(oldest, min(ends, default=None), approximate=True)
