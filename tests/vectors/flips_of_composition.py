"""Flips of composition (CMP-1..9)."""

from typing import Any

import pytest
from flip import Flip, flip

from cctest.contract import composition
from cctest.contract.composition import NO_POLICY, Composer, EffectivePolicy
from cctest.contract.intent import Constraints, Retention
from cctest.contract.vocabulary import RetentionMode, Reuse, Scope

ALLOW, FORBID = RetentionMode.ALLOW, RetentionMode.FORBID


def _replaced(function: str, broken: Any) -> Any:
    def apply(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(composition, function, broken)

    return apply


def _bounds(one: Retention, other: Retention) -> list[int]:
    return [bound for bound in (one.max_age, other.max_age) if bound is not None]


def _absent_is_zero(one: Retention, other: Retention) -> Retention:
    if FORBID in (one.mode, other.mode):
        return Retention(FORBID)
    return Retention(ALLOW, min(one.max_age or 0, other.max_age or 0))


def _largest(one: Retention, other: Retention) -> Retention:
    if FORBID in (one.mode, other.mode):
        return Retention(FORBID)
    return Retention(ALLOW, max(_bounds(one, other), default=None))


def _absent_lifts_the_bound(one: Retention, other: Retention) -> Retention:
    if FORBID in (one.mode, other.mode):
        return Retention(FORBID)
    bounds = _bounds(one, other)
    return Retention(ALLOW, min(bounds) if len(bounds) == 2 else None)


def _zero_is_absent(one: Retention, other: Retention) -> Retention:
    if FORBID in (one.mode, other.mode):
        return Retention(FORBID)
    return Retention(ALLOW, min(filter(None, _bounds(one, other)), default=None))


def _forbid_is_forgotten(one: Retention, other: Retention) -> Retention:
    return other if one.mode is FORBID else _absent_forbids_nothing(one, other)


def _absent_forbids_nothing(one: Retention, other: Retention) -> Retention:
    if other.mode is FORBID:
        return other
    return Retention(ALLOW, min(_bounds(one, other), default=None))


def _forbid_becomes_zero(one: Retention, other: Retention) -> Retention:
    bounds = _bounds(one, other) + [0 for each in (one, other) if each.mode is FORBID]
    return Retention(ALLOW, min(bounds, default=None))


def _none_is_ignored(one: Reuse, other: Reuse) -> Reuse:
    counted = [reuse for reuse in (one, other) if reuse is not Reuse.NONE]
    return min(counted, key=lambda reuse: reuse.rank, default=Reuse.NONE)


def _starts_public(patch: pytest.MonkeyPatch) -> None:
    def start(self: Any) -> None:
        original(self)
        self._policy = EffectivePolicy(Retention(ALLOW), Reuse.APPROXIMATE, Scope.PUBLIC, None)

    original = Composer.__init__
    patch.setattr(Composer, "__init__", start)


def _gap_has_no_policy(patch: pytest.MonkeyPatch) -> None:
    def add(self: Composer, constraints: Constraints | None) -> composition.Policy:
        return NO_POLICY if constraints is None else original(self, constraints)

    original = Composer.add
    patch.setattr(Composer, "add", add)


def _gap_starts_anew(patch: pytest.MonkeyPatch) -> None:
    def add(self: Any, constraints: Constraints | None) -> composition.Policy:
        if constraints is None:
            self._policy = NO_POLICY
        return original(self, constraints)

    original = Composer.add
    patch.setattr(Composer, "add", add)


def _request_governs_each_fragment(patch: pytest.MonkeyPatch) -> None:
    def compose(fragments: Any) -> list[composition.Policy]:
        policies = original(fragments)
        return [policies[-1]] * len(policies)

    original = composition.compose
    patch.setattr(composition, "compose", compose)


def _last_intent_alone_governs(patch: pytest.MonkeyPatch) -> None:
    def compose(fragments: Any) -> list[composition.Policy]:
        return [original([fragment])[0] for fragment in fragments]

    original = composition.compose
    patch.setattr(composition, "compose", compose)


FLIPS: tuple[Flip, ...] = (
    flip(
        "last-share-max-wins",
        _replaced("meet_scope", lambda one, other: other),
        "tenant-head-public-tail-stays-tenant",
        "narrowest-scope-in-the-middle-wins",
        "no-step-is-wider",
    ),
    flip(
        "first-share-max-wins",
        _replaced("meet_scope", lambda one, other: one),
        "public-head-tenant-tail",
        "every-step-narrower",
    ),
    flip(
        "widest-share-max-wins",
        _replaced("meet_scope", lambda one, other: max(one, other, key=lambda scope: scope.rank)),
        "every-step-narrower",
        "no-step-is-wider",
    ),
    flip(
        "scopes-in-alphabetical-order",
        _replaced("meet_scope", lambda one, other: min(one, other, key=str)),
        "every-step-narrower",
        "no-step-is-wider",
    ),
    flip(
        "absent-max-age-read-as-zero",
        _replaced("meet_retention", _absent_is_zero),
        "bound-after-no-bound-is-the-bound",
        "no-bound-after-bound-adds-none",
        "nobody-bounds-age",
    ),
    flip(
        "absent-max-age-lifts-the-bound",
        _replaced("meet_retention", _absent_lifts_the_bound),
        "no-bound-after-bound-adds-none",
        "bound-after-no-bound-is-the-bound",
    ),
    flip(
        "largest-max-age-wins",
        _replaced("meet_retention", _largest),
        "smallest-max-age-in-the-middle-wins",
        "max-age-keeps-its-last-digit",
    ),
    flip(
        "max-age-of-zero-read-as-absent",
        _replaced("meet_retention", _zero_is_absent),
        "max-age-zero-first-is-a-bound",
        "max-age-zero-last-is-a-bound",
    ),
    flip(
        "forbid-not-sticky",
        _replaced("meet_retention", _forbid_is_forgotten),
        "forbid-then-allow-forbids",
        "forbid-in-the-middle-is-not-undone",
        "propagation-reaches-every-later-fragment",
    ),
    flip(
        "forbid-turned-into-a-bound-of-zero",
        _replaced("meet_retention", _forbid_becomes_zero),
        "allow-then-forbid-forbids",
        "forbid-then-allow-forbids",
    ),
    flip(
        "approximate-beats-exact",
        _replaced("meet_reuse", lambda one, other: max(one, other, key=lambda reuse: reuse.rank)),
        "exact-after-approximate-is-exact",
        "approximate-after-exact-stays-exact",
    ),
    flip(
        "none-ignored",
        _replaced("meet_reuse", _none_is_ignored),
        "none-beats-exact-whichever-comes-first",
        "none-beats-approximate-whichever-comes-first",
    ),
    flip(
        "empty-composition-is-public",
        _starts_public,
        "no-intent-is-no-policy",
        "policy-starts-at-the-first-intent",
    ),
    flip("fragment-without-intent-has-no-policy", _gap_has_no_policy, "fragment-without-intent-inherits"),
    flip("fragment-without-intent-starts-anew", _gap_starts_anew, "composition-goes-on-behind-a-gap"),
    flip(
        "whole-request-governs-each-fragment",
        _request_governs_each_fragment,
        "later-fragment-does-not-govern-earlier-state",
        "digest-grows-fragment-by-fragment",
    ),
    flip(
        "each-fragment-for-itself",
        _last_intent_alone_governs,
        "members-compose-each-for-itself",
        "repeated-namespace-counts-twice",
    ),
)
