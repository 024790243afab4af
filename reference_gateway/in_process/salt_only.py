"""A model of an engine that has one partition per request and nothing else, as vLLM's `cache_salt` is.

It takes the same lowering as the real thing and tells no more than that does: one count of tokens. What the
gateway makes of it is a prediction, to be held against a real engine point by point.
"""

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final

from cctest.contract.sharing import Boundary
from cctest.contract.vocabulary import OnUnenforceable, Scope
from cctest.engine.blocks import Partition, Segment, Terms, cut
from cctest.engine.cache import BlockCache
from reference_gateway.backend import Served
from reference_gateway.engine.usage import Count, observe
from reference_gateway.in_process.computation import LARGE, answer, render_all, tokenize_all
from reference_gateway.in_process.render import ANSWER_PROMPT
from reference_gateway.lowering.lowering import Lowered, Lowering
from reference_gateway.plan import Plan
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION, RenderedOrder

MODEL: Final = "salt-only"

_ANYBODY: Final = Terms(Partition(Boundary(Scope.PUBLIC, ()), None), may_read=True, may_retain=True)
"""The engine itself knows nothing of policies: whoever has the salt may read."""


class SaltOnlyBackend:
    """An engine in this process. `block_size` is in tokens; `clock` gives monotonic nanoseconds."""

    def __init__(
        self,
        lowering: Lowering,
        *,
        block_size: int = 16,
        capacity_blocks: int = 65_536,
        on_unenforceable: OnUnenforceable = OnUnenforceable.BYPASS,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._lowering = lowering
        self._block_size = block_size
        self._cache = BlockCache(capacity_blocks, clock)
        self._lock = threading.Lock()
        self.models: Final = (MODEL,)
        self.ready: Final = True
        self.capabilities: Final = lowering.capabilities(on_unenforceable)

    def order(self, _: str) -> RenderedOrder:
        """Tell the order of our own template."""
        return BY_CONSTRUCTION

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep up nothing: it is in this process."""
        return nullcontext()

    async def serve(self, plan: Plan) -> Served:
        """Serve a plan in its partition; a long one in a thread of its own."""
        lowered = self._lowering.lower(plan)
        texts = render_all(plan)
        if sum(map(len, texts)) < LARGE:
            return self._compute(plan, lowered, texts)
        return await asyncio.to_thread(self._compute, plan, lowered, texts)

    def _compute(self, plan: Plan, lowered: Lowered, texts: Sequence[str]) -> Served:
        tokens = [token for own in tokenize_all(texts) for token in own]
        root = hashlib.sha256(f"{plan.request.model}\0{lowered.salt or ''}".encode()).digest()
        blocks = cut([Segment(tokens, _ANYBODY)], self._block_size, root)
        with self._lock:
            reused = self._cache.lookup(blocks)
            self._cache.publish(blocks, reused)
        cached = reused.blocks * self._block_size
        count = Count(len(tokens) + len(ANSWER_PROMPT), cached)
        return answer(plan, len(tokens), cached, observe(plan, lowered, count, self._block_size))
