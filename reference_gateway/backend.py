"""The one seam between the gateway and what runs a model and owns a cache."""

from dataclasses import dataclass
from typing import Protocol

from cctest.contract.capabilities import Capabilities
from cctest.contract.vocabulary import Outcome, Scope
from reference_gateway.plan import Plan


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


class Backend(Protocol):
    """An engine behind the gateway: what it can enforce, and what it does with a plan."""

    @property
    def capabilities(self) -> Capabilities:
        """What it enforces and observes (CAP-3: what isn't listed isn't supported)."""

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that it serves."""

    async def serve(self, plan: Plan) -> Served:
        """Serve a plan under its terms, never under weaker ones (INT-1)."""
