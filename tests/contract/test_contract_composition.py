import hashlib
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from contract_strategies import CONSTRAINTS, FRAGMENTS, RETENTIONS
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.composition import (
    NO_POLICY,
    Composer,
    EffectivePolicy,
    NoPolicy,
    Policy,
    compose,
    meet_retention,
    meet_reuse,
    meet_scope,
    policy_to_json,
)
from cctest.contract.intent import Constraints, Retention, read_constraints
from cctest.contract.vocabulary import RetentionMode, Reuse, Scope

REUSES, SCOPES = st.sampled_from(Reuse), st.sampled_from(Scope)
TOOLS = {
    "retention": {"mode": "allow", "max_age": 86400},
    "reuse": "exact",
    "share_max": "public",
    "namespace": "tools:v7",
}
SYSTEM = {
    "retention": {"mode": "allow", "max_age": 3600},
    "reuse": "exact",
    "share_max": "tenant",
    "namespace": "agent:v4",
}


def composed(*fragments: Any) -> list[Any]:
    constraints = [None if fragment is None else read_constraints(fragment) for fragment in fragments]
    return [policy_to_json(policy) for policy in compose(constraints)]


def test_a_public_prefix_keeps_its_policy_before_a_tenant_fragment() -> None:
    assert composed(TOOLS, SYSTEM) == [
        {
            "retention": {"mode": "allow", "max_age": 86400},
            "reuse": "exact",
            "share_max": "public",
            "namespace_identity": "b42d2c88b53bb913c2637817ff163308807ac7ba31ecf20bca0631fabccd38e1",
        },
        {
            "retention": {"mode": "allow", "max_age": 3600},
            "reuse": "exact",
            "share_max": "tenant",
            "namespace_identity": "747083201bfe64956b7607c3202ad0a21214b11de2404d188f30455d4f773dcc",
        },
    ]


def test_a_later_fragment_cannot_widen_sharing() -> None:
    assert [policy["share_max"] for policy in composed(SYSTEM, TOOLS)] == ["tenant", "tenant"]


@pytest.mark.parametrize(
    ("first", "second", "effective"),
    [
        ({"mode": "forbid"}, {"mode": "allow"}, {"mode": "forbid"}),
        ({"mode": "allow", "max_age": 5}, {"mode": "forbid"}, {"mode": "forbid"}),
        ({"mode": "allow", "max_age": 5}, {"mode": "allow"}, {"mode": "allow", "max_age": 5}),
        ({"mode": "allow", "max_age": 0}, {"mode": "allow"}, {"mode": "allow", "max_age": 0}),
        ({"mode": "allow", "max_age": 5}, {"mode": "allow", "max_age": 6}, {"mode": "allow", "max_age": 5}),
        ({"mode": "allow"}, {"mode": "allow"}, {"mode": "allow"}),
    ],
)
def test_the_stricter_retention_wins_in_either_order(first: Any, second: Any, effective: Any) -> None:
    for one, other in ((first, second), (second, first)):
        fragments = [{**TOOLS, "retention": retention} for retention in (one, other)]
        assert composed(*fragments)[1]["retention"] == effective


@pytest.mark.parametrize(
    ("first", "second", "effective"),
    [("none", "exact", "none"), ("exact", "approximate", "exact"), ("none", "approximate", "none")],
)
def test_the_stricter_reuse_wins_in_either_order(first: str, second: str, effective: str) -> None:
    for one, other in ((first, second), (second, first)):
        assert composed({**TOOLS, "reuse": one}, {**TOOLS, "reuse": other})[1]["reuse"] == effective


def test_scopes_are_ordered_from_request_to_public() -> None:
    order = ["request", "session", "principal", "tenant", "public"]
    for narrow, wide in pairwise(order):
        pair = [{**TOOLS, "share_max": scope} for scope in (wide, narrow)]
        assert composed(*pair)[1]["share_max"] == narrow


def test_no_contributing_fragment_means_no_policy() -> None:
    assert compose([]) == []
    assert compose([None, None]) == [NO_POLICY, NO_POLICY]
    assert policy_to_json(NO_POLICY) is None
    assert Composer().policy is NO_POLICY
    assert isinstance(NO_POLICY, NoPolicy)


def test_a_fragment_without_intent_inherits_and_leading_ones_get_nothing() -> None:
    policies = composed(None, SYSTEM, None)
    assert policies[0] is None
    assert policies[2] == policies[1]


def test_without_namespaces_there_is_no_namespace_identity() -> None:
    bare = {name: value for name, value in TOOLS.items() if name != "namespace"}
    assert "namespace_identity" not in composed(bare)[0]
    assert composed(bare, TOOLS)[1]["namespace_identity"] == (
        "b42d2c88b53bb913c2637817ff163308807ac7ba31ecf20bca0631fabccd38e1"
    )


