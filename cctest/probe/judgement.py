"""What a predicate is given, and what it says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from cctest.contract.capabilities import Capabilities
from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import ErrorCode
from cctest.probe.case import Expectation
from cctest.probe.observation import Observation
from cctest.probe.prompt import Setting
from cctest.verdict import Evidence, Result, Source


@dataclass(frozen=True, slots=True)
class Advertised:
    """The capabilities end point's answer: HTTP status, the document if there was one, and its meaning."""

    status: int
    document: JsonValue = None
    capabilities: Capabilities | None = None
    faults: tuple[str, ...] = ()

    @property
    def exposed(self) -> bool:
        """Whether what came back means to be a JSON document, whatever is in it."""
        return self.status == 200 and (self.document is not None or bool(self.faults))

    @property
    def outline(self) -> str:
        """The answer in a few words."""
        return f"HTTP {self.status}" + (" without JSON" if self.status == 200 and not self.exposed else "")


@dataclass(frozen=True, slots=True)
class World:
    """All that one run of one cell showed."""

    setting: Setting
    observations: Mapping[str, Observation]
    advertised: Advertised

    @property
    def needs(self) -> tuple[str, ...]:
        """The capabilities that this cell needs."""
        return self.setting.case.needed(self.setting.cell)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The decision on one expectation.

    `repeatable` marks a failure that is shown by usage counts or status alone: noise could have caused it,
    so it must be seen twice. `persistent` marks a failure that only counts if every attempt shows it: an
    overloaded target answers 500 now and then. `retry` marks what another attempt may decide.
    `uncontrolled` marks an absence of reuse that only lacked its positive control.
    `rests_on` names the step and the fragment whose outcome `exact_hit` is all that a failure rests on; it
    counts only if the target doesn't say the same of a text that nobody ever sent (see `blank`).
    """

    result: Result
    message: str
    expected: str = ""
    seen: str = ""
    evidence: tuple[Evidence, ...] = ()
    repeatable: bool = False
    persistent: bool = False
    retry: bool = False
    uncontrolled: bool = False
    rests_on: tuple[str, str] | None = None


Predicate: TypeAlias = Callable[[Expectation, World], Judgement]


def passed(message: str, *evidence: Evidence) -> Judgement:
    """The expectation holds."""
    return Judgement(Result.PASS, message, evidence=evidence)


def failed(message: str, expected: str, seen: str, *evidence: Evidence) -> Judgement:
    """The expectation is broken."""
    return Judgement(Result.FAIL, message, expected, seen, evidence)


def inconclusive(message: str, *evidence: Evidence) -> Judgement:
    """Something that the decision needs wasn't observed."""
    return Judgement(Result.INCONCLUSIVE, message, evidence=evidence)


def refuses_conversation(world: World) -> bool:
    """Whether every request of the cell was refused, and none for a reason of this contract.

    A target may take no tools, or no system message behind a user's: that is no matter of this contract.
    """
    seen = list(world.observations.values())
    return bool(seen) and all(_refused_otherwise(observation) for observation in seen)


def _refused_otherwise(observation: Observation) -> bool:
    response, chat = observation.response, observation.chat
    if response is None or chat is None or observation.answered:
        return False
    ours = chat.error_code in tuple(ErrorCode)
    return 400 <= response.status < 500 and response.status not in (401, 403, 429) and not ours


def response_evidence(observation: Observation) -> Evidence:
    """The response as such, as evidence."""
    return Evidence(Source.RESPONSE, f"{observation.step.id}: {observation.outline}")


def missing_capability(needs: tuple[str, ...], advertised: Advertised) -> str | None:
    """Return a quotation of the first capability of `needs` that the target says it lacks.

    None if it advertises all of them, or advertises nothing at all (CAP-1 is a SHOULD: silence says nothing).
    """
    if advertised.capabilities is None or not isinstance(advertised.document, dict):
        return None
    inner = advertised.document.get("cache_intent_capabilities")
    constraints = inner.get("constraints") if isinstance(inner, dict) else None
    if not isinstance(constraints, dict):
        return None
    for need in needs:
        member, _, value = need.partition("=")
        stated = constraints.get(member)
        if not (value in stated if value and isinstance(stated, list) else stated is True):
            quoted = "absent" if member not in constraints else str(stated)
            wanted = f" (needs {value})" if value else ""
            return f"capabilities: constraints.{member} is {quoted}{wanted}"
    return None
