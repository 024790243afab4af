"""The central safety matrix.

For every constraint and every value of it: a backend that lacks just that serves it by fallback, or refuses it
where the operator says so; and one that lacks nothing does neither.
"""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from cctest.contract.capabilities import Capabilities
from cctest.contract.intent import read_intent
from cctest.contract.sharing import Context
from cctest.contract.vocabulary import OnUnenforceable, RetentionMode, Reuse, Scope
from gateway.talk import Json, intent, message
from reference_gateway.approximate import without_approximate
from reference_gateway.in_process.embedded import EmbeddedBackend
from reference_gateway.plan import Plan, make_plan
from reference_gateway.refusal import RefusalError
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION
from reference_gateway.request.intake import ChatRequest, Fragment, Kind

COMPLETE = EmbeddedBackend().capabilities
CALLER = Context("acme", "alice", "monday")
FORBIDDING = ({"mode": "forbid"}, {"mode": "allow", "max_age": 0})


@dataclass(frozen=True)
class Row:
    """A value of a constraint, the capabilities that lack nothing but it, and how it is named when refused."""

    asked: Json
    lacking: dict[str, Any]
    named: str


def others(words: Any, word: Any) -> tuple[Any, ...]:
    return tuple(one for one in words if one is not word)


MATRIX = {
    **{
        f"retention {mode}": Row(
            intent(mode=str(mode)),
            {"retention_modes": others(RetentionMode, mode)},
            "/constraints/retention_modes",
        )
        for mode in RetentionMode
    },
    "max_age 0": Row(
        intent(max_age=0), {"retention_modes": (RetentionMode.ALLOW,)}, "/constraints/retention_modes"
    ),
    "max_age 60": Row(intent(max_age=60), {"retention_max_age": None}, "/constraints/retention_max_age"),
    **{
        f"reuse {reuse}": Row(
            intent(reuse=str(reuse)),
            {"reuse": others(Reuse, reuse)},
            "approximate reuse" if reuse is Reuse.APPROXIMATE else "/constraints/reuse",
        )
        for reuse in Reuse
    },
    **{
        f"share_max {scope}": Row(
            intent(str(scope)), {"share_max": others(Scope, scope)}, "/constraints/share_max"
        )
        for scope in Scope
    },
    "namespace": Row(intent(namespace="tools"), {"namespace": None}, "/constraints/namespace"),
}
rows = pytest.mark.parametrize("row", MATRIX.values(), ids=MATRIX)
boundaries = pytest.mark.parametrize("separate", [True, False], ids=["per fragment", "per request"])


def planned(asked: Json, capabilities: Capabilities) -> Plan:
    """Plan a fragment that asks for it and one that asks for nothing; `approximate` is to be had or not."""
    fragments = tuple(
        Fragment(Kind.MESSAGE, f"/messages/{index}", message("x"), read_intent(one) if one else None)
        for index, one in enumerate((asked, None))
    )
    request = ChatRequest("embedded", fragments, choices=1, stream=False, include_usage=False)
    if Reuse.APPROXIMATE not in capabilities.reuse:
        request = without_approximate(request, capabilities.on_unenforceable)
    return make_plan(request, CALLER, "request-1", capabilities, BY_CONSTRUCTION)


def capable(mode: OnUnenforceable, **but_for: Any) -> Capabilities:
    return replace(COMPLETE, on_unenforceable=mode, **but_for)


@rows
@boundaries
def test_a_backend_that_lacks_it_serves_it_by_fallback(row: Row, separate: bool) -> None:
    lacking = capable(OnUnenforceable.BYPASS, per_fragment_share=separate, **row.lacking)
    for one in planned(row.asked, lacking).fragments:
        assert not one.terms.may_read
        assert not one.terms.may_retain
        assert one.terms.partition.boundary.scope is Scope.REQUEST


@rows
def test_a_backend_that_lacks_it_refuses_it_where_the_operator_says_so(row: Row) -> None:
    with pytest.raises(RefusalError) as refused:
        planned(row.asked, capable(OnUnenforceable.REJECT, **row.lacking))
    assert (refused.value.status, refused.value.code) == (400, "cache_intent_unenforceable")
    assert row.named in refused.value.message
    assert (refused.value.param or "").startswith("/messages/0/cache_intent/constraints")


@rows
@boundaries
@pytest.mark.parametrize("mode", OnUnenforceable)
def test_a_backend_that_has_it_does_neither(row: Row, separate: bool, mode: OnUnenforceable) -> None:
    made = planned(row.asked, capable(mode, per_fragment_share=separate))
    asked = row.asked["constraints"]
    # All that keeps state from being retained or read is what the intent itself says.
    retained = asked["retention"] not in FORBIDDING and asked["share_max"] != "request"
    retained = retained and (separate or asked["reuse"] != "none")
    terms = made.fragments[0].terms
    assert terms.may_retain == retained
    assert terms.may_read == (retained and asked["reuse"] != "none")
    assert terms.max_age == asked["retention"].get("max_age")
    assert made.fragments[0].approximate == (asked["reuse"] == "approximate")


def test_exact_reuse_does_for_approximate_unless_the_operator_says_otherwise() -> None:
    asked = intent(reuse="approximate")
    lacking = capable(OnUnenforceable.REJECT, reuse=(Reuse.NONE, Reuse.EXACT))
    fragment = Fragment(Kind.MESSAGE, "/messages/0", message("x"), read_intent(asked))
    request = ChatRequest("embedded", (fragment,), choices=1, stream=False, include_usage=False)
    made = make_plan(request, CALLER, "request-1", lacking, BY_CONSTRUCTION)
    assert made.fragments[0].terms.may_read
    assert not made.fragments[0].approximate
