"""Sending one step of a case, by the caller that it names, as often as the target puts it off."""

import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from cctest.probe.case import Role, Step, role_in
from cctest.probe.courier import TURNED_AWAY, asked_to_wait
from cctest.probe.observation import Observation
from cctest.probe.prompt import BuiltRequest, Setting, build, substitute, words
from cctest.probe.stage import Stage
from cctest.target.credential import Credential
from cctest.target.exchange import Request

CHAT_PATH: Final = "/v1/chat/completions"

_AFTERMATH: Final = 1.0
"""Seconds in which a cancellation has to reach the engine, once it is through with its queue."""


def perform(
    step: Step, setting: Setting, stage: Stage, earlier: Mapping[str, Observation]
) -> Generator[float, None, Observation]:
    """Send a step and give what came back; yields the monotonic instants before which it has nothing to do.

    Nothing is sent after a step of `earlier` that got no answer, unless the case itself made it break off.
    """
    built = build(setting, step)
    headers = [("Content-Type", "application/json")]
    headers += [(name, str(substitute(value, setting))) for name, value in step.headers.items()]
    credential = _credential(role_in(setting.cell, step.by), setting)
    request = Request("POST", CHAT_PATH, tuple(headers), built.body, credential)
    broken = next((seen.error for seen in earlier.values() if seen.error and not provoked(seen)), None)
    if broken is not None:
        return Observation(step, built, request, error=broken)
    with _misbehaving(step, setting, built, stage):
        seen = stage.courier.deliver(step, built, request, streamed=setting.streamed)
        for _ in range(TURNED_AWAY):
            delay = asked_to_wait(seen.response)
            if delay is None or step.misbehaviour is not None:
                break
            yield time.monotonic() + delay
            seen = stage.courier.deliver(step, built, request, streamed=setting.streamed)
    if step.give_up is not None or (step.queued and not seen.answered):
        yield time.monotonic() + step.queued + _AFTERMATH
    return seen


def provoked(seen: Observation) -> bool:
    """Whether the case itself made this exchange break off."""
    return seen.step.give_up is not None or seen.step.misbehaviour is not None


@contextmanager
def _misbehaving(step: Step, setting: Setting, built: BuiltRequest, stage: Stage) -> Iterator[None]:
    """Have the attached engine misbehave for this cell's requests, and for no others."""
    if step.misbehaviour is None or stage.ledger is None:
        yield
        return
    engine = stage.ledger.engine
    marker = words(setting.nonce, built.fragments[0].text, 6)
    engine.misbehave([{"match": marker, "times": None, "do": dict(step.misbehaviour)}])
    try:
        yield
    finally:
        engine.behave(marker)


def _credential(role: Role, setting: Setting) -> Credential | None:
    if role is Role.NOBODY:
        return None
    if role is Role.STRANGER:
        return Credential("stranger", f"unknown-{setting.nonce}", "unknown", "unknown")
    return setting.callers[role]
