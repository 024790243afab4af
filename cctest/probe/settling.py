"""What has to be known of a target before its cells are run.

How long it takes until retained state can be read (some caches show an entry only later), and how it counts
texts like ours (templates add tokens of their own).
"""

import hashlib
import time
from dataclasses import dataclass, replace
from typing import Final

from cctest.probe.case import Case, FragmentSpec, Place, Role, Step
from cctest.probe.courier import TURNED_AWAY, asked_to_wait
from cctest.probe.observation import Observation
from cctest.probe.performing import CHAT_PATH
from cctest.probe.prompt import Setting, build
from cctest.probe.stage import Stage
from cctest.probe.witness import WITNESSES, Reuse
from cctest.target.exchange import Request

PAUSES: Final = (0.0, 0.0, 0.4, 0.4, 1.6)
"""Seconds between writing and reading, in the order in which they are tried."""

LATE: Final = 10.0
"""One more, where the engine's record may show that nothing is ever reused: that must not be said rashly."""

_CASE: Final = Case(
    id="settling",
    title="The same caller sends the same text twice",
    rules=(),
    texts={"prefix": 1, "question": 0.05},
    intents={
        "tenant": {
            "version": 1,
            "constraints": {"retention": {"mode": "allow"}, "reuse": "exact", "share_max": "tenant"},
        }
    },
    steps=(
        Step("ask", Role.SELF, (FragmentSpec("prefix", "tenant", Place.SYSTEM), FragmentSpec("question"))),
    ),
    expectations=(),
)

_LONGER: Final = replace(_CASE, texts={"prefix": 3, "question": 0.05})


@dataclass(frozen=True, slots=True)
class Habits:
    """How long the target takes to settle (seconds; None if nothing was ever reused), and how it counts."""

    settling: float | None = None
    tokens_per_byte: float | None = None


def learn(stage: Stage) -> Habits:
    """Find out the target's habits with a few requests of the first caller."""
    pauses = PAUSES if stage.ledger is None else (*PAUSES, LATE)
    counted: dict[int, int] = {}
    for number, pause in enumerate(pauses):
        setting = _setting(stage, number)
        first = _ask(stage, setting)
        if not first.answered:
            return Habits()
        if first.chat is not None and first.chat.prompt_tokens is not None:
            size = sum(fragment.size for fragment in first.built.fragments)
            counted[size] = first.chat.prompt_tokens
        time.sleep(pause)
        again = _ask(stage, setting)
        reused = any(witness(again, "prefix")[0] is Reuse.SEEN for _, witness in WITNESSES)
        if reused or (stage.ledger is not None and stage.ledger.ever_reused):
            return Habits(pause, _rate(stage, counted))
    return Habits(None, _rate(stage, counted))


def _rate(stage: Stage, counted: dict[int, int]) -> float | None:
    """Compare with a longer text: what both have in common is the template's."""
    longer = _ask(stage, _setting(stage, len(PAUSES) + 1, longer=True))
    if not counted or not longer.answered or longer.chat is None or longer.chat.prompt_tokens is None:
        return None
    size = sum(fragment.size for fragment in longer.built.fragments)
    shorter = min(counted)
    rate = (longer.chat.prompt_tokens - counted[shorter]) / (size - shorter)
    return rate if rate > 0 else None


def _setting(stage: Stage, number: int, *, longer: bool = False) -> Setting:
    return Setting(
        case=_LONGER if longer else _CASE,
        cell={},
        nonce=hashlib.sha256(f"{stage.nonce}\0settling\0{number}".encode()).hexdigest()[:12],
        model=stage.model,
        callers=stage.callers,
        unit_words=stage.unit_words,
    )


def _ask(stage: Stage, setting: Setting) -> Observation:
    (step,) = _CASE.steps
    built = build(setting, step)
    headers = (("Content-Type", "application/json"),)
    request = Request("POST", CHAT_PATH, headers, built.body, setting.callers[Role.SELF])
    seen = stage.courier.deliver(step, built, request, streamed=False)
    for _ in range(TURNED_AWAY):
        delay = asked_to_wait(seen.response)
        if delay is None:
            break
        time.sleep(delay)
        seen = stage.courier.deliver(step, built, request, streamed=False)
    return seen
