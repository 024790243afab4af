"""The seam between vectors and whatever they judge: our own core, or an implementation behind an adapter.

Vectors ask; the judging of what is answered is the same for all. Every method may raise NotOffered, and any
other exception, which makes an error of the checks that needed the answer.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import Kind

Intent: TypeAlias = Mapping[str, JsonValue] | str
"""A `cache_intent` as it stands on a fragment: without its wrapper, faults included.

It is an exact text where a vector has one, else the value that it stands for.
"""

Seconds: TypeAlias = int | float


class NotOffered(Exception):
    """The implementation says that it has no such operation, or not for this input."""


class Refused(Exception):
    """The implementation holds an intent to be at fault, and so has no result for it."""


class AnswerError(Exception):
    """The implementation couldn't be got to answer; the message says so for people."""


@dataclass(frozen=True, slots=True)
class Document:
    """A stand-alone document: its exact bytes where a vector has them, else the value that they stand for."""

    kind: Kind
    value: JsonValue = None
    raw: bytes | None = None

    @property
    def text(self) -> bytes:
        """The document as JSON text."""
        return json_text(self.value).encode() if self.raw is None else self.raw


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one reader makes of a document. `pointers` is None where it doesn't say where the faults are."""

    who: str
    valid: bool
    pointers: tuple[str, ...] | None = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Party:
    """An authenticated request: whose, and under which namespaces. `session` is None where it has none."""

    tenant: str
    principal: str
    session: str | None
    request: str
    namespaces: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Retained:
    """State that was kept: by whom, under which scope, when (seconds on a monotonic clock), for how long."""

    party: Party
    scope: str
    materialized_at: Seconds
    max_age: int | None


@dataclass(frozen=True, slots=True)
class Admission:
    """Whether state may be read, and the scope of what is computed from it; None where none is left."""

    may_read: bool
    boundary: str | None


class Implementation(Protocol):
    """An implementation under test."""

    def validate(self, document: Document) -> Sequence[Opinion]:
        """Say whether a document is valid: the opinion of each reader that the implementation has."""

    def digest(self, namespaces: Sequence[str]) -> str | None:
        """Give the namespace digest, None where there is none (DIG-1..3)."""

    def identical(self, first: Sequence[str], second: Sequence[str], *, same_input: bool) -> bool:
        """Say whether two requests have the same cache identity (NS-1..3)."""

    def compose(self, intents: Sequence[Intent | None]) -> Sequence[JsonValue]:
        """Give the policy after each fragment, None for no policy (CMP-1..9). A fragment may have no intent.

        Raises Refused where an intent is at fault.
        """

    def intake(self, intent: Intent, capabilities: JsonValue) -> str:
        """Say what becomes of an intent: `served`, `reject` or `fresh_no_retention_fallback` (INT-2).

        `capabilities` is what the implementation is to take itself to advertise, None for everything.
        """

    def hints(self, intent: Intent, reuse_within_max: int | None) -> Mapping[str, JsonValue]:
        """Say what is reported of each hint; one may be left out (STA-9, STA-10).

        `reuse_within_max` is the advertised maximum, None where the hint isn't advertised. Raises Refused
        where the intent is at fault.
        """

    def eligible(self, materialized_at: Seconds, max_age: int | None, now: Seconds) -> bool:
        """Say whether state may still be reused at an instant (RET-3)."""

    def admit(self, retained: Retained, requester: Party, now: Seconds, share_max: str) -> Admission:
        """Say whether a request may read state, and how far the result is shared (POL-1..4)."""

    def asked(self) -> tuple[str, ...]:
        """Give what was asked since the last call, as it can be asked again; () where there is nothing."""


def intent_text(intent: Intent) -> str:
    """Give an intent as JSON text."""
    return intent if isinstance(intent, str) else json_text(intent)


def json_text(value: object) -> str:
    """Write a value as JSON in ASCII: the text that another implementation is given to read."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
