"""Whether the target answers its callers at all: a plain question of each, without any intent.

A caller whose credential isn't accepted, or who asks for a model that isn't there, is refused whatever the
contract says. Nothing may be concluded from that. So each caller asks before the first case; and where a case
meets such a refusal, its caller asks again: tokens expire and models go while a probe runs.
"""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from cctest.diagnosis import Obstacle
from cctest.probe.callers import UNCREDENTIALED
from cctest.probe.case import FragmentSpec, Step, role_in
from cctest.probe.judgement import World
from cctest.probe.observation import Observation
from cctest.probe.performing import perform, provoked
from cctest.probe.stage import Stage
from cctest.probe.trial import PLAIN, QUESTION, Trial
from cctest.target.configuration import Configuration
from cctest.target.credential import Credential
from cctest.verdict import Exit

TRIES: Final = 3
"""How often a caller asks that gets no answer: some targets fail now and then."""

_PAUSES: Final = (0.2, 1.0)
"""Seconds before each further try, where what went wrong may pass."""

_ENOUGH: Final = 3
"""As many callers that meet nothing but failures show that it isn't the callers."""

_UNAUTHORIZED: Final = (401, 403)

_REFUSED: Final = (*_UNAUTHORIZED, 404)
"""Statuses with which a target refuses a caller, or a model, whatever else it is asked."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What became of each caller's plain question, by credential; callers may be missing after failures.

    `heard` got no answer to it, and one to a question with an intent: that a plain one is refused is the
    target's doing (INT-3), and for the cases to tell.
    """

    seen: Mapping[Credential, Observation]
    model: str
    heard: frozenset[Credential] = frozenset()

    @property
    def accepted(self) -> tuple[Credential, ...]:
        """The credentials to probe with: those that got an answer, and those that only met failures."""
        answered = {who for who, one in self.seen.items() if one.answered} | self.heard
        if not answered:
            return ()
        return tuple(who for who, one in self.seen.items() if who in answered or _passing(one))

    @property
    def refusals(self) -> dict[Credential, str]:
        """Why nothing that is sent with the other credentials can show anything."""
        kept = self.accepted
        return {who: refusal(who, one) for who, one in self.seen.items() if who not in kept}

    @property
    def failing(self) -> bool:
        """Whether every caller met nothing but failures, so that nothing is known of any."""
        return all(map(_passing, self.seen.values()))

    def obstacle(self, target: str) -> Obstacle | None:
        """Say why nothing at all can be tested; None if anybody is answered."""
        if self.accepted:
            return None
        said: dict[str, list[str]] = {}
        for who, one in self.seen.items():
            said.setdefault(one.outline, []).append(who.name)
        outlines = "; ".join(f"{outline} ({', '.join(names)})" for outline, names in said.items())
        return Obstacle(*_diagnosed(target, self.model, list(self.seen.values()), outlines), Exit.UNTESTABLE)


def unnamed(configuration: Configuration) -> Obstacle | None:
    """Say what nobody has named without which nothing can be asked; None where all is there."""
    if not configuration.credentials:
        hint = "list at least two tenants under `credentials`"
        return Obstacle("no credential to probe with", hint, Exit.USAGE)
    if configuration.model is None:
        return Obstacle("no model to ask for", "give --model NAME, or `model` in the file", Exit.USAGE)
    return None


def ask_plainly(
    trial: Trial, credentials: Sequence[Credential], sleep: Callable[[float], None] = time.sleep
) -> Acceptance:
    """Send a short question without any intent as each caller, up to three times where it isn't answered.

    Whoever is refused for another reason than a credential or a model asks once more, with an intent.
    """
    seen: dict[Credential, Observation] = {}
    for pause in (0.0, *_PAUSES):
        pending = [who for who in credentials if who not in seen or not seen[who].answered]
        if any(_passing(seen[who]) for who in pending if who in seen):
            sleep(pause)
        for who in pending:
            seen[who] = trial.short(who)
            if len(seen) >= _ENOUGH and all(map(_passing, seen.values())):
                break
    refused = [who for who, one in seen.items() if not one.answered and not _of_the_caller(one)]
    heard = frozenset(who for who in refused if trial.long(who, f"heard-{who.name}", "tenant").answered)
    return Acceptance(seen, trial.model, heard)


def refusal(who: Credential, seen: Observation) -> str:
    """Say in words that a caller's plain question was refused."""
    if seen.response is not None and seen.response.status in _UNAUTHORIZED:
        return f"credential {who.name} isn't accepted (HTTP {seen.response.status})"
    return f"credential {who.name} gets no answer to a plain request ({seen.outline})"


def refused_plainly(world: World, stage: Stage) -> Generator[float, None, str | None]:
    """Say whether a refusal in one attempt at a cell is one that its caller's plain question meets, too.

    Cases about bad credentials send those of nobody and of a stranger, which are never asked about. Yields
    the monotonic instants before which there is nothing to do.
    """
    asked = set()
    for seen in world.observations.values():
        role = role_in(world.setting.cell, seen.step.by)
        refused = seen.response is not None and seen.response.status in _REFUSED and not provoked(seen)
        if not refused or role in UNCREDENTIALED or role in asked:
            continue
        asked.add(role)
        step = Step("plain", role, (FragmentSpec(QUESTION),))
        setting = replace(world.setting, case=PLAIN, cell={}, blank=f"plain-{role}")
        plain = yield from perform(step, setting, stage, {})
        if not plain.answered and not _passing(plain):
            return refusal(stage.callers[role], plain)
    return None


def _of_the_caller(seen: Observation) -> bool:
    """Whether what was met has to do with the caller or the model, or may pass."""
    return _passing(seen) or (seen.response is not None and seen.response.status in _REFUSED)


def _passing(seen: Observation) -> bool:
    """Whether what went wrong may pass, and is nothing against the caller."""
    return seen.response is None or seen.response.status == 429 or seen.response.status >= 500


def _diagnosed(target: str, model: str, seen: Sequence[Observation], outlines: str) -> tuple[str, str]:
    """Say what is wrong where nobody is answered, and what would be right."""
    responses = [one.response for one in seen if one.response is not None]
    statuses = {response.status for response in responses}
    if not responses:
        return f"{target} completes no exchange: {outlines}", ""
    if len(responses) == len(seen) and min(statuses) >= 500:
        return f"{target} answers every request with a server error: {outlines}", ""
    if len(responses) == len(seen) and statuses <= set(_UNAUTHORIZED):
        return f"no credential is accepted by {target}: {outlines}", "are the tokens right, and still valid?"
    if all(300 <= status < 400 for status in statuses):
        where = responses[0].headers.get("location", "nowhere")
        return f"{target} redirects to {where}", _REDIRECTED
    return (
        f"{target} answers no plain request without an intent: {outlines}",
        f"is the model {model!r} right?",
    )


_REDIRECTED: Final = (
    "redirects are never followed with credentials; if you trust that address, probe it instead"
)
