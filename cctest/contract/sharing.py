"""Who may read retained state, and how widely state computed from it may be shared (SHR-1..4, POL-1..4)."""

from dataclasses import dataclass
from typing import Final

from cctest.contract.eligibility import eligible
from cctest.contract.vocabulary import Scope

_DEPTH: Final = {
    Scope.PUBLIC: 0,
    Scope.TENANT: 1,
    Scope.PRINCIPAL: 2,
    Scope.SESSION: 3,
    Scope.REQUEST: 4,
}
_NO_SESSION: Final = ""


@dataclass(frozen=True, slots=True)
class Context:
    """Who is asking, as derived from the credential and never from the request's own words (SHR-4).

    Raises ValueError for an empty name: a caller without a session has None.
    """

    tenant: str
    principal: str
    session: str | None = None

    def __post_init__(self) -> None:
        if not self.tenant or not self.principal or self.session == _NO_SESSION:
            raise ValueError("tenant, principal and session must not be empty; no session is None")


@dataclass(frozen=True, slots=True)
class Boundary:
    """A sharing boundary in place: a scope and whose it is.

    `coordinates` nest, outermost first: tenant, principal, session, request, as many as the scope needs;
    none for `public`. So one boundary contains another if its coordinates begin the other's.
    """

    scope: Scope
    coordinates: tuple[str, ...]

    def contains(self, other: "Boundary") -> bool:
        """Tell whether everybody within `other` is within this one."""
        return other.coordinates[: len(self.coordinates)] == self.coordinates


@dataclass(frozen=True, slots=True)
class RetainedState:
    """The policy that retained state carries (POL-1), and when it was materialised (RET-4).

    `materialized_at` and `max_age` share one unit of one monotonic clock.
    """

    boundary: Boundary
    namespace_digest: str | None
    materialized_at: int | float
    max_age: int | None = None


def boundary(scope: Scope, context: Context, request: str) -> Boundary:
    """Place a scope: whose state it is when `context` makes the request named `request`.

    Without a session there is none to share in: `session` means `request` (SHR-1). `request` must be
    unique to one HTTP request.
    """
    if scope is Scope.SESSION and context.session is None:
        scope = Scope.REQUEST
    session = _NO_SESSION if context.session is None else context.session
    nested = (context.tenant, context.principal, session, request)
    return Boundary(scope, nested[: _DEPTH[scope]])


def lies_within(context: Context, request: str, recorded: Boundary) -> bool:
    """Tell whether a request by `context` lies within a recorded boundary (POL-2)."""
    return recorded.contains(boundary(Scope.REQUEST, context, request))


def intersect(one: Boundary, other: Boundary) -> Boundary | None:
    """Give the narrower of two boundaries; None if neither contains the other: no reuse then (CMP-5)."""
    if one.contains(other):
        return other
    return one if other.contains(one) else None


def may_read(
    state: RetainedState, context: Context, request: str, namespace_digest: str | None, now: int | float
) -> bool:
    """Tell whether a request may reuse retained state of the same input (POL-2, RET-3).

    The request's own `share_max` opens and closes nothing here (POL-3, READ-12 read literally).
    """
    return (
        lies_within(context, request, state.boundary)
        and namespace_digest == state.namespace_digest
        and eligible(state.materialized_at, state.max_age, now)
    )


def published_boundary(state_boundary: Boundary, requesting_boundary: Boundary) -> Boundary | None:
    """Give the boundary of state computed from reused state (POL-4); None if the two don't nest."""
    return intersect(state_boundary, requesting_boundary)
