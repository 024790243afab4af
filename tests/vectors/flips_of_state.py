"""Flips of eligibility, sharing and admission (RET-3, SHR-1..4, POL-1..4)."""

from typing import Any

import pytest
from flip import Flip, flip

from cctest.contract import eligibility, sharing
from cctest.contract.sharing import Boundary, Context, RetainedState
from cctest.contract.vocabulary import Scope


def _eligible(broken: Any) -> Any:
    def apply(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(eligibility, "eligible", broken)
        patch.setattr(sharing, "eligible", broken)

    return apply


def _sharing(function: str, broken: Any) -> Any:
    def apply(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(sharing, function, broken)

    return apply


def _up_to_and_including(materialized_at: float, max_age: int | None, now: float) -> bool:
    return max_age is None or now - materialized_at <= max_age


def _absent_bound_is_zero(materialized_at: float, max_age: int | None, now: float) -> bool:
    return now - materialized_at < (max_age or 0)


def _zero_is_no_bound(materialized_at: float, max_age: int | None, now: float) -> bool:
    return not max_age or now - materialized_at < max_age


def _whole_seconds(materialized_at: float, max_age: int | None, now: float) -> bool:
    return max_age is None or int(now) - int(materialized_at) < max_age


def _never_too_old(materialized_at: float, max_age: int | None, now: float) -> bool:
    return max_age != 0


def _session_without_tenant(context: Context, request: str, recorded: Boundary) -> bool:
    if recorded.scope is Scope.SESSION:
        return context.session == recorded.coordinates[2]
    return recorded.contains(sharing.boundary(Scope.REQUEST, context, request))


def _principal_without_tenant(context: Context, request: str, recorded: Boundary) -> bool:
    if recorded.scope is Scope.PRINCIPAL:
        return context.principal == recorded.coordinates[1]
    return recorded.contains(sharing.boundary(Scope.REQUEST, context, request))


def _tenant_is_enough(context: Context, request: str, recorded: Boundary) -> bool:
    return recorded.coordinates[:1] in ((), (context.tenant,))


def _joined_names(context: Context, request: str, recorded: Boundary) -> bool:
    inside = "/".join(sharing.boundary(Scope.REQUEST, context, request).coordinates)
    return inside.startswith("/".join(recorded.coordinates))


def _no_session_is_one_session(scope: Scope, context: Context, request: str) -> Boundary:
    coordinates = (context.tenant, context.principal, context.session or "none", request)
    depth = [Scope.PUBLIC, Scope.TENANT, Scope.PRINCIPAL, Scope.SESSION, Scope.REQUEST].index(scope)
    return Boundary(scope, coordinates[:depth])


def _digest_not_compared(
    state: RetainedState, context: Context, request: str, namespace_digest: str | None, now: float
) -> bool:
    return sharing.lies_within(context, request, state.boundary) and eligibility.eligible(
        state.materialized_at, state.max_age, now
    )


def _digest_compared_only_if_asked(
    state: RetainedState, context: Context, request: str, namespace_digest: str | None, now: float
) -> bool:
    return _digest_not_compared(state, context, request, namespace_digest, now) and (
        namespace_digest is None or namespace_digest == state.namespace_digest
    )


def _age_not_compared(
    state: RetainedState, context: Context, request: str, namespace_digest: str | None, now: float
) -> bool:
    return (
        sharing.lies_within(context, request, state.boundary) and namespace_digest == state.namespace_digest
    )


FLIPS: tuple[Flip, ...] = (
    flip(
        "eligible-at-the-bound",
        _eligible(_up_to_and_including),
        "eligible-strictly-before-the-bound",
        "bound-of-zero-permits-nothing",
        "state-at-its-bound-is-not-admitted",
    ),
    flip(
        "absent-bound-is-zero",
        _eligible(_absent_bound_is_zero),
        "no-bound-never-ends-eligibility",
        "state-without-a-bound-is-admitted-late",
    ),
    flip(
        "bound-of-zero-is-no-bound",
        _eligible(_zero_is_no_bound),
        "bound-of-zero-permits-nothing",
        "state-with-a-bound-of-zero-is-never-admitted",
    ),
    flip("age-in-whole-seconds", _eligible(_whole_seconds), "fraction-of-a-second-in-the-materialisation"),
    flip(
        "reads-renew",
        _eligible(_never_too_old),
        "a-read-does-not-restart-the-interval",
        "recomputation-starts-a-new-interval",
    ),
    flip(
        "session-boundary-without-tenant",
        _sharing("lies_within", _session_without_tenant),
        "same-session-name-of-another-principal-is-another-session",
        "same-session-name-in-another-tenant-is-another-session",
    ),
    flip(
        "principal-boundary-without-tenant",
        _sharing("lies_within", _principal_without_tenant),
        "same-user-name-in-two-tenants-is-two-principals",
    ),
    flip(
        "wider-reader-allowed",
        _sharing("lies_within", _tenant_is_enough),
        "principal-state-is-closed-to-other-principals",
        "session-state-is-closed-to-other-sessions",
        "request-state-is-closed-to-the-next-request",
        "asking-for-public-opens-no-principals-state",
    ),
    flip(
        "everybody-lies-within",
        _sharing("lies_within", lambda context, request, recorded: True),
        "tenant-state-is-closed-to-other-tenants",
        "asking-for-public-opens-no-tenants-state",
        "tenant-named-public-is-not-the-public",
        "naming-a-namespace-opens-no-other-tenant",
    ),
    flip(
        "nobody-lies-within",
        _sharing("lies_within", lambda context, request, recorded: False),
        "tenant-state-is-read-within-the-tenant",
        "public-state-is-read-by-other-tenants",
        "request-state-serves-its-own-request",
    ),
    flip(
        "names-joined-before-comparison",
        _sharing("lies_within", _joined_names),
        "names-that-only-join-to-the-same-text-are-different",
    ),
    flip(
        "no-session-is-a-session",
        _sharing("boundary", _no_session_is_one_session),
        "session-without-a-session-is-the-request",
        "session-request-without-a-session-publishes-to-nobody",
    ),
    flip(
        "digest-not-compared-in-admission",
        _sharing("may_read", _digest_not_compared),
        "other-namespace-is-not-admitted",
        "no-namespace-is-not-admitted-to-one",
        "a-namespace-is-not-admitted-to-none",
    ),
    flip(
        "no-namespace-opens-all",
        _sharing("may_read", _digest_compared_only_if_asked),
        "no-namespace-is-not-admitted-to-one",
    ),
    flip(
        "age-not-compared-in-admission",
        _sharing("may_read", _age_not_compared),
        "state-at-its-bound-is-not-admitted",
    ),
    flip(
        "result-published-as-widely-as-asked",
        _sharing("published_boundary", lambda recorded, requesting: requesting),
        "result-of-reading-tenant-state-stays-in-the-tenant",
        "result-of-reading-principal-state-stays-with-the-principal",
        "tenant-state-is-closed-to-other-tenants",
    ),
    flip(
        "result-published-as-widely-as-recorded",
        _sharing("published_boundary", lambda recorded, requesting: recorded),
        "result-of-reading-public-state-is-the-requests-own",
    ),
    flip(
        "incomparable-boundaries-merge",
        _sharing("intersect", lambda one, other: other if one.contains(other) else one),
        "principal-state-is-closed-to-other-principals",
    ),
)
