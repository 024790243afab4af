"""Single requests outside any case, to find out what can be seen of a target at all."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from cctest.contract.source import JsonValue
from cctest.probe.case import Case, FragmentSpec, Role, Step
from cctest.probe.courier import Courier, asked_to_wait
from cctest.probe.observation import Observation
from cctest.probe.performing import CHAT_PATH
from cctest.probe.prompt import UNIT_WORDS, Setting, build
from cctest.probe.witness import Reuse, by_status, by_usage
from cctest.target.credential import Credential
from cctest.target.exchange import Request

PREFIX: Final = "prefix"
"""The text that is sent again."""

QUESTION: Final = "question"

PLAIN: Final = Case(
    id="plain",
    title="A question without any intent",
    rules=(),
    texts={QUESTION: 0.05},
    intents={},
    steps=(),
    expectations=(),
)

_TURNED_AWAY: Final = 3
"""How often a request that was answered with 429 is sent again."""


@dataclass(frozen=True, slots=True)
class Trial:
    """How trial requests are sent. `nonce` makes their texts differ from those of every other run."""

    courier: Courier
    model: str
    nonce: str
    unit_words: int = UNIT_WORDS
    sleep: Callable[[float], None] = time.sleep

    def short(self, credential: Credential) -> Observation:
        """Send a question without any intent."""
        step = Step("short", Role.SELF, (FragmentSpec(QUESTION),))
        return self._send(credential, step, f"short-{credential.name}", {})

    def long(self, credential: Credential, text: str, scope: str, *, streamed: bool = False) -> Observation:
        """Send a long prefix that may be shared within `scope`; the same `text` makes the same prefix."""
        constraints: JsonValue = {"retention": {"mode": "allow"}, "reuse": "exact", "share_max": scope}
        fragments = (FragmentSpec(PREFIX, "shared"), FragmentSpec(QUESTION))
        intents: dict[str, JsonValue] = {"shared": {"version": 1, "constraints": constraints}}
        return self._send(credential, Step("long", Role.SELF, fragments), text, intents, streamed=streamed)

    def _send(
        self,
        credential: Credential,
        step: Step,
        text: str,
        intents: dict[str, JsonValue],
        *,
        streamed: bool = False,
    ) -> Observation:
        case = Case(
            id="trial",
            title="A trial",
            rules=(),
            texts={PREFIX: 1, QUESTION: 0.05},
            intents=intents,
            steps=(step,),
            expectations=(),
        )
        setting = Setting(
            case=case,
            cell={"stream": "streamed"} if streamed else {},
            nonce=f"{self.nonce}-{text}",
            model=self.model,
            callers={},
            unit_words=self.unit_words,
        )
        built = build(setting, step)
        headers = (("Content-Type", "application/json"),)
        request = Request("POST", CHAT_PATH, headers, built.body, credential)
        for _ in range(_TURNED_AWAY):
            seen = self.courier.deliver(step, built, request, streamed=streamed)
            delay = asked_to_wait(seen.response)
            if delay is None:
                break
            self.sleep(delay)
        return seen


def reused(seen: Observation) -> bool:
    """Whether usage counts or the target's status say that the long prefix was reused."""
    return any(witness(seen, PREFIX)[0] is Reuse.SEEN for witness in (by_usage, by_status))
