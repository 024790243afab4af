"""What a policy does, as seen from outside: an observation for the writer and for each reader after it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from cctest.minimality.vocabulary import Setting

WRITER: Final = "writer"
"""The name under which the first request is observed."""

Subject: TypeAlias = tuple[Setting, ...]
"""The settings of a request's fragments, in order."""


class Effect(StrEnum):
    """What became of the input, by the usage count (`cached_tokens`)."""

    COMPUTED = "computed"
    REUSED = "reused"


@dataclass(frozen=True, slots=True)
class Observation:
    """What one request showed: the effect, and the status entry of its last fragment as JSON text."""

    effect: Effect
    report: str

    def __str__(self) -> str:
        return f"{self.effect}, {self.report}"


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The observations by name: WRITER, then the readers."""

    observations: tuple[tuple[str, Observation], ...]

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects alone: what a cache did, whatever was said about it."""
        return tuple(observation.effect for _, observation in self.observations)

    def __getitem__(self, name: str) -> Observation:
        return dict(self.observations)[name]

    def differences(self, other: "Behaviour") -> list[str]:
        """Name the observations that differ, those with another effect first."""
        mine, theirs = dict(self.observations), dict(other.observations)
        differing = [name for name in mine if mine[name] != theirs[name]]
        return sorted(differing, key=lambda name: mine[name].effect is theirs[name].effect)


@dataclass(frozen=True, slots=True)
class Observed:
    """Everything that a search saw.

    `singles` are requests of one fragment under each setting, `pairs` of two fragments at the base but for
    one member (its name, and its two values), `hinted` of one fragment with a hint. `crossings` tell for two
    requests of two fragments each whether the second one read what the first one had retained. `hint_max` is
    the advertised `reuse_within_max` in seconds, `requests` how many were sent.
    """

    singles: Mapping[Setting, Behaviour]
    pairs: Mapping[tuple[str, str, str], Behaviour]
    hinted: Mapping[Setting, Behaviour]
    crossings: Mapping[tuple[str, tuple[str, str], tuple[str, str]], Effect]
    hint_max: int = 0
    requests: int = 0
