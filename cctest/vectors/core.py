"""Our own core as the implementation that vectors judge."""

from collections.abc import Mapping, Sequence
from typing import Final

from cctest.contract import (
    capabilities,
    composition,
    digest,
    documents,
    eligibility,
    hints,
    intent,
    sharing,
    strict_json,
)
from cctest.contract.source import Fault, JsonValue, SourceError, child
from cctest.contract.vocabulary import OnUnenforceable, Scope
from cctest.datafile import contract_schemas
from cctest.vectors.implementation import (
    Admission,
    Document,
    Intent,
    Opinion,
    Party,
    Refused,
    Retained,
    Seconds,
)

_READER: Final = "the hand-written reader"
_SCHEMA: Final = "the JSON schema"
_UNENFORCEABLE: Final = {
    OnUnenforceable.REJECT: "reject",
    OnUnenforceable.BYPASS: "fresh_no_retention_fallback",
}


class Core:
    """`cctest.contract`, asked directly. It has two readers of documents, which must agree."""

    def validate(self, document: Document) -> Sequence[Opinion]:
        """Ask the hand-written reader and the JSON schema; what is no JSON gets as far as neither."""
        try:
            value = document.value if document.raw is None else strict_json.parse(document.raw).value
        except SourceError as error:
            return _opinion(_READER, (error.fault,)), _opinion(_SCHEMA, (error.fault,))
        return (
            _opinion(_READER, documents.core_faults(value, document.kind)),
            _opinion(_SCHEMA, documents.schema_faults(value, document.kind, contract_schemas())),
        )

    def digest(self, namespaces: Sequence[str]) -> str | None:
        """Give the namespace digest (DIG-1..3)."""
        return digest.namespace_digest(namespaces)

    def identical(self, first: Sequence[str], second: Sequence[str], *, same_input: bool) -> bool:
        """Compare digests; equal ones never make up for other input (NS-2)."""
        return same_input and digest.namespace_digest(first) == digest.namespace_digest(second)

    def compose(self, intents: Sequence[Intent | None]) -> Sequence[JsonValue]:
        """Compose in one pass (CMP-1..9)."""
        constraints = [
            None if each is None else _read(each, child("/fragments", index)).constraints
            for index, each in enumerate(intents)
        ]
        return [composition.policy_to_json(policy) for policy in composition.compose(constraints)]

    def intake(self, intent: Intent, capabilities_: JsonValue) -> str:
        """Refuse what is at fault, and treat what isn't advertised as the capabilities say (CAP-2)."""
        try:
            asked = _read(intent)
        except Refused:
            return "reject"
        if capabilities_ is None:
            return "served"
        advertised = capabilities.read_capabilities(capabilities_)
        if asked.version not in advertised.versions:
            return "reject"  # INT-4: fallback would do as well, whatever is unenforceable
        if capabilities.unenforceable(advertised, asked.constraints):
            return _UNENFORCEABLE[advertised.on_unenforceable]
        return "served"

    def hints(self, intent: Intent, reuse_within_max: int | None) -> Mapping[str, JsonValue]:
        """Report hints that are advertised (READ-20)."""
        reports = hints.report_hints(_read(intent).hints, reuse_within_max)
        return {name: str(report) for name, report in reports.items()}

    def eligible(self, materialized_at: Seconds, max_age: int | None, now: Seconds) -> bool:
        """Compare ages (RET-3)."""
        return eligibility.eligible(materialized_at, max_age, now)

    def admit(self, retained: Retained, requester: Party, now: Seconds, share_max: str) -> Admission:
        """Compare boundary, digest and age, and intersect the boundaries (POL-1..4)."""
        recorded = _boundary(retained.scope, retained.party)
        state = sharing.RetainedState(
            boundary=recorded,
            namespace_digest=digest.namespace_digest(retained.party.namespaces),
            materialized_at=retained.materialized_at,
            max_age=retained.max_age,
        )
        asking = digest.namespace_digest(requester.namespaces)
        admitted = sharing.may_read(state, _context(requester), requester.request, asking, now)
        published = sharing.published_boundary(recorded, _boundary(share_max, requester))
        return Admission(admitted, None if published is None else str(published.scope))

    def asked(self) -> tuple[str, ...]:
        """Give nothing: a vector says all there is to ask."""
        return ()


def _opinion(who: str, faults: tuple[Fault, ...]) -> Opinion:
    reason = str(faults[0]) if faults else ""
    return Opinion(who, not faults, tuple(fault.pointer for fault in faults), reason)


def _read(value: Intent, pointer: str = "") -> intent.CacheIntent:
    try:
        return intent.read_intent(
            strict_json.parse(value).value if isinstance(value, str) else dict(value), pointer
        )
    except (SourceError, intent.IntentError) as error:
        raise Refused(str(error)) from error


def _boundary(scope: str, party: Party) -> sharing.Boundary:
    return sharing.boundary(Scope(scope), _context(party), party.request)


def _context(party: Party) -> sharing.Context:
    return sharing.Context(party.tenant, party.principal, party.session)
