"""Behavioural cases as values: who sends which fragments with which intents, and what must then hold.

The shape of the files is `schemas/behaviour.schema.json`; loading them is `cctest.probe.load`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from cctest.contract.source import JsonValue


class Role(StrEnum):
    """A caller, named by how its credential relates to the one that sent first (SHR-1)."""

    SELF = "self"
    OTHER_SESSION = "other-session"
    OTHER_PRINCIPAL = "other-principal"
    OTHER_TENANT = "other-tenant"
    NAMESAKE = "namesake"
    """Another tenant's principal of the same name."""
    SESSIONLESS = "sessionless"
    """The same principal with a credential that is bound to no session."""
    STRANGER = "stranger"
    """A credential that the target has never seen."""
    NOBODY = "nobody"
    """No credential at all."""
    INSIDE = "inside"
    """The furthest caller who shares the cell's scope with the first."""
    OUTSIDE = "outside"
    """The nearest caller who doesn't."""


class Place(StrEnum):
    """Where in a chat request a fragment goes (BND-1)."""

    TOOLS = "tools"
    MESSAGES = "messages"
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    PARTS = "parts"
    """A user message whose content is an array of parts."""
    RESULT = "result"
    """A tool's result, behind the assistant's call of it."""


class Attach(StrEnum):
    """To what a fragment's intent is attached; anything but the fragment itself is misplaced."""

    FRAGMENT = "fragment"
    PART = "part"
    FUNCTION = "function"


_ROUND_THE_BOUNDARY: Mapping[str, tuple[Role, Role]] = {
    "session": (Role.SELF, Role.OTHER_SESSION),
    "principal": (Role.OTHER_SESSION, Role.OTHER_PRINCIPAL),
    "tenant": (Role.OTHER_PRINCIPAL, Role.OTHER_TENANT),
}


def role_in(cell: Mapping[str, str], role: Role) -> Role:
    """Say who `inside` and `outside` are, by the cell's scope."""
    if role not in (Role.INSIDE, Role.OUTSIDE):
        return role
    inside, outside = _ROUND_THE_BOUNDARY[cell["scope"]]
    return inside if role is Role.INSIDE else outside


def wider_than(scope: str) -> str:
    """Give a scope that is wider than that of a cell: `${wider}`."""
    return "public" if scope == "tenant" else "tenant"


@dataclass(frozen=True, slots=True)
class FragmentSpec:
    """One fragment to send: a named text, optionally governed by a named intent.

    Without `place` a fragment goes where the cell's `place` axis says. `members` are added to it.
    """

    text: str
    intent: str | None = None
    place: Place | None = None
    attach: Attach = Attach.FRAGMENT
    members: Mapping[str, JsonValue] = field(default_factory=dict)


class Change(StrEnum):
    """How a text differs from the one that it is made of."""

    OTHER_WORDS = "other-words"
    """In its first words only."""
    UPPER_CASE = "upper-case"
    NUMBERED_17 = "numbered-17"
    """A number stands before every eighth word."""
    NUMBERED_42 = "numbered-42"


@dataclass(frozen=True, slots=True)
class Variant:
    """A text that is made of another one."""

    of: str
    change: Change


@dataclass(frozen=True, slots=True)
class Wait:
    """Send no earlier than `seconds` after the response to `step` was complete."""

    step: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Step:
    """One request. `body` members and `headers` are added to it; `raw` replaces the body altogether.

    `misbehaviour` is what the attached engine does to it (see `cctest.instrument.misbehaviour`). With
    `give_up` the caller goes away after so many seconds.
    """

    id: str
    by: Role
    fragments: tuple[FragmentSpec, ...] = ()
    after: Wait | None = None
    body: Mapping[str, JsonValue] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: str | None = None
    misbehaviour: Mapping[str, JsonValue] | None = None
    give_up: float | None = None

    @property
    def queued(self) -> float:
        """Seconds for which the attached engine has this step's request wait before it looks anything up."""
        delay = self.misbehaviour.get("delay") if self.misbehaviour else None
        seconds = delay.get("look_up") if isinstance(delay, dict) else None
        return float(seconds) if isinstance(seconds, int | float) else 0.0


@dataclass(frozen=True, slots=True)
class Expectation:
    """What must hold after the steps: a predicate's name and its arguments.

    `level` is MUST or SHOULD: a missed SHOULD is a warning. `control` names the step that has to show
    reuse before the absence of reuse means anything.
    """

    id: str
    predicate: str
    rules: tuple[str, ...]
    arguments: Mapping[str, JsonValue]
    level: str = "MUST"
    step: str | None = None
    control: str | None = None


@dataclass(frozen=True, slots=True)
class ReadingSpec:
    """How to tell which permitted reading the target takes: what to observe, and what each value means."""

    id: str
    observe: str
    step: str
    options: Mapping[str, str]
    arguments: Mapping[str, JsonValue] = field(default_factory=dict)
    control: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One behavioural case.

    `texts` gives the length of each text in units (a unit is what a cache can be relied on to hold:
    see `cctest.probe.prompt`). `needs` lists the capabilities without which the target need not show reuse,
    for example `share_max=tenant`. `filler` names the intent of filler fragments. `variants` are
    texts made of others. `axes` lists the values of
    each axis (see `cctest.probe.cells`). `group` is the name of the case's file, without ending.
    """

    id: str
    title: str
    rules: tuple[str, ...]
    texts: Mapping[str, float]
    intents: Mapping[str, JsonValue]
    steps: tuple[Step, ...]
    expectations: tuple[Expectation, ...]
    readings: tuple[ReadingSpec, ...] = ()
    needs: tuple[str, ...] = ()
    filler: str | None = None
    variants: Mapping[str, Variant] = field(default_factory=dict)
    two_ended: bool = False
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    appendix: int | None = None
    group: str = ""

    def roles(self, cell: Mapping[str, str]) -> frozenset[Role]:
        """The callers that the case needs in a cell."""
        return frozenset(role_in(cell, step.by) for step in self.steps)

    def needed(self, cell: Mapping[str, str]) -> tuple[str, ...]:
        """The capabilities that the case needs in a cell."""
        scope = cell.get("scope", "")
        return tuple(
            need.replace("${scope}", scope).replace("${wider}", wider_than(scope)) for need in self.needs
        )

    @property
    def all_rules(self) -> frozenset[str]:
        """Every rule that the case or one of its expectations names."""
        return frozenset(self.rules).union(*(expectation.rules for expectation in self.expectations))

    @property
    def bounds_an_age(self) -> bool:
        """Whether an intent of the case sets a bound that leaves any time to reuse state in."""
        return any(_bound_of(intent) for intent in self.intents.values())

    @property
    def checks(self) -> tuple[str, ...]:
        """The identifiers of the case's checks, `case#expectation`."""
        return tuple(f"{self.id}#{expectation.id}" for expectation in self.expectations)

    def without(self, checks: Collection[str]) -> "Case":
        """The case without the expectations of `checks`; the steps stay as they are."""
        pairs = zip(self.checks, self.expectations, strict=True)
        return replace(self, expectations=tuple(expected for check, expected in pairs if check not in checks))


def _bound_of(intent: JsonValue) -> JsonValue:
    """Find the bound in an intent, whatever shape the intent has."""
    found = intent
    for name in ("constraints", "retention", "max_age"):
        found = found.get(name) if isinstance(found, dict) else None
    return found
