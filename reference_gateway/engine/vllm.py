"""Any vLLM, or a server with the same `cache_salt`, over HTTP: one partition for each request."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

from cctest.contract.vocabulary import OnUnenforceable
from reference_gateway.backend import Forwarded, FragmentObservation, Streamed
from reference_gateway.engine.answer import LARGE as LARGE_ANSWER
from reference_gateway.engine.answer import Usage, read_chunks, read_completion
from reference_gateway.engine.failure import no_completion
from reference_gateway.engine.forwarding import forwarded_body
from reference_gateway.engine.orders import Orders
from reference_gateway.engine.relay import relay
from reference_gateway.engine.upstream import EngineExchange, Upstream
from reference_gateway.engine.usage import observe, read_count
from reference_gateway.lowering.lowering import Lowered, Lowering
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
    `model` is the only one to serve; None serves all that the engine has.
    """

    def __init__(
        self,
        upstream: Upstream,
        lowering: Lowering,
        *,
        model: str | None = None,
        block_size: int | None = None,
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
        self.capabilities: Final = lowering.capabilities(on_unenforceable)

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
                refreshing.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await refreshing

    async def serve(self, plan: Plan) -> Forwarded | Streamed:
        """Forward a request in its partition, for as long as the deadline lets it live."""
        ends_at = asyncio.get_running_loop().time() + self._upstream.deadline
        lowered = self._lowering.lower(plan)
        text, stream = plan.request.text, plan.request.stream
        if len(text) < LARGE:
            body = forwarded_body(text, lowered.salt, stream=stream)
        else:
            body = await asyncio.to_thread(forwarded_body, text, lowered.salt, stream=stream)
        exchange = await self._upstream.chat(body, lowered.salt, ends_at)
        try:
            if stream:
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

    def observe(self, plan: Plan, lowered: Lowered, told: Usage) -> tuple[FragmentObservation, ...]:
        """Tell what became of each fragment, from the usage that the engine told."""
        return observe(plan, lowered, read_count(told), self._block_size)

    async def _streamed(self, plan: Plan, lowered: Lowered, exchange: EngineExchange) -> Streamed:
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
            await self._orders.refresh(self.models)
        else:
            self._orders.forget()

    async def _keep_refreshing(self) -> None:
        while True:
            await asyncio.sleep(_REFRESH_SECONDS if self.ready else _RETRY_SECONDS)
            await self._refresh()


async def _to_its_end(
    relayed: AsyncIterator[list[str | Forwarded]], exchange: EngineExchange
) -> AsyncIterator[list[str | Forwarded]]:
    try:
        async for one in relayed:
            yield one
        await exchange.finish()
    finally:
        exchange.close()
