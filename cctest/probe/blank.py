"""Blanks: what a target says of a text that nobody ever sent.

Some of a fragment is reused, and may be called a hit (READ-30), as soon as the target's cache holds what a
template puts in front of every text: its own words, a role's marker, the beginning of a tool's JSON. The
caller's own requests leave that there. So where something rests on such a word alone, the step is sent once
more with other texts: if these are a hit too, the word tells nothing of the ones at issue.
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass, field, replace

from cctest.probe.judgement import Judgement, World, inconclusive
from cctest.probe.observation import Observation, entry_of
from cctest.probe.performing import perform
from cctest.probe.readings import Taken
from cctest.probe.stage import Stage
from cctest.verdict import Evidence, Reading, Source


@dataclass(frozen=True, slots=True)
class Blanks:
    """The blanks of one attempt at a cell: at most one of each step, since a second one was sent before.

    `purpose` tells them from the blanks of the same attempt that are sent for another purpose.
    """

    world: World
    stage: Stage
    purpose: str
    _sent: dict[str, Observation] = field(default_factory=dict)

    def outcome(self, step: str, text: str) -> Generator[float, None, object]:
        """Give what the target says of a fragment of the step's blank; None if it says nothing.

        Yields the monotonic instants before which there is nothing to do.
        """
        if step not in self._sent:
            setting = replace(self.world.setting, blank=self.purpose)
            asked = self.world.observations[step].step
            self._sent[step] = yield from perform(asked, setting, self.stage, {})
        blank = self._sent[step]
        entry = entry_of(blank, text) if blank.answered else None
        return None if entry is None else entry.get("outcome")


def hold_against_blanks(
    judged: Iterable[Judgement], world: World, stage: Stage
) -> Generator[float, None, tuple[Judgement, ...]]:
    """Let failures that rest on a word alone stand only if the target doesn't say the same of a blank."""
    blanks = Blanks(world, stage, "judged")
    held = []
    for one in judged:
        held.append(one if one.rests_on is None else (yield from _hold(one, *one.rests_on, blanks)))
    return tuple(held)


def _hold(judgement: Judgement, step: str, text: str, blanks: Blanks) -> Generator[float, None, Judgement]:
    outcome = yield from blanks.outcome(step, text)
    if outcome is None:
        message = f"nothing shows whether {step} calls a text a hit that nobody ever sent"
        return replace(inconclusive(message, *judgement.evidence), retry=True)
    if outcome != "exact_hit":
        return judgement
    said = Evidence(Source.STATUS, f"{step}, with other texts: outcome exact_hit reported for {text}")
    message = f"{step} calls {text} a hit, but so it does a text that nobody ever sent"
    return inconclusive(message, *judgement.evidence, said)


def readings_beside_blanks(
    taken: Iterable[Taken], world: World, stage: Stage
) -> Generator[float, None, tuple[Reading, ...]]:
    """Keep the readings that rest on a word alone only if the target doesn't say the same of a blank."""
    blanks = Blanks(world, stage, "read")
    kept = []
    for one in taken:
        outcome = None if one.rests_on is None else (yield from blanks.outcome(*one.rests_on))
        if one.rests_on is None or outcome not in (None, "exact_hit"):
            kept.append(one.reading)
    return tuple(kept)
