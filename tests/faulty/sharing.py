"""Faults of sharing boundaries: who is served state that somebody else left behind."""

from dataclasses import replace

from cctest.contract.sharing import Boundary
from cctest.contract.vocabulary import Scope
from reference_gateway.plan import PlannedFragment

from . import edits, pool
from .model import Word, fault


@fault(
    rules=("SHR-1", "SHR-2", "SHR-4", "POL-2"),
    checks=(
        "tenant-boundary#foreigner-computes",
        "principal-boundary#colleague-computes",
        "session-boundary#other-session-computes",
        "namesake#namesake-computes",
    ),
    status=Word.LIES,
    public="D13",
)
def no_caller_in_the_key() -> None:
    """The key of cached state is made of the input alone: whoever sends the same is served."""
    edits.edit_boundary(lambda found: Boundary(found.scope, ()))


@fault(
    rules=("SHR-1", "SHR-2", "SHR-4", "POL-2"),
    checks=("tenant-boundary#foreigner-computes",),
    status=Word.LIES,
    public="D08",
)
def tenants_pooled() -> None:
    """All tenants are one tenant to the cache, since the gateway shows itself under one identity."""
    edits.edit_boundary(
        lambda found: Boundary(found.scope, ("the-gateway",)) if found.scope is Scope.TENANT else found
    )


@fault(
    rules=("SHR-2", "STA-7", "CMP-5", "CMP-8"),
    checks=("tenant-boundary#foreigner-computes", "status-boundary#tenant"),
)
def tenant_served_as_public() -> None:
    """State shared within a tenant is shared with everybody, and the status says so."""
    edits.rescope(Scope.TENANT, Scope.PUBLIC)
    edits.default_scope(Scope.PUBLIC)


@fault(
    rules=("SHR-2", "STA-7"),
    checks=("principal-boundary#colleague-computes", "status-boundary#principal"),
)
def principal_served_as_tenant() -> None:
    """State shared within a principal is shared within its tenant."""
    edits.rescope(Scope.PRINCIPAL, Scope.TENANT)


@fault(
    rules=("SHR-2", "STA-7"),
    checks=("session-boundary#other-session-computes", "status-boundary#session"),
)
def session_served_as_principal() -> None:
    """State shared within a session is shared within its principal."""
    edits.rescope(Scope.SESSION, Scope.PRINCIPAL)


@fault(rules=("SHR-2", "STA-7"), checks=("request-boundary#repeat-computes", "status-boundary#request"))
def request_served_as_tenant() -> None:
    """State shared with nobody is retained for the tenant."""
    edits.rescope(Scope.REQUEST, Scope.TENANT)


@fault(
    rules=("SHR-1", "SHR-2"),
    checks=("request-boundary#request-repeat-computes",),
    status=Word.LIES,
)
def request_kept_for_its_principal() -> None:
    """State shared with nobody is served to the same principal's next request of that kind."""
    edits.rescope(Scope.REQUEST, Scope.PRINCIPAL)
    edits.edit_status(
        lambda entries, plan: [
            {**entry, "effective_share": "request", "retention": "declined"}
            if entry.get("effective_share") == "principal"
            else entry
            for entry in entries
        ]
    )


@fault(rules=("SHR-1", "SHR-2"), checks=("namesake#namesake-computes",), status=Word.LIES)
def namesakes_meet() -> None:
    """A principal is its bare name, so that the same name in another tenant is the same principal."""
    edits.edit_boundary(
        lambda found: (
            replace(found, coordinates=found.coordinates[1:]) if found.scope is Scope.PRINCIPAL else found
        )
    )


@fault(rules=("SHR-1", "SHR-2"), checks=("session-of-colleague#colleague-computes",), status=Word.LIES)
def sessions_of_one_name_meet() -> None:
    """A session is its bare name within the tenant, so that two principals can share one."""
    edits.edit_boundary(
        lambda found: (
            Boundary(found.scope, (found.coordinates[0], found.coordinates[2]))
            if found.scope is Scope.SESSION
            else found
        )
    )


