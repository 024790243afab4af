"""How long a target takes until state that it retained can be read: some caches show an entry only later."""

import hashlib
import time
from typing import Final

from cctest.probe.case import Case, FragmentSpec, Place, Role, Step
from cctest.probe.interpreter import CHAT_PATH, Stage
from cctest.probe.observation import Observation
from cctest.probe.prompt import Setting, build
from cctest.probe.witness import WITNESSES, Reuse
from cctest.target.exchange import Request

PAUSES: Final = (0.0, 0.0, 0.4, 0.4, 1.6)
"""Seconds between writing and reading, in the order in which they are tried."""

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


def settling_seconds(stage: Stage) -> float | None:
    """Find out after how many seconds retained state is reused; None if it never was."""
    for number, pause in enumerate(PAUSES):
        setting = Setting(
            case=_CASE,
            cell={},
            nonce=hashlib.sha256(f"{stage.nonce}\0settling\0{number}".encode()).hexdigest()[:12],
            model=stage.model,
            callers=stage.callers,
            unit_words=stage.unit_words,
        )
        if not _ask(stage, setting).answered:
            return None
        time.sleep(pause)
        again = _ask(stage, setting)
        if any(witness(again, "prefix")[0] is Reuse.SEEN for _, witness in WITNESSES):
            return pause
    return None


def _ask(stage: Stage, setting: Setting) -> Observation:
    (step,) = _CASE.steps
    built = build(setting, step)
    headers = (("Content-Type", "application/json"),)
    request = Request("POST", CHAT_PATH, headers, built.body, setting.callers[Role.SELF])
    return stage.courier.deliver(step, built, request, streamed=False)
