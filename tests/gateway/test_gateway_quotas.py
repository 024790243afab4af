"""Rates and numbers of namespaces over time, on a clock that the test sets."""

import json

import pytest

from cctest.contract.capabilities import Capabilities
from cctest.contract.sharing import Context
from cctest.contract.vocabulary import OnUnenforceable, RetentionMode, Reuse, Scope
from gateway.talk import intent, message
from reference_gateway.callers.admission import Admission
from reference_gateway.callers.limits import Limits
from reference_gateway.callers.namespace_quota import NamespaceQuota
from reference_gateway.plan import Plan, make_plan
from reference_gateway.refusal import RefusalError
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION
from reference_gateway.request.intake import read_chat_request

ALICE = Context("acme", "alice", "s1")
CAPABLE = Capabilities(
    versions=(1,),
    retention_modes=tuple(RetentionMode),
    reuse=(Reuse.NONE, Reuse.EXACT),
    share_max=tuple(Scope),
    namespace=True,
    on_unenforceable=OnUnenforceable.BYPASS,
    status=True,
    per_fragment_share=True,
)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def plan(*namespaces: str) -> Plan:
    fragments = [message("x", intent(namespace=namespace)) for namespace in namespaces]
    body = json.dumps({"model": "m", "messages": fragments}).encode()
    return make_plan(read_chat_request(body), ALICE, "request", CAPABLE, BY_CONSTRUCTION)


def refusal(error: "pytest.ExceptionInfo[RefusalError]") -> tuple[int, str, str | None]:
    return error.value.status, error.value.code, error.value.retry_after


def test_a_rate_is_an_average_over_a_second(clock: Clock) -> None:
    admission = Admission(Limits(rate=10.0), clock)
    for _ in range(10):
        admission.enter(ALICE)
    with pytest.raises(RefusalError) as error:
        admission.enter(ALICE)
    assert refusal(error) == (429, "rate_limited", "1")
    clock.now += 0.1
    admission.enter(ALICE)
    with pytest.raises(RefusalError):
        admission.enter(ALICE)
    clock.now += 3600
    for _ in range(10):
        admission.enter(ALICE)
    with pytest.raises(RefusalError):
        admission.enter(ALICE)


def test_a_principal_is_one_in_all_its_sessions_and_nobody_else(clock: Clock) -> None:
    admission = Admission(Limits(concurrency=1), clock)
    leave = admission.enter(ALICE)
    with pytest.raises(RefusalError) as error:
        admission.enter(Context("acme", "alice", "s2"))
    assert refusal(error) == (429, "too_many_requests", "1")
    admission.enter(Context("acme", "bob"))
    admission.enter(Context("globex", "alice", "s1"))
    leave()
    admission.enter(Context("acme", "alice", "s2"))


def test_whoever_has_nothing_under_way_and_its_rate_left_is_forgotten(clock: Clock) -> None:
    admission = Admission(Limits(rate=1.0, concurrency=1), clock)
    stays = admission.enter(ALICE)
    for number in range(30_000):
        admission.enter(Context("acme", f"p{number}"))()
        clock.now += 1.0
    assert len(admission._seats) <= 10_000
    with pytest.raises(RefusalError):
        admission.enter(ALICE)
    stays()


def test_a_namespace_counts_for_at_least_half_the_window(clock: Clock) -> None:
    quota = NamespaceQuota(Limits(namespaces=2, namespace_seconds=100.0), clock)
    quota.use("acme", plan("a"))
    quota.use("acme", plan("b"))
    clock.now += 60
    quota.use("acme", plan("a"))
    with pytest.raises(RefusalError) as error:
        quota.use("acme", plan("c"))
    assert refusal(error) == (429, "too_many_namespaces", "50")
    clock.now += 50
    quota.use("acme", plan("c"))  # b has not been used lately
    with pytest.raises(RefusalError):
        quota.use("acme", plan("b"))
    clock.now += 1000
    quota.use("acme", plan("b"))
    quota.use("acme", plan("d"))


def test_a_refused_request_uses_no_namespace(clock: Clock) -> None:
    quota = NamespaceQuota(Limits(namespaces=2), clock)
    with pytest.raises(RefusalError):
        quota.use("acme", plan("a", "b", "c"))  # three effective ones: a, ab, abc
    quota.use("acme", plan("x"))
    quota.use("acme", plan("y"))


def test_what_is_kept_of_namespaces_is_bounded(clock: Clock) -> None:
    quota = NamespaceQuota(Limits(namespaces=50), clock)
    for number in range(500):
        if number < 50:
            quota.use("acme", plan(f"n{number}"))
        else:
            with pytest.raises(RefusalError):
                quota.use("acme", plan(f"n{number}"))
    used = quota._tenants["acme"]
    assert len(used.lately) + len(used.before) == 50
