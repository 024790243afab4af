"""How much of a fragment a step reused, by each kind of evidence."""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, TypeAlias

from cctest.probe.observation import Observation, entry_of, span
from cctest.verdict import Evidence, Source

SEEN_SHARE: Final = 0.5
"""A fragment counts as reused if at least this share of its tokens was."""

UNSEEN_SHARE: Final = 0.25
"""It counts as not reused below this share: room for the template's own tokens and for the estimate."""


class Reuse(StrEnum):
    """How much of one fragment a step reused."""

    SEEN = "reused"
    PARTLY = "reused in part"
    UNSEEN = "not reused"
    UNKNOWN = "unknown"


Witness: TypeAlias = Callable[[Observation, str], tuple[Reuse, Evidence | None]]


def by_engine(observation: Observation, text: str) -> tuple[Reuse, Evidence | None]:
    """Judge by the engine's own record of the requests that the step caused."""
    counts = engine_counts(observation)
    if counts is None:
        return Reuse.UNKNOWN, None
    prompt, cached = counts
    seen = f"{observation.step.id}: the engine's record has {cached} of {prompt} prompt tokens cached"
    return _by_counts(observation, text, prompt, cached), Evidence(Source.ENGINE, seen)


def engine_counts(observation: Observation) -> tuple[int, int] | None:
    """The prompt tokens and the cached ones of a step, by the engine's record; None without one.

    A gateway may send a request on more than once. What later ones reuse in the same partitions is the step's
    own state, so the first in each counts, and the one that reused most.
    """
    first: dict[str, tuple[int, int]] = {}
    for entry in observation.asked:
        if entry.prompt_tokens is not None:
            first.setdefault(str(entry.partitions), (entry.prompt_tokens, entry.cached_tokens or 0))
    return max(first.values(), key=lambda counts: counts[1], default=None)


def by_usage(observation: Observation, text: str) -> tuple[Reuse, Evidence | None]:
    """Judge by the token counts in the response."""
    counts = usage_counts(observation)
    if counts is None:
        return Reuse.UNKNOWN, None
    prompt, cached = counts
    seen = f"{observation.step.id}: {cached} of {prompt} prompt tokens cached"
    return _by_counts(observation, text, prompt, cached), Evidence(Source.USAGE, seen)


def usage_counts(observation: Observation) -> tuple[int, int] | None:
    """The prompt tokens and the cached ones of a step, by its response; None where it tells none."""
    chat = observation.chat
    if chat is None or not chat.ok or chat.cached_tokens is None or chat.prompt_tokens is None:
        return None
    return chat.prompt_tokens, chat.cached_tokens


def by_status(observation: Observation, text: str) -> tuple[Reuse, Evidence | None]:
    """Judge by the target's own word.

    A hit says that some of the fragment was reused, be it what a template puts at the head of every text
    (READ-30). Where tokens of the same request were counted as cached, it tells no more than they do.
    """
    entry = entry_of(observation, text) if observation.answered else None
    if entry is None:
        return Reuse.UNKNOWN, None
    outcome = entry.get("outcome")
    evidence = Evidence(Source.STATUS, f"{observation.step.id}: outcome {outcome} reported for {text}")
    match outcome:
        case "exact_hit":
            return _counted(observation, text) or Reuse.SEEN, evidence
        case "approximate_hit":
            return Reuse.SEEN, evidence
        case "miss" | "bypass":
            return Reuse.UNSEEN, evidence
    return Reuse.UNKNOWN, evidence


WITNESSES: Final[tuple[tuple[str, Witness], ...]] = (
    ("the engine's record", by_engine),
    ("usage counts", by_usage),
    ("the target's own status", by_status),
)
"""Ways to tell how much of a fragment a step reused, strongest first."""


def rests_on_word(witness: Witness, observation: Observation, text: str) -> tuple[str, str] | None:
    """Name the step and the fragment whose outcome `exact_hit` is all that this witness has: see `blank`."""
    if witness is not by_status:
        return None
    entry = entry_of(observation, text)
    hit = entry is not None and entry.get("outcome") == "exact_hit"
    return (observation.step.id, text) if hit and _counted(observation, text) is None else None


def _counted(observation: Observation, text: str) -> Reuse | None:
    """Judge by the strongest counts in which anything was cached; None without any."""
    for counts in (engine_counts(observation), usage_counts(observation)):
        if counts is not None and counts[1]:
            return _by_counts(observation, text, *counts)
    return None


def _by_counts(observation: Observation, text: str, prompt: int, cached: int) -> Reuse:
    start, end = span(observation.built, text, prompt, observation.tokens_per_byte)
    share = (cached - start) / max(end - start, 1.0)
    if share >= SEEN_SHARE:
        return Reuse.SEEN
    return Reuse.PARTLY if share > UNSEEN_SHARE else Reuse.UNSEEN