@given(RETENTIONS, RETENTIONS, RETENTIONS)
def test_retention_is_a_meet(one: Retention, two: Retention, three: Retention) -> None:
    assert meet_retention(one, one) == one
    assert meet_retention(one, two) == meet_retention(two, one)
    assert meet_retention(meet_retention(one, two), three) == meet_retention(one, meet_retention(two, three))


@given(REUSES, REUSES, REUSES)
def test_reuse_is_a_meet(one: Reuse, two: Reuse, three: Reuse) -> None:
    assert meet_reuse(one, one) is one
    assert meet_reuse(one, two) is meet_reuse(two, one)
    assert meet_reuse(meet_reuse(one, two), three) is meet_reuse(one, meet_reuse(two, three))


@given(SCOPES, SCOPES, SCOPES)
def test_sharing_is_a_meet(one: Scope, two: Scope, three: Scope) -> None:
    assert meet_scope(one, one) is one
    assert meet_scope(one, two) is meet_scope(two, one)
    assert meet_scope(meet_scope(one, two), three) is meet_scope(one, meet_scope(two, three))


def no_weaker(policy: Policy, than: Policy) -> bool:
    """Tell whether each constraint of a policy is at least as strict, judged without the meets."""
    if than is NO_POLICY:
        return True
    if policy is NO_POLICY:
        return False
    bound, outer = policy.retention.max_age, than.retention.max_age
    shorter = outer is None or (bound is not None and bound <= outer)
    forbids = policy.retention.mode is RetentionMode.FORBID
    retention = forbids or (than.retention.mode is RetentionMode.ALLOW and shorter)
    reuse = list(Reuse).index(policy.reuse) <= list(Reuse).index(than.reuse)
    return retention and reuse and list(Scope).index(policy.share_max) <= list(Scope).index(than.share_max)


@given(FRAGMENTS, st.none() | CONSTRAINTS)
def test_one_more_fragment_never_weakens_a_constraint(
    fragments: list[Constraints | None], more: Constraints | None
) -> None:
    *before, after = compose([*fragments, more])
    assert all(no_weaker(after, than=policy) for policy in before)
    if more is not None:
        assert no_weaker(after, than=compose([more])[0])


@given(
    st.lists(CONSTRAINTS, min_size=1, max_size=6).flatmap(lambda f: st.tuples(st.just(f), st.permutations(f)))
)
def test_constraints_do_not_depend_on_order(orders: tuple[list[Constraints], list[Constraints]]) -> None:
    one, other = (compose(order)[-1] for order in orders)
    assert isinstance(one, EffectivePolicy)
    assert isinstance(other, EffectivePolicy)
    assert replace(one, namespace_digest=None) == replace(other, namespace_digest=None)


@given(CONSTRAINTS)
def test_a_fragment_twice_changes_nothing_but_the_digest(constraints: Constraints) -> None:
    once, twice = compose([constraints, constraints])
    assert isinstance(once, EffectivePolicy)
    assert isinstance(twice, EffectivePolicy)
    assert replace(once, namespace_digest=None) == replace(twice, namespace_digest=None)
    assert (once.namespace_digest == twice.namespace_digest) is (constraints.namespace is None)


@given(FRAGMENTS, FRAGMENTS)
def test_a_prefix_then_the_rest_equals_all_at_once(
    prefix: list[Constraints | None], rest: list[Constraints | None]
) -> None:
    composer = Composer()
    piecewise = [composer.add(constraints) for constraints in prefix]
    assert piecewise == compose(prefix)
    piecewise += [composer.add(constraints) for constraints in rest]
    assert piecewise == compose([*prefix, *rest])


class CountingHash:
    """SHA-256 that counts the bytes given to it."""

    def __init__(self) -> None:
        self.inner = hashlib.new("sha256")
        self.taken = 0

    def update(self, data: bytes) -> None:
        self.taken += len(data)
        self.inner.update(data)

    def hexdigest(self) -> str:
        return self.inner.hexdigest()


@pytest.mark.parametrize("count", [10, 1000])
def test_composition_hashes_every_byte_once(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    made: list[CountingHash] = []

    def counting() -> CountingHash:
        made.append(CountingHash())
        return made[-1]

    monkeypatch.setattr(hashlib, "sha256", counting)
    constraints = Constraints(Retention(RetentionMode.ALLOW), Reuse.EXACT, Scope.TENANT, "é" * 256)
    compose([constraints] * count)
    assert [hash_.taken for hash_ in made] == [count * len(b"512:" + "é".encode() * 256)]
