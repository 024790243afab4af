"""The one seam between the gateway and what runs a model and owns a cache."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from cctest.contract.capabilities import Capabilities
from cctest.contract.vocabulary import Outcome, Scope
from reference_gateway.plan import Plan
from reference_gateway.rendering.rendered_order import RenderedOrder


@dataclass(frozen=True, slots=True)
class FragmentObservation:
    """What was observed of one fragment's state.

    `retained` is None where the backend can't tell. `share` is the boundary actually used (STA-7).
    """

    outcome: Outcome
    retained: bool | None
    share: Scope


@dataclass(frozen=True, slots=True)
class Served:
    """A finished computation: its answers, token counts, and an observation for each planned fragment.

    `cached_tokens` counts the input tokens that were read instead of computed.
    """

    answers: tuple[str, ...]
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    fragments: tuple[FragmentObservation, ...]


@dataclass(frozen=True, slots=True)
class Forwarded:
    """An engine's own response object as it came, and an observation for each planned fragment.

    `text` is a JSON object: a completion or, at the end of a stream, its last chunk.
    """

    text: str
    fragments: tuple[FragmentObservation, ...]


@dataclass(frozen=True, slots=True)
class Streamed:
    """A response that an engine is still writing: the JSON texts of its chunks, the last one as `Forwarded`.

    Chunks that came together are given together. A stream that ends without the last one was broken off;
    `chunks` then raises RefusalError. `close` calls the engine's work off, at any time, and does no harm
    afterwards.
    """

    chunks: AsyncIterator[list[str | Forwarded]]
    close: Callable[[], None]


Answer: TypeAlias = Served | Forwarded | Streamed


class Backend(Protocol):
    """An engine behind the gateway: what it can enforce, and what it does with a plan."""

    @property
    def capabilities(self) -> Capabilities:
        """What it enforces and observes (CAP-3: what isn't listed isn't supported)."""

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that it serves; none as long as they aren't known."""

    @property
    def ready(self) -> bool:
        """Whether it can serve now."""

    def order(self, model: str) -> RenderedOrder:
        """In which order it is known to render the fragments of requests to `model` (CMP-11, BND-2)."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep up what it needs while the gateway serves."""

    async def serve(self, plan: Plan) -> Answer:
        """Serve a plan under its terms, never under weaker ones (INT-1).

        Raises RefusalError where the engine doesn't. Cancelled, it calls the engine's work off.
        """
