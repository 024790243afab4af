"""Any vLLM, or a server with the same `cache_salt`: one partition for each request, and no bound on age.

The salt of a request is that of the composition of all its fragments (BND-10). What became of a fragment is
told from the engine's token counts as far as they prove it: see `usage`. That state is retained is told only
where it was found: of what was computed nobody learns whether the engine kept it.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Final

import aiohttp

from cctest.contract.capabilities import Capabilities
from cctest.contract.vocabulary import OnUnenforceable, Outcome, RetentionMode, Reuse, Scope
from reference_gateway import usage
from reference_gateway.backend import Forwarded, FragmentObservation, Streamed
from reference_gateway.engine_answer import Usage, read_chunks, read_completion
from reference_gateway.engine_failure import no_completion
from reference_gateway.forwarding import forwarded_body
from reference_gateway.plan import Plan
from reference_gateway.relay import relay
from reference_gateway.salt import Salts
from reference_gateway.upstream import Upstream, finish, read_answer, read_pieces

LARGE: Final = 16_384
"""A body of so many characters is changed off the event loop."""

_RETRY_SECONDS: Final = 0.5
_REFRESH_SECONDS: Final = 10.0


class WithoutIntent(StrEnum):
    """The partition of a request without any intent (READ-18).

    A fragment without an intent in a request that has some is the tenant's, either way.
    """

    TENANT = "tenant"
    ENGINE_DEFAULT = "engine-default"
    """That of everybody who says nothing, as without a gateway (INT-3)."""


class VllmBackend:
    """An engine behind HTTP. `block_size` is its block's, in tokens; a smaller number only claims less."""

    def __init__(
        self,
        upstream: Upstream,
        salts: Salts,
        *,
        block_size: int = 16,
        without_intent: WithoutIntent = WithoutIntent.TENANT,
        on_unenforceable: OnUnenforceable = OnUnenforceable.BYPASS,
    ) -> None:
        self._upstream = upstream
        self._salts = salts
        self._block_size = block_size
        self._without_intent = without_intent
        self.models: tuple[str, ...] = ()
        self.ready = False
        self.capabilities: Final = Capabilities(
            versions=(1,),
            retention_modes=tuple(RetentionMode),
            reuse=(Reuse.NONE, Reuse.EXACT),
            share_max=tuple(Scope),
            namespace=True,
            on_unenforceable=on_unenforceable,
            status=True,
            per_fragment_share=False,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep connections, and the list of models up to date. An engine that isn't up yet may come later."""
        async with self._upstream.connected():
            await self._refresh()
            if not self.ready:
                print(f"reference-gateway: no models from {self._upstream.url} yet", file=sys.stderr)
            refreshing = asyncio.create_task(self._keep_refreshing())
            try:
                yield
            finally:
                refreshing.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await refreshing

    async def serve(self, plan: Plan) -> Forwarded | Streamed:
        """Forward a request in its partition."""
        salt = self._salt(plan)
        text, stream = plan.request.text, plan.request.stream
        if len(text) < LARGE:
            body = forwarded_body(text, salt, stream=stream)
        else:
            body = await asyncio.to_thread(forwarded_body, text, salt, stream=stream)
        response = await self._upstream.chat(body, salt)
        try:
            if stream:
                return await self._streamed(plan, response)
            text, told = read_completion(await read_answer(response))
            return Forwarded(text, self.observe(plan, told))
        except BaseException:
            response.close()
            raise

    def observe(self, plan: Plan, told: Usage) -> tuple[FragmentObservation, ...]:
        """Tell what became of each fragment, from the usage that the engine told."""
        terms = plan.fragments[-1].terms
        if not terms.may_read:
            return (FragmentObservation(Outcome.BYPASS, retained=False, share=Scope.REQUEST),) * len(
                plan.fragments
            )
        # The count for several answers includes what they read of one another's.
        count = usage.read_count(told) if plan.request.choices == 1 else None
        outcomes = [
            usage.outcome(count, usage.own_bytes(one.fragment), self._block_size) for one in plan.fragments
        ]
        return tuple(
            FragmentObservation(
                outcome,
                retained=True if outcome is Outcome.EXACT_HIT else None,
                share=terms.partition.boundary.scope,
            )
            for outcome in outcomes
        )

    def _salt(self, plan: Plan) -> str | None:
        terms = plan.fragments[-1].terms
        if not plan.governed and self._without_intent is WithoutIntent.ENGINE_DEFAULT:
            return None
        if not terms.may_read:
            return self._salts.fresh()
        return self._salts.shared(terms.partition, plan.request.model)

    async def _streamed(self, plan: Plan, response: aiohttp.ClientResponse) -> Streamed:
        """Wait for the first chunk: until then, a failure can still be told by the status."""
        chunks = read_chunks(read_pieces(response))
        first = await anext(chunks, None)
        if first is None:
            raise no_completion()
        relayed = relay(
            first,
            chunks,
            lambda told: self.observe(plan, told),
            include_usage=plan.request.include_usage,
        )
        return Streamed(_to_its_end(relayed, response), response.close)

    async def _refresh(self) -> None:
        models = await self._upstream.models()
        self.ready = models is not None
        self.models = models or self.models

    async def _keep_refreshing(self) -> None:
        while True:
            await asyncio.sleep(_REFRESH_SECONDS if self.ready else _RETRY_SECONDS)
            await self._refresh()


async def _to_its_end(
    relayed: AsyncIterator[str | Forwarded], response: aiohttp.ClientResponse
) -> AsyncIterator[str | Forwarded]:
    try:
        async for one in relayed:
            yield one
        await finish(response)
    finally:
        response.close()
