"""From several attempts at one expectation to one decision.

Usage counts and status are noisy: caches evict, replicas differ, a busy machine sends a timed step late. So
what they show once is tried again with fresh texts, and what they show twice is believed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from cctest.probe.judgement import Judgement
from cctest.verdict import Result

ATTEMPTS: Final = 3
"""Most attempts at one cell."""


def settle(judgements: Sequence[Judgement]) -> Judgement | None:
    """Decide from the attempts so far; None while another one is needed."""
    latest = judgements[-1]
    failures = [one for one in judgements if one.result is Result.FAIL and not one.persistent]
    certain = [one for one in failures if not one.repeatable]
    if certain:
        return certain[0]
    if len(failures) > 1:
        return replace(failures[-1], message=f"{failures[-1].message} (seen twice, with fresh texts)")
    if failures and latest is failures[0]:
        return None
    if failures and latest.result is not Result.INCONCLUSIVE:
        return _once(failures[0], latest)
    decided = [one for one in judgements if not one.retry and not one.persistent]
    if decided and not failures:
        return decided[0]
    if len(judgements) >= ATTEMPTS and all(one.persistent for one in judgements):
        return replace(latest, message=f"{latest.message} (at every attempt)")
    return None


def conclude(judgements: Sequence[Judgement]) -> Judgement:
    """Decide from all attempts that there will be."""
    settled = settle(judgements)
    if settled is not None:
        return settled
    failures = [one for one in judgements if one.result is Result.FAIL]
    return _once(failures[0], judgements[-1]) if failures else judgements[-1]


def _once(failure: Judgement, latest: Judgement) -> Judgement:
    if latest is failure:
        story = f"seen once, and not tried again: {failure.message}"
    else:
        story = f"seen once but not again with fresh texts: {failure.message}; later: {latest.message}"
    evidence = failure.evidence if latest is failure else failure.evidence + latest.evidence
    return replace(failure, result=Result.INCONCLUSIVE, message=story, evidence=evidence, repeatable=False)


@dataclass(slots=True)
class Hope:
    """Whether it is worth trying controls again: only for a target that has been seen to reuse anything."""

    left: bool = False

    def note(self, *, reused: bool) -> None:
        """Take in whether one attempt at a cell showed any reuse."""
        self.left = self.left or reused
