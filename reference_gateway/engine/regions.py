"""Regions of the prompt on one engine: whether they are in force, and what of a request they make.

Any doubt means one salt for the whole request, as without regions.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from cctest.contract.capabilities import Capabilities
from cctest.contract.vocabulary import OnUnenforceable
from reference_gateway.engine.boundaries import Boundaries
from reference_gateway.engine.region_check import RegionCheck
from reference_gateway.engine.upstream import Upstream
from reference_gateway.lowering.regions import InRegions, RegionLowering
from reference_gateway.plan import Plan


class Regions:
    """The regions of one engine."""

    def __init__(
        self, upstream: Upstream, lowering: RegionLowering, on_unenforceable: OnUnenforceable
    ) -> None:
        self._lowering = lowering
        self._check = RegionCheck(upstream)
        self._boundaries = Boundaries(upstream)
        self._capabilities: Final = lowering.capabilities(on_unenforceable)
        self.doubted = asyncio.Event()
        """Set where the engine should be asked again soon."""
        upstream.when_broken(self._doubt)

    @property
    def capabilities(self) -> Capabilities | None:
        """What can be enforced; None while regions aren't in force."""
        return None if self._check.in_force is None else self._capabilities

    def away(self) -> None:
        """Take note that the engine is away."""
        self._check.away()
        self._boundaries.forget()

    def close(self) -> None:
        """Ask nothing any more."""
        self._boundaries.forget()

    async def look(self) -> bool:
        """Ask the engine's plugin. True if it tells of a start of the engine that is news."""
        self.doubted.clear()
        return await self._check.look()

    async def settle(self, models: Sequence[str]) -> None:
        """After `look`: have them in force, if they are. What was known of another engine is forgotten."""
        before = self._check.in_force
        await self._check.settle(models)
        if before is None or self._check.in_force != before:
            self._boundaries.forget()

    async def lower(self, plan: Plan, ends_at: float) -> InRegions | None:
        """Lower a plan to regions; None where one salt is all that is possible, or all that is needed.

        `ends_at` is the instant of the event loop's clock at which the request's time is up.
        """
        engine = self._check.in_force
        groups = () if engine is None else self._lowering.groups(plan)
        if engine is None or not groups:
            return None
        left = ends_at - asyncio.get_running_loop().time()
        boundaries = await self._boundaries.after(plan, groups, engine.block_size, left)
        if self._check.in_force != engine:
            return None
        return self._lowering.lower(plan, groups, boundaries, engine.block_size)

    def _doubt(self) -> None:
        if self._check.ever_told:
            self.doubted.set()
        self._check.doubt()
