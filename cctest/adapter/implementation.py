"""An adapter as the implementation that vectors judge: what each operation takes and gives on the wire."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cctest.adapter.session import Session
from cctest.adapter.wire import Operation, seconds_text
from cctest.contract.source import JsonValue
from cctest.vectors.implementation import (
    Admission,
    AnswerError,
    Document,
    Intent,
    Opinion,
    Party,
    Refused,
    Retained,
    Seconds,
    intent_text,
    json_text,
)

_WHO: Final = "the adapter"


class Adapter:
    """An implementation in a process of its own."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def validate(self, document: Document) -> Sequence[Opinion]:
        """Send the document's bytes; where it is at fault may be left out of the answer."""
        result = self._session.ask(
            Operation.VALIDATE, kind=str(document.kind), base64=base64.b64encode(document.text).decode()
        )
        valid: bool = result["valid"]
        pointers = tuple(result["pointers"]) if "pointers" in result else None
        return (Opinion(_WHO, valid, () if valid else pointers),)

    def digest(self, namespaces: Sequence[str]) -> str | None:
        """Send the namespaces as they are."""
        digest: str | None = self._session.ask(Operation.DIGEST, namespaces=[*namespaces])["digest"]
        return digest

    def identical(self, first: Sequence[str], second: Sequence[str], *, same_input: bool) -> bool:
        """Send what two requests have of identity."""
        result = self._session.ask(
            Operation.IDENTITY, same_input=same_input, first=[*first], second=[*second]
        )
        match: bool = result["match"]
        return match

    def compose(self, intents: Sequence[Intent | None]) -> Sequence[JsonValue]:
        """Send each intent as text; a policy has to come for each fragment."""
        texts = [None if each is None else intent_text(each) for each in intents]
        result = self._session.ask(Operation.COMPOSE, fragments=texts)
        _require_served(result)
        policies = [_policy(each) for each in result["policies"]]
        if len(policies) != len(texts):
            raise AnswerError(f"the adapter gave {len(policies)} policies for {len(texts)} fragments")
        return policies

    def intake(self, intent: Intent, capabilities: JsonValue) -> str:
        """Send intent and capabilities as texts."""
        advertised = None if capabilities is None else json_text(capabilities)
        result = self._session.ask(Operation.INTAKE, intent=intent_text(intent), capabilities=advertised)
        return str(result["result"])

    def hints(self, intent: Intent, reuse_within_max: int | None) -> Mapping[str, JsonValue]:
        """Send the intent as text, and the maximum as digits."""
        most = None if reuse_within_max is None else seconds_text(reuse_within_max)
        result = self._session.ask(Operation.HINTS, intent=intent_text(intent), reuse_within_max=most)
        _require_served(result)
        reports: dict[str, JsonValue] = result["reports"]
        return reports

    def eligible(self, materialized_at: Seconds, max_age: int | None, now: Seconds) -> bool:
        """Send instants and bound as digits."""
        result = self._session.ask(
            Operation.ELIGIBLE,
            materialized_at=seconds_text(materialized_at),
            max_age=None if max_age is None else seconds_text(max_age),
            now=seconds_text(now),
        )
        eligible: bool = result["eligible"]
        return eligible

    def admit(self, retained: Retained, requester: Party, now: Seconds, share_max: str) -> Admission:
        """Send both parties, the state and what the request asks for."""
        max_age = retained.max_age
        result = self._session.ask(
            Operation.ADMIT,
            retained={
                **_party(retained.party),
                "scope": retained.scope,
                "materialized_at": seconds_text(retained.materialized_at),
                "max_age": None if max_age is None else seconds_text(max_age),
            },
            requester={**_party(requester), "share_max": share_max, "now": seconds_text(now)},
        )
        return Admission(result["may_read"], result["boundary"])

    def asked(self) -> tuple[str, ...]:
        """Give the request lines since the last call."""
        return self._session.asked()


def _require_served(result: Mapping[str, Any]) -> None:
    if "refused" in result:
        raise Refused(result["refused"])


def _party(party: Party) -> dict[str, Any]:
    return {
        "tenant": party.tenant,
        "principal": party.principal,
        "session": party.session,
        "request": party.request,
        "namespaces": [*party.namespaces],
    }


def _policy(policy: Any) -> JsonValue:
    """Read the one number of a policy."""
    if policy is None or "max_age" not in policy["retention"]:
        return policy  # type: ignore[no-any-return]
    retention = {**policy["retention"], "max_age": int(policy["retention"]["max_age"])}
    return {**policy, "retention": retention}
