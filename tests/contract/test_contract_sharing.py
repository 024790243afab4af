import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.sharing import (
    Boundary,
    Context,
    RetainedState,
    boundary,
    intersect,
    lies_within,
    may_read,
    published_boundary,
)
from cctest.contract.vocabulary import Scope

ALICE = Context("acme", "alice", "s1")
ALICE_AGAIN = Context("acme", "alice", "s2")
ALICE_WITHOUT = Context("acme", "alice")
BOB = Context("acme", "bob", "s1")
OTHER_ALICE = Context("globex", "alice", "s1")
CONTEXTS = st.builds(
    Context, st.sampled_from("ab"), st.sampled_from("ab"), st.none() | st.sampled_from(["a", "b"])
)
PLACES = st.builds(boundary, st.sampled_from(Scope), CONTEXTS, st.sampled_from(["a", "b"]))


@pytest.mark.parametrize(
    ("scope", "admitted"),
    [
        (Scope.PUBLIC, {"same request", "same session", "other session", "no session", "bob", "globex"}),
        (Scope.TENANT, {"same request", "same session", "other session", "no session", "bob"}),
        (Scope.PRINCIPAL, {"same request", "same session", "other session", "no session"}),
        (Scope.SESSION, {"same request", "same session"}),
        (Scope.REQUEST, {"same request"}),
    ],
)
def test_each_scope_admits_its_own_and_nobody_else(scope: Scope, admitted: set[str]) -> None:
    recorded = boundary(scope, ALICE, "r1")
    askers = {
        "same request": (ALICE, "r1"),
        "same session": (ALICE, "r2"),
        "other session": (ALICE_AGAIN, "r2"),
        "no session": (ALICE_WITHOUT, "r2"),
        "bob": (BOB, "r2"),
        "globex": (OTHER_ALICE, "r2"),
    }
    within = {name for name, (context, request) in askers.items() if lies_within(context, request, recorded)}
    assert within == admitted


def test_the_same_user_name_in_two_tenants_is_two_principals() -> None:
    assert boundary(Scope.PRINCIPAL, ALICE, "r") != boundary(Scope.PRINCIPAL, OTHER_ALICE, "r")


def test_the_same_session_name_of_two_principals_is_two_sessions() -> None:
    assert boundary(Scope.SESSION, ALICE, "r") != boundary(Scope.SESSION, BOB, "r")


def test_without_a_session_the_session_scope_means_the_request() -> None:
    placed = boundary(Scope.SESSION, ALICE_WITHOUT, "r1")
    assert placed == boundary(Scope.REQUEST, ALICE_WITHOUT, "r1")
    assert placed.scope is Scope.REQUEST
    assert not lies_within(ALICE_WITHOUT, "r2", placed)


def test_a_request_named_like_a_session_is_not_in_it() -> None:
    assert not lies_within(ALICE_WITHOUT, "s1", boundary(Scope.SESSION, ALICE, "r1"))


@pytest.mark.parametrize(
    ("tenant", "principal", "session"), [("", "p", None), ("t", "", "s"), ("t", "p", "")]
)
def test_empty_names_are_no_context(tenant: str, principal: str, session: str | None) -> None:
    with pytest.raises(ValueError, match="must not be empty"):
        Context(tenant, principal, session)


def test_disjoint_boundaries_have_no_intersection() -> None:
    acme, globex = (boundary(Scope.TENANT, context, "r") for context in (ALICE, OTHER_ALICE))
    assert intersect(acme, globex) is None
    assert published_boundary(acme, globex) is None


def test_state_computed_from_reused_state_has_the_narrower_boundary() -> None:
    public, tenant = boundary(Scope.PUBLIC, ALICE, "r"), boundary(Scope.TENANT, ALICE, "r")
    assert published_boundary(public, tenant) == tenant
    assert published_boundary(tenant, public) == tenant


@given(PLACES, PLACES, PLACES)
def test_intersection_is_a_meet(one: Boundary, two: Boundary, three: Boundary) -> None:
    assert intersect(one, one) == one
    assert intersect(one, two) == intersect(two, one)
    left, right = intersect(one, two), intersect(two, three)
    assert (left and intersect(left, three)) == (right and intersect(one, right))


@given(PLACES, PLACES, CONTEXTS, st.sampled_from(["a", "b"]))
def test_who_is_within_both_is_within_the_intersection(
    one: Boundary, other: Boundary, context: Context, request: str
) -> None:
    both = lies_within(context, request, one) and lies_within(context, request, other)
    common = intersect(one, other)
    assert both is (common is not None and lies_within(context, request, common))


def test_reading_needs_the_boundary_the_namespace_and_the_age() -> None:
    state = RetainedState(boundary(Scope.TENANT, ALICE, "r1"), "d1", materialized_at=100, max_age=10)
    assert may_read(state, BOB, "r2", "d1", now=109)
    assert not may_read(state, OTHER_ALICE, "r2", "d1", now=109)
    assert not may_read(state, BOB, "r2", "d2", now=109)
    assert not may_read(state, BOB, "r2", None, now=109)
    assert not may_read(state, BOB, "r2", "d1", now=110)


def test_state_without_a_namespace_matches_only_readers_without_one() -> None:
    state = RetainedState(boundary(Scope.PUBLIC, ALICE, "r1"), None, materialized_at=0)
    assert may_read(state, OTHER_ALICE, "r2", None, now=10**9)
    assert not may_read(state, ALICE, "r1", "d", now=0)