@fault(rules=("SHR-1", "SHR-2"), checks=("sessionless#repeat-computes",), status=Word.LIES)
def no_session_is_a_session() -> None:
    """Requests without a session all share the session that has no name."""

    def placed(scope: Scope, tenant: str, principal: str) -> Boundary:
        return Boundary(scope, (tenant, principal, ""))

    edits.replace_boundary(
        lambda scope, context: (
            placed(scope, context.tenant, context.principal)
            if scope is Scope.SESSION and context.session is None
            else None
        )
    )


@fault(
    rules=("SHR-1", "SHR-2", "STA-7"),
    checks=("sessionless#repeat-computes",),
)
def no_session_falls_back_to_the_principal() -> None:
    """A session that isn't there is replaced by something wider instead of narrower."""
    edits.replace_boundary(
        lambda scope, context: (
            Boundary(Scope.PRINCIPAL, (context.tenant, context.principal))
            if scope is Scope.SESSION and context.session is None
            else None
        )
    )


@fault(
    rules=("SHR-3", "SHR-2", "STA-7", "CMP-5", "CMP-8"),
    checks=("tenant-boundary#foreigner-computes",),
    cells=({"place": "tools"},),
)
def tools_taken_for_public() -> None:
    """Tool definitions are taken for public, whatever their intents say."""
    edits.edit_constraints(lambda stated: replace(stated, share_max=Scope.PUBLIC), edits.in_tools)
    edits.default_scope(Scope.PUBLIC)


@fault(
    rules=("POL-2", "POL-3", "CMP-8"),
    checks=("wider-later-request#widening-computes",),
)
def wide_request_opens_narrow_state() -> None:
    """What is retained more narrowly is read by whoever asks for a wide enough boundary."""
    pool.install(
        lambda recorded, reader, _: (
            recorded.boundary.contains(reader.boundary) or reader.boundary.contains(recorded.boundary)
        ),
        namespaces=True,
    )


@fault(
    rules=("SHR-1", "SHR-2", "SHR-4", "POL-2"),
    checks=("tenant-boundary#foreigner-computes", "principal-boundary#colleague-computes"),
    public="D01",
)
def second_tier_knows_no_partition() -> None:
    """The cache's second tier is keyed on tokens alone, so that what misses in the first is found there."""
    pool.install(lambda recorded, reader, _: True, namespaces=True)


@fault(
    rules=("SHR-2", "POL-2", "CMP-1"),
    checks=("reader-first#rest-computed",),
)
def boundary_checked_on_the_first_block_only() -> None:
    """The boundary is checked where a prefix starts; who has the start may read all that follows."""
    pool.install(
        lambda recorded, reader, depth: depth > 0 or recorded.boundary.contains(reader.boundary),
        namespaces=True,
    )


@fault(
    rules=("POL-4", "CMP-8", "POL-2"),
    checks=("widening-read#colleague-computes",),
)
def read_widens_what_it_read() -> None:
    """Reading one's own narrow state with a wider request retains it under the wider boundary."""
    pool.install(pool.within, namespaces=True, relabel=True)


@fault(
    rules=("CMP-7", "CMP-1", "POL-2"),
    checks=("inherited-own-prefix#inheriting-part-computed",),
)
def inheriting_text_is_not_bound() -> None:
    """State after a fragment without intent is shared with the tenant, however narrow what it depends on."""

    def unbound(planned: PlannedFragment) -> PlannedFragment:
        place = planned.terms.partition
        if planned.fragment.intent is not None or len(place.boundary.coordinates) < 2:
            return planned
        tenant = Boundary(Scope.TENANT, place.boundary.coordinates[:1])
        return replace(planned, terms=replace(planned.terms, partition=replace(place, boundary=tenant)))

    pool.install(pool.inside, namespaces=True)
    edits.edit_plan(
        lambda plan, _: replace(plan, fragments=tuple(unbound(planned) for planned in plan.fragments))
    )
