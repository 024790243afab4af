"""The rendered orders of an engine's models, kept up to date.

A template doesn't change while an engine runs. So its models are surveyed when their list changes, and all of
them when the engine was away; it takes longer to start than it takes to be missed.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

from reference_gateway.engine.order_survey import Engine, survey
from reference_gateway.rendering.rendered_order import NOT_SURVEYED, Order, RenderedOrder

SURVEY_SECONDS: Final = 10.0
"""Most seconds for the survey of a model."""
RETRY_SECONDS: Final = 60.0
"""Where a survey established nothing, it is repeated after this time."""


class Orders:
    """What the models of one engine were last seen to do. `clock` gives monotonic seconds."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._known: dict[str, RenderedOrder] = {}
        self._surveyed_at = clock()

    def of(self, model: str) -> RenderedOrder:
        """Give the order of a model; it isn't established until the model was surveyed."""
        return self._known.get(model, NOT_SURVEYED)

    def forget(self) -> None:
        """Establish nothing any more: the engine is away, and may come back with other templates."""
        self._known = {}

    async def refresh(self, models: Sequence[str]) -> None:
        """Survey the models if they are others than before, or where it is time to try again."""
        if set(models) != set(self._known):
            self.forget()
            pending = list(models)
        elif self._clock() - self._surveyed_at >= RETRY_SECONDS:
            pending = [model for model in models if self.of(model).order is Order.NOT_ESTABLISHED]
        else:
            return
        self._surveyed_at = self._clock()
        found = await asyncio.gather(*map(self._survey, pending))
        self._known |= dict(zip(pending, found, strict=True))

    async def _survey(self, model: str) -> RenderedOrder:
        try:
            async with asyncio.timeout(SURVEY_SECONDS):
                return await survey(self._engine, model)
        except TimeoutError:
            why = f"the survey took more than {SURVEY_SECONDS:g} seconds"
            return RenderedOrder(Order.NOT_ESTABLISHED, why)
