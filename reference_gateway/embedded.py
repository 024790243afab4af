"""The embedded engine: no language model, but a real prefix cache that enforces all of version 1.

Its answer is a fixed sentence with a mark that is drawn anew for each computation, so that an answer
that was replayed would show.
"""

import asyncio
import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from itertools import accumulate, pairwise
from typing import Final

from cctest.contract.capabilities import Capabilities
from cctest.contract.vocabulary import OnUnenforceable, Outcome, RetentionMode, Reuse, Scope
from cctest.engine.blocks import Segment, cut
from cctest.engine.cache import BlockCache
from reference_gateway.backend import FragmentObservation, Served
from reference_gateway.plan import Plan, PlannedFragment
from reference_gateway.render import ANSWER_PROMPT, render, tokenize

MODEL: Final = "embedded"
SENTENCE: Final = "No language model runs here: this sentence is the same for every request."
LARGE: Final = 16_384
"""Model input of so many characters is computed off the event loop."""


class EmbeddedBackend:
    """An engine in this process.

    `block_size` is in tokens, `reuse_within_max` in seconds; `clock` gives monotonic nanoseconds.
    """

    def __init__(
        self,
        *,
        block_size: int = 16,
        capacity_blocks: int = 65_536,
        reuse_within_max: int = 3600,
        on_unenforceable: OnUnenforceable = OnUnenforceable.BYPASS,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._block_size = block_size
        self._cache = BlockCache(capacity_blocks, clock)
        self._lock = threading.Lock()
        self._root = hashlib.sha256(f"{MODEL}:{block_size}".encode()).digest()
        self.models: Final = (MODEL,)
        self.ready: Final = True
        self.capabilities: Final = Capabilities(
            versions=(1,),
            retention_modes=tuple(RetentionMode),
            retention_max_age=True,
            reuse=(Reuse.NONE, Reuse.EXACT),
            share_max=tuple(Scope),
            namespace=True,
            on_unenforceable=on_unenforceable,
            status=True,
            per_fragment_share=True,
            hints={"reuse_within_max": reuse_within_max},
        )

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep up nothing: it is in this process."""
        return nullcontext()

    async def serve(self, plan: Plan) -> Served:
        """Serve a plan; a long one in a thread of its own."""
        texts = [render(planned.fragment) for planned in plan.fragments]
        if sum(map(len, texts)) < LARGE:
            return self.compute(plan, texts)
        return await asyncio.to_thread(self.compute, plan, texts)

    def compute(self, plan: Plan, texts: Sequence[str]) -> Served:
        """Serve a plan whose fragments are rendered as `texts`, from any thread."""
        segments = [
            Segment(tokenize(text), planned.terms)
            for text, planned in zip(texts, plan.fragments, strict=True)
        ]
        blocks = cut(segments, self._block_size, self._root)
        with self._lock:
            reused = self._cache.lookup(blocks)
            retained = self._cache.publish(blocks, reused)
        answers = tuple(f"{SENTENCE} canary={secrets.token_hex(16)}" for _ in range(plan.request.choices))
        ends = [0, *accumulate(len(segment.tokens) for segment in segments)]
        return Served(
            answers=answers,
            prompt_tokens=ends[-1] + len(ANSWER_PROMPT),
            completion_tokens=sum(len(tokenize(answer)) for answer in answers),
            cached_tokens=reused.blocks * self._block_size,
            fragments=tuple(
                self._observe(planned, span, reused.blocks, retained)
                for planned, span in zip(plan.fragments, pairwise(ends), strict=True)
            ),
        )

    def _observe(
        self, planned: PlannedFragment, span: tuple[int, int], reused: int, retained: int
    ) -> FragmentObservation:
        """Tell what became of the fragment with the tokens `span`; the counts are of leading blocks."""
        terms = planned.terms
        outcome = Outcome.BYPASS
        if terms.may_read:
            outcome = Outcome.EXACT_HIT if self._is_hit(reused, span) else Outcome.MISS
        return FragmentObservation(
            outcome=outcome,
            retained=terms.may_retain and retained * self._block_size > span[0],
            share=terms.partition.boundary.scope,
        )

    def _is_hit(self, reused: int, span: tuple[int, int]) -> bool:
        """Tell whether a fragment counts as reused (READ-30).

        It does if all of it was read; or all full blocks up to its end, being at least a block's worth of it.
        A block that it shares with its successor depends on that one too and is judged as the successor's.
        Without the block's worth, a new message would be a hit for the template's own words at its head.
        """
        start, end = span
        read = reused * self._block_size
        whole_blocks = read >= end - end % self._block_size and read - start >= self._block_size
        return read >= end or whole_blocks
