"""What one step showed, and where in it a fragment stands."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cctest.contract.source import JsonValue
from cctest.instrument.client import EngineRecord
from cctest.probe.case import Step
from cctest.probe.prompt import BuiltFragment, BuiltRequest
from cctest.target.chat import ChatResult
from cctest.target.exchange import ExchangeError, Request, Response


@dataclass(frozen=True, slots=True)
class Observation:
    """One step as it went: what was sent and what came back, or why nothing did.

    `records` is what reached the engine for it; None where no instrumented engine is attached.
    `tokens_per_byte` is how the target counts texts like ours; None where it tells no counts.
    """

    step: Step
    built: BuiltRequest
    request: Request
    response: Response | None = None
    chat: ChatResult | None = None
    error: ExchangeError | None = None
    records: tuple[EngineRecord, ...] | None = None
    tokens_per_byte: float | None = None

    @property
    def answered(self) -> bool:
        """Whether a chat completion came back."""
        return self.chat is not None and self.chat.ok

    @property
    def asked(self) -> tuple[EngineRecord, ...]:
        """The requests for an answer among the records; the others had a text rendered, and no more."""
        return tuple(record for record in self.records or () if record.asks_for_answer)

    @property
    def outline(self) -> str:
        """The response in a few words."""
        if self.error is not None:
            return str(self.error)
        if self.chat is None or self.chat.ok:
            return f"HTTP {self.chat.status}" if self.chat else "no response"
        code = f", error code {self.chat.error_code}" if self.chat.error_code else ", no error code"
        return f"HTTP {self.chat.status}{code}"

    @property
    def entries(self) -> tuple[Mapping[str, JsonValue], ...] | None:
        """The entries of `cache_status`, whatever they hold; None if it is absent or no array of objects."""
        status = self.chat.cache_status if self.chat else None
        if not isinstance(status, list):
            return None
        entries = [entry for entry in status if isinstance(entry, dict)]
        return tuple(entries) if len(entries) == len(status) else None


def governed_candidates(fragments: Sequence[BuiltFragment]) -> dict[str, list[int]]:
    """Return which fragments may have a status entry, by reading of READ-1."""
    own = [index for index, fragment in enumerate(fragments) if fragment.governed]
    inheriting = list(range(own[0], len(fragments))) if own else []
    return {"own": own, "effective": inheriting, "every": list(range(len(fragments)))}


def entry_of(observation: Observation, text: str) -> Mapping[str, JsonValue] | None:
    """Return the status entry of the fragment with this text; entries correlate by position (STA-2)."""
    entries = observation.entries
    if entries is None:
        return None
    fragments = observation.built.fragments
    for indexes in governed_candidates(fragments).values():
        if len(indexes) == len(entries):
            by_text = {fragments[index].text: entry for index, entry in zip(indexes, entries, strict=True)}
            return by_text.get(text)
    return None


def span(
    built: BuiltRequest, text: str, prompt_tokens: int, tokens_per_byte: float | None = None
) -> tuple[float, float]:
    """Estimate where in the prompt a fragment starts and ends, in tokens.

    All texts are made alike, so tokens are spread evenly over the bytes. What the prompt has beyond that is
    the template's own, and taken to stand in front of everything.
    """
    total = sum(fragment.size for fragment in built.fragments)
    rate = min(tokens_per_byte or math.inf, prompt_tokens / total)
    before = prompt_tokens - rate * total
    for fragment in built.fragments:
        if fragment.text == text:
            return before, before + rate * fragment.size
        before += rate * fragment.size
    raise ValueError(f"no fragment with text {text!r} in this request")
