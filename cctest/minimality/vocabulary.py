"""The members, values, readers and stated equalities that a search is about (`spec/minimality.yaml`)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Final

from cctest.contract.source import JsonValue
from cctest.probe.case import Role

Patch = Mapping[str, JsonValue]
"""A JSON merge patch (RFC 7396): null takes a member away."""

MOST_SETTINGS: Final = 2_000
"""Most combinations of constraints that are tried."""

_PLACEHOLDER: Final = re.compile(r"\$\{([a-z_]+)(?::(\d+))?\}")


class MemberKind(StrEnum):
    """What a member is, and so by which criterion it is judged."""

    CONSTRAINT = "constraint"
    HINT = "hint"


class Composes(StrEnum):
    """What two values of a constraint make together."""

    STRICTEST = "strictest"
    SEQUENCE = "sequence"


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a member, and what it puts into an intent."""

    name: str
    intent: Patch


@dataclass(frozen=True, slots=True)
class Widening:
    """The claim that `value` differs from `narrower` only on input that `narrower` can't serve."""

    value: str
    narrower: str


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the intent with the values that are tried."""

    name: str
    kind: MemberKind
    values: tuple[Value, ...]
    composes: Composes = Composes.STRICTEST
    widens: Widening | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who comes after the writer and asks for the same input, or for similar input.

    `intent` changes each of the writer's intents, `first` then the first one. A `later` reader comes when the
    vocabulary's seconds have passed.
    """

    name: str
    role: Role
    text: str
    similar: bool = False
    later: bool = False
    intent: Patch | None = None
    first: Patch | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """One value for each of some members, in the vocabulary's order."""

    choices: tuple[tuple[str, str], ...]

    def value(self, member: str) -> str | None:
        """Give the value of a member; None where it isn't set."""
        return dict(self.choices).get(member)

    def replacing(self, member: str, value: str) -> "Setting":
        """Give the setting that differs in one member; one that isn't set yet is added at the end."""
        return Setting(tuple((dict(self.choices) | {member: value}).items()))

    def without(self, *members: str) -> "Setting":
        """Leave members out."""
        return Setting(tuple(choice for choice in self.choices if choice[0] not in members))

    def beside(self, other: "Setting") -> "Setting":
        """Leave what distinguishes this setting from another one."""
        return Setting(tuple(choice for choice in self.choices if choice not in other.choices))

    def __str__(self) -> str:
        return ", ".join(f"{member}={value}" for member, value in self.choices)


@dataclass(frozen=True, slots=True)
class Equality:
    """The statement that rules make settings equal: those with these values, whatever the ignored members."""

    where: Mapping[str, tuple[str, ...]]
    ignoring: tuple[str, ...]
    rules: tuple[str, ...]
    because: str

    def covers(self, setting: Setting) -> bool:
        """Tell whether a setting is among them."""
        return all(setting.value(member) in values for member, values in self.where.items())

    def rest(self, setting: Setting) -> Setting:
        """Give what settings must have in common to be equal by this statement."""
        return setting.without(*self.where, *self.ignoring)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """All that one search is about. `seconds` is the `max_age` that is tried."""

    seconds: int
    base: Setting
    members: tuple[Member, ...]
    readers: tuple[Reader, ...]
    equal: tuple[Equality, ...]

    @property
    def constraints(self) -> tuple[Member, ...]:
        """The members that are judged as constraints."""
        return tuple(member for member in self.members if member.kind is MemberKind.CONSTRAINT)

    @property
    def hints(self) -> tuple[Member, ...]:
        """The members that are judged as hints."""
        return tuple(member for member in self.members if member.kind is MemberKind.HINT)

    def settings(self) -> Iterator[Setting]:
        """Yield every combination of values of the constraints."""
        names = [member.name for member in self.constraints]
        for values in product(*(member.values for member in self.constraints)):
            yield Setting(tuple((name, value.name) for name, value in zip(names, values, strict=True)))

    def intent(self, setting: Setting, hint_max: int) -> dict[str, JsonValue]:
        """Spell a setting as an intent. `hint_max` is in seconds: what the gateway advertises."""
        intent: JsonValue = {"version": 1}
        for member in self.members:
            for value in member.values:
                if setting.value(member.name) == value.name:
                    intent = merged(intent, dict(value.intent))
        spelt = _filled(intent, {"seconds": self.seconds, "hint_max": hint_max})
        if not isinstance(spelt, dict):
            raise TypeError("a merge patch that is an object leaves an object")
        return spelt


def merged(value: JsonValue, patch: JsonValue) -> JsonValue:
    """Apply a JSON merge patch."""
    if not isinstance(patch, dict):
        return patch
    result = dict(value) if isinstance(value, dict) else {}
    for name, change in patch.items():
        if change is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), change)
    return result


def _filled(value: JsonValue, numbers: Mapping[str, int]) -> JsonValue:
    if isinstance(value, dict):
        return {name: _filled(member, numbers) for name, member in value.items()}
    match = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[1] not in numbers:
        return value
    return numbers[match[1]] + int(match[2] or 0)
