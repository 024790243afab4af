"""Plans: default policy, enforceability, hints; on values, without a server."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.capabilities import Capabilities
from cctest.contract.intent import read_intent
from cctest.contract.sharing import Context
from cctest.contract.vocabulary import OnUnenforceable, RetentionMode, Reuse, Scope
from gateway.talk import Json, intent, message
from reference_gateway.in_process.embedded import EmbeddedBackend
from reference_gateway.plan import Plan, make_plan
from reference_gateway.refusal import RefusalError
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION, Order, RenderedOrder
from reference_gateway.request.intake import ChatRequest, Fragment, Kind

ALICE = Context("acme", "alice", "monday")
COMPLETE = EmbeddedBackend().capabilities


def plan(
    *intents: Json | None,
    capabilities: Capabilities = COMPLETE,
    request_id: str = "r",
    order: RenderedOrder = BY_CONSTRUCTION,
    role: str = "user",
    other_input: bool = False,
) -> Plan:
    fragments = tuple(
        Fragment(
            Kind.MESSAGE,
            f"/messages/{index}",
            message("x", role=role),
            None if one is None else read_intent(one),
        )
        for index, one in enumerate(intents)
    )
    request = ChatRequest("embedded", fragments, choices=1, stream=False, include_usage=False)
    request = replace(request, other_input=other_input)
    return make_plan(request, ALICE, request_id, capabilities, order)


def scopes(made: Plan) -> list[Scope]:
    return [one.terms.partition.boundary.scope for one in made.fragments]


def test_text_without_any_intent_is_the_tenants_and_governed_by_nobody() -> None:
    made = plan(None, None)
    assert scopes(made) == [Scope.TENANT, Scope.TENANT]
    assert [one.governed for one in made.fragments] == [False, False]
    assert not any(one.approximate for one in made.fragments)


@pytest.mark.parametrize(
    ("intents", "expected"),
    [
        (("public", None, "public"), ["public", "tenant", "tenant"]),
        ((None, "public"), ["tenant", "tenant"]),
        (("principal", None), ["principal", "principal"]),
        (("public", "session", "public"), ["public", "session", "session"]),
    ],
)
def test_a_fragment_without_intent_narrows_to_the_tenant_and_no_further(
    intents: tuple[str | None, ...], expected: list[str]
) -> None:
    made = plan(*(None if scope is None else intent(scope) for scope in intents))
    assert [str(scope) for scope in scopes(made)] == expected


def test_state_that_is_not_retained_has_a_partition_of_the_request_alone() -> None:
    one, two = (plan(intent(mode="forbid"), request_id=name) for name in ("r1", "r2"))
    assert one.fragments[0].terms.partition != two.fragments[0].terms.partition
    assert not one.fragments[0].terms.may_read


LACKING = {
    "retention_modes": (replace(COMPLETE, retention_modes=(RetentionMode.ALLOW,)), intent(mode="forbid")),
    "retention_max_age": (replace(COMPLETE, retention_max_age=False), intent(max_age=60)),
    "reuse": (replace(COMPLETE, reuse=(Reuse.EXACT,)), intent(reuse="none")),
    "share_max": (replace(COMPLETE, share_max=(Scope.TENANT, Scope.PUBLIC)), intent("principal")),
    "namespace": (replace(COMPLETE, namespace=False), intent(namespace="n")),
}


@pytest.mark.parametrize("lacking", LACKING)
def test_in_bypass_mode_what_cannot_be_enforced_is_served_by_fallback_from_there_on(lacking: str) -> None:
    capabilities, asked = LACKING[lacking]
    made = plan(intent(), asked, intent(), capabilities=capabilities)
    assert scopes(made) == [Scope.TENANT, Scope.REQUEST, Scope.REQUEST]
    assert [one.terms.may_read for one in made.fragments] == [True, False, False]
    assert [one.terms.may_retain for one in made.fragments] == [True, False, False]


@pytest.mark.parametrize("lacking", LACKING)
def test_in_reject_mode_what_cannot_be_enforced_is_refused(lacking: str) -> None:
    capabilities, asked = LACKING[lacking]
    rejecting = replace(capabilities, on_unenforceable=OnUnenforceable.REJECT)
    with pytest.raises(RefusalError) as refused:
        plan(intent(), asked, capabilities=rejecting)
    assert (refused.value.status, refused.value.code) == (400, "cache_intent_unenforceable")
    assert refused.value.param == "/messages/1/cache_intent/constraints"
    assert lacking in refused.value.message
    assert scopes(plan(intent(), capabilities=rejecting)) == [Scope.TENANT]


def hinted(seconds: int, mode: str = "allow") -> Json:
    return intent(mode=mode, hints={"reuse_within": seconds})


def test_a_hint_counts_for_its_fragment_and_all_before_it() -> None:
    made = plan(intent(), hinted(10), intent(), hinted(5), None)
    assert [one.terms.keep_for for one in made.fragments] == [10, 10, 5, 5, 0]


def test_a_hint_is_clipped_and_counts_for_nothing_where_nothing_is_retained() -> None:
    assert plan(hinted(10**9)).fragments[0].terms.keep_for == 3600
    made = plan(intent(), hinted(10, mode="forbid"))
    assert [one.terms.keep_for for one in made.fragments] == [0, 0]


INTENTS = st.none() | st.builds(
    lambda scope, reuse, mode, age, name: intent(
        scope,
        reuse,
        mode=mode,
        **({"max_age": age} if age is not None and mode == "allow" else {}),
        **({"namespace": name} if name else {}),
    ),
    st.sampled_from([str(scope) for scope in Scope]),
    st.sampled_from(["none", "exact", "approximate"]),
    st.sampled_from(["allow", "allow", "forbid"]),
    st.sampled_from([None, 0, 1, 60]),
    st.sampled_from(["", "a", "b"]),
)


@given(st.lists(INTENTS, min_size=1, max_size=6))
def test_along_a_request_terms_only_get_stricter(intents: list[Json | None]) -> None:
    made = plan(*intents)
    for one, two in zip(made.fragments, made.fragments[1:], strict=False):
        assert one.terms.may_read >= two.terms.may_read
        assert one.terms.may_retain >= two.terms.may_retain
        assert one.terms.partition.boundary.contains(two.terms.partition.boundary)
        bounds = [one.terms.max_age, two.terms.max_age]
        assert (
            bounds[0] is None
            or one.forbidden
            or two.forbidden
            or (bounds[1] is not None and bounds[1] <= bounds[0])
        )
    for asked, served in zip(intents, made.fragments, strict=True):
        if asked is not None:
            constraints = read_intent(asked).constraints
            assert served.terms.partition.boundary.scope.rank <= constraints.share_max.rank
            assert not (served.terms.may_read and constraints.reuse is Reuse.NONE)
            assert not (served.terms.may_retain and constraints.retention.mode is RetentionMode.FORBID)


def test_no_age_at_all_can_be_enforced_without_a_clock() -> None:
    rejecting = replace(COMPLETE, retention_max_age=False, on_unenforceable=OnUnenforceable.REJECT)
    assert scopes(plan(intent(max_age=0), capabilities=rejecting)) == [Scope.REQUEST]


@given(st.lists(INTENTS, min_size=1, max_size=6))
def test_with_one_boundary_a_request_is_served_on_the_strictest_terms_of_all(
    intents: list[Json | None],
) -> None:
    made = plan(*intents, capabilities=replace(COMPLETE, per_fragment_share=False))
    strictest = plan(*intents).fragments[-1].terms
    assert len({one.terms.partition for one in made.fragments}) == 1
    terms = made.fragments[0].terms
    assert terms.may_read == terms.may_retain == strictest.may_read
    assert strictest.partition.boundary.contains(terms.partition.boundary)
    assert terms.partition.namespace_digest == strictest.partition.namespace_digest


@pytest.mark.parametrize("order", [Order.OTHER, Order.NOT_ESTABLISHED])
def test_without_an_established_order_one_policy_holds_for_the_whole_request(order: Order) -> None:
    made = plan(intent("public"), intent("principal", namespace="n"), order=RenderedOrder(order, ""))
    assert scopes(made) == [Scope.PRINCIPAL, Scope.PRINCIPAL]
    assert made.fragments[0].terms == made.fragments[1].terms
    assert made.fragments[0].terms.partition.namespace_digest is not None
    assert scopes(plan(intent("public"), intent("principal"))) == [Scope.PUBLIC, Scope.PRINCIPAL]


@pytest.mark.parametrize("order", [Order.OTHER, Order.NOT_ESTABLISHED])
def test_without_an_established_order_a_late_refusal_to_retain_or_read_holds_from_the_start(
    order: Order,
) -> None:
    for last in (intent(mode="forbid"), intent(reuse="none")):
        made = plan(intent("public"), last, order=RenderedOrder(order, ""))
        assert [(one.terms.may_read, one.terms.may_retain) for one in made.fragments] == [(False, False)] * 2


def test_an_order_counts_for_the_shapes_of_requests_in_which_it_was_seen() -> None:
    order = RenderedOrder(Order.DECLARED, "", frozenset({frozenset()}))
    intents = (intent("public"), intent("tenant"))
    assert scopes(plan(*intents, order=order)) == [Scope.PUBLIC, Scope.TENANT]
    assert scopes(plan(*intents, order=order, role="critic")) == [Scope.TENANT, Scope.TENANT]


@pytest.mark.parametrize("capabilities", [COMPLETE, replace(COMPLETE, per_fragment_share=False)])
@pytest.mark.parametrize(
    ("asked", "used"), [("public", "tenant"), ("tenant", "tenant"), ("principal", "principal")]
)
def test_what_the_model_sees_beside_the_fragments_is_the_tenants_at_most(
    capabilities: Capabilities, asked: str, used: str
) -> None:
    made = plan(intent("public"), intent(asked), other_input=True, capabilities=capabilities)
    assert [str(scope) for scope in scopes(made)] == [used, used]
