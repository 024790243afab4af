"""Any vLLM, or a server with the same `cache_salt`, over HTTP: one partition for each request.

With our plugin in the engine there may be several, one after the other: see `regions`.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from cctest.contract.capabilities import Capabilities
from cctest.contract.vocabulary import OnUnenforceable
from reference_gateway.backend import Forwarded, FragmentObservation, Streamed
from reference_gateway.engine.answer import LARGE as LARGE_ANSWER
from reference_gateway.engine.answer import Usage, read_chunks, read_completion
from reference_gateway.engine.failure import no_completion
from reference_gateway.engine.forwarding import forwarded_body
from reference_gateway.engine.orders import Orders
from reference_gateway.engine.region_usage import observe_regions
from reference_gateway.engine.regions import Regions
from reference_gateway.engine.relay import relay
from reference_gateway.engine.upstream import EngineExchange, Upstream
from reference_gateway.engine.usage import observe, read_count
from reference_gateway.lowering.lowering import Lowered, Lowering
from reference_gateway.lowering.regions import InRegions, RegionLowering, spelt
from reference_gateway.notice import say
from reference_gateway.plan import Plan
from reference_gateway.rendering.rendered_order import RenderedOrder

LARGE: Final = 16_384
"""A body of so many characters is changed off the event loop."""
BLOCK_SIZE: Final = 16
"""Tokens in a block of an engine that doesn't tell."""

_RETRY_SECONDS: Final = 0.5
_REFRESH_SECONDS: Final = 10.0


class VllmBackend:
    """An engine behind HTTP.

    `block_size` is its block's, in tokens; None asks the engine. With a smaller number less is claimed.
    `model` is the only one to serve; None serves all that the engine has. `regions` lowers to regions where
    the engine has them in force; None never does.
    """

    def __init__(
        self,
        upstream: Upstream,
        lowering: Lowering,
        *,
        model: str | None = None,
        block_size: int | None = None,
        regions: RegionLowering | None = None,
        on_unenforceable: OnUnenforceable = OnUnenforceable.BYPASS,
    ) -> None:
        self._upstream = upstream
        self._lowering = lowering
        self._model = model
        self._told_block_size = block_size
        self._block_size = block_size or BLOCK_SIZE
        self.models: tuple[str, ...] = ()
        self.ready = False
        self._orders = Orders(upstream)
        self._flat_capabilities: Final = lowering.capabilities(on_unenforceable)
        self._regions = None if regions is None else Regions(upstream, regions, on_unenforceable)

    @property
    def capabilities(self) -> Capabilities:
        """What is enforced now: more where regions are in force."""
        more = None if self._regions is None else self._regions.capabilities
        return self._flat_capabilities if more is None else more

    def order(self, model: str) -> RenderedOrder:
        """Tell what the last survey of a model's template showed."""
        return self._orders.of(model)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep connections, and the list of models up to date. An engine that isn't up yet may come later."""
        async with self._upstream.connected():
            await self._refresh()
            if not self.ready:
                say(f"no models from {self._upstream.url} yet")
            refreshing = asyncio.create_task(self._keep_refreshing())
            try:
                yield
            finally:
                if self._regions is not None:
                    self._regions.close()
                refreshing.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await refreshing

    async def serve(self, plan: Plan) -> Forwarded | Streamed:
        """Forward a request in its partition, for as long as the deadline lets it live."""
        ends_at = asyncio.get_running_loop().time() + self._upstream.deadline
        lowered = await self._lower(plan, ends_at)
        exchange = await self._upstream.chat(await _body(plan, lowered), _salts(lowered), ends_at)
        try:
            if plan.request.stream:
                return await self._streamed(plan, lowered, exchange)
            answer = await exchange.answer()
            if len(answer) < LARGE_ANSWER:
                text, told = read_completion(answer)
            else:
                text, told = await asyncio.to_thread(read_completion, answer)
        except BaseException:
            exchange.close()
            raise
        exchange.close()
        return Forwarded(text, self.observe(plan, lowered, told))

    async def _lower(self, plan: Plan, ends_at: float) -> Lowered | InRegions:
        in_regions = None if self._regions is None else await self._regions.lower(plan, ends_at)
        return self._lowering.lower(plan) if in_regions is None else in_regions

    def observe(
        self, plan: Plan, lowered: Lowered | InRegions, told: Usage
    ) -> tuple[FragmentObservation, ...]:
        """Tell what became of each fragment, from the usage that the engine told."""
        if isinstance(lowered, InRegions):
            return observe_regions(plan, lowered, read_count(told))
        return observe(plan, lowered, read_count(told), self._block_size)

    async def _streamed(self, plan: Plan, lowered: Lowered | InRegions, exchange: EngineExchange) -> Streamed:
        """Wait for the first chunk: until then, a failure can still be told by the status."""
        chunks = read_chunks(exchange.pieces())
        first = await anext(chunks, None)
        if first is None:
            raise no_completion()
        relayed = relay(
            first,
            chunks,
            lambda told: self.observe(plan, lowered, told),
            include_usage=plan.request.include_usage,
        )
        return Streamed(_to_its_end(relayed, exchange), exchange.close)

    async def _refresh(self) -> None:
        models = await self._upstream.models()
        if models is not None and self._model is not None:
            models = tuple(name for name in models if name == self._model) or None
        self.ready = models is not None
        self.models = models or self.models
        if self.ready and self._told_block_size is None:
            self._block_size = await self._upstream.block_size() or self._block_size
        if self.ready:
            await self._refresh_what_is_known()
        else:
            self._orders.forget()
            if self._regions is not None:
                self._regions.away()

    async def _refresh_what_is_known(self) -> None:
        if self._regions is None:
            await self._orders.refresh(self.models)
            return
        if await self._regions.look():
            self._orders.forget()
        await self._orders.refresh(self.models)
        await self._regions.settle(self.models)

    async def _keep_refreshing(self) -> None:
        while True:
            await self._next_refresh(_REFRESH_SECONDS if self.ready else _RETRY_SECONDS)
            await self._refresh()

    async def _next_refresh(self, seconds: float) -> None:
        """Wait so long or, where the engine may have been started anew, a moment."""
        await asyncio.sleep(_RETRY_SECONDS)
        if self._regions is None:
            await asyncio.sleep(seconds - _RETRY_SECONDS)
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._regions.doubted.wait(), seconds - _RETRY_SECONDS)


async def _body(plan: Plan, lowered: Lowered | InRegions) -> bytes:
    """Make the engine's body, off the event loop if it is large."""
    request = plan.request
    salt, regions = lowered.salt if isinstance(lowered, Lowered) else lowered.flat.salt, None
    if isinstance(lowered, InRegions):
        regions = spelt(lowered)
    if len(request.text) < LARGE:
        return forwarded_body(request.text, salt, stream=request.stream, regions=regions)
    return await asyncio.to_thread(forwarded_body, request.text, salt, stream=request.stream, regions=regions)


def _salts(lowered: Lowered | InRegions) -> tuple[str, ...]:
    if isinstance(lowered, InRegions):
        return lowered.salts
    return () if lowered.salt is None else (lowered.salt,)


async def _to_its_end(
    relayed: AsyncIterator[list[str | Forwarded]], exchange: EngineExchange
) -> AsyncIterator[list[str | Forwarded]]:
    try:
        async for one in relayed:
            yield one
        await exchange.finish()
    finally:
        exchange.close()
