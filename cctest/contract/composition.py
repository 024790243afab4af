"""Composition of the intents that a piece of state depends on (CMP-1..9), in one pass.

The effective policy after fragment k covers fragments 0..k. Every member is a meet, so it can only get
stricter; the namespace digest alone depends on order and number.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, TypeAlias

from cctest.contract.digest import NamespaceDigest
from cctest.contract.intent import Constraints, Retention, retention_to_json
from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import RetentionMode, Reuse, Scope


class NoPolicy(Enum):
    """The absence of any effective policy. It is no policy at all, least of all the widest (CMP-6)."""

    NO_POLICY = "no policy"


NO_POLICY: Final = NoPolicy.NO_POLICY


@dataclass(frozen=True, slots=True)
class EffectivePolicy:
    """What governs a piece of state. `namespace_digest` is None if no fragment supplied a namespace."""

    retention: Retention
    reuse: Reuse
    share_max: Scope
    namespace_digest: str | None = None


Policy: TypeAlias = EffectivePolicy | Literal[NoPolicy.NO_POLICY]


def meet_retention(one: Retention, other: Retention) -> Retention:
    """Give the stricter of two retentions: `forbid` wins, else the smallest `max_age` (CMP-2, CMP-3)."""
    if one is other:
        return one
    if RetentionMode.FORBID in (one.mode, other.mode):
        return Retention(RetentionMode.FORBID)
    bounds = [bound for bound in (one.max_age, other.max_age) if bound is not None]
    return Retention(RetentionMode.ALLOW, min(bounds, default=None))


def meet_reuse(one: Reuse, other: Reuse) -> Reuse:
    """Give the stricter of two kinds of reuse (CMP-4)."""
    return other if other.rank < one.rank else one


def meet_scope(one: Scope, other: Scope) -> Scope:
    """Give the narrower of two scopes (CMP-5)."""
    return other if other.rank < one.rank else one


class Composer:
    """Composes fragment by fragment, at the cost of each fragment's own bytes."""

    __slots__ = ("_digest", "_policy")

    def __init__(self) -> None:
        self._digest = NamespaceDigest()
        self._policy: Policy = NO_POLICY

    @property
    def policy(self) -> Policy:
        """The policy after the fragments so far."""
        return self._policy

    def add(self, constraints: Constraints | None) -> Policy:
        """Take the next fragment in rendered order (CMP-11) and give the policy after it.

        None stands for a fragment without an intent: it inherits what was before it (CMP-7).
        """
        if constraints is None:
            return self._policy
        if constraints.namespace is not None:
            self._digest.add(constraints.namespace)
        before = self._policy
        if before is NO_POLICY:
            retention, reuse, scope = constraints.retention, constraints.reuse, constraints.share_max
        else:
            retention = meet_retention(before.retention, constraints.retention)
            reuse = meet_reuse(before.reuse, constraints.reuse)
            scope = meet_scope(before.share_max, constraints.share_max)
        self._policy = EffectivePolicy(retention, reuse, scope, self._digest.hexdigest())
        return self._policy


def compose(fragments: Iterable[Constraints | None]) -> list[Policy]:
    """Give the policy after each fragment, in order. The last one is that of the whole request."""
    composer = Composer()
    return [composer.add(constraints) for constraints in fragments]


def policy_to_json(policy: Policy) -> dict[str, JsonValue] | None:
    """Spell a policy as vectors do: None for no policy, absent members left out."""
    if policy is NO_POLICY:
        return None
    spelt: dict[str, JsonValue] = {
        "retention": retention_to_json(policy.retention),
        "reuse": str(policy.reuse),
        "share_max": str(policy.share_max),
    }
    if policy.namespace_digest is not None:
        spelt["namespace_identity"] = policy.namespace_digest
    return spelt
