"""From a plan to the one partition that an engine with a salt per request can serve it in (BND-10).

Such an engine tells requests apart by their salt alone. It can neither bound the age of what it retains nor
match approximately; and what must not be read back later can only be kept where nobody else will look.
"""

from dataclasses import dataclass
from enum import StrEnum

from cctest.contract.capabilities import Capabilities
from cctest.contract.vocabulary import OnUnenforceable, RetentionMode, Reuse, Scope
from reference_gateway.lowering.generations import Generations
from reference_gateway.lowering.salt import Salts
from reference_gateway.plan import Plan


class WithoutIntent(StrEnum):
    """The partition of a request without any intent (READ-18).

    A fragment without an intent in a request that has some is the tenant's, either way.
    """

    TENANT = "tenant"
    ENGINE_DEFAULT = "engine-default"
    """That of everybody who says nothing, as without a gateway (INT-3)."""


@dataclass(frozen=True, slots=True)
class Lowered:
    """The partition of one request. `salt` None leaves the engine its default.

    `shared` tells whether another request may have the same one: without that, nothing of an earlier request
    is looked up and nothing is left to a later one. `share` is the boundary in use (STA-7).
    """

    salt: str | None
    shared: bool
    share: Scope


class Lowering:
    """Lowers plans. Stateless but for the generations, without which no age is bounded."""

    def __init__(
        self,
        salts: Salts,
        *,
        without_intent: WithoutIntent = WithoutIntent.TENANT,
        generations: Generations | None = None,
    ) -> None:
        self._salts = salts
        self._without_intent = without_intent
        self._generations = generations

    def capabilities(self, on_unenforceable: OnUnenforceable) -> Capabilities:
        """Say what can be enforced on such an engine (CAP-3)."""
        return Capabilities(
            versions=(1,),
            retention_modes=tuple(RetentionMode),
            retention_max_age=self._generations is not None,
            reuse=(Reuse.NONE, Reuse.EXACT),
            share_max=tuple(Scope),
            namespace=True,
            on_unenforceable=on_unenforceable,
            status=True,
            per_fragment_share=False,
        )

    def lower(self, plan: Plan) -> Lowered:
        """Choose the partition of a request that is sent now. What can't be shared gets a fresh one."""
        terms = plan.fragments[-1].terms
        if not plan.governed and self._without_intent is WithoutIntent.ENGINE_DEFAULT:
            return Lowered(None, shared=True, share=Scope.PUBLIC)
        salt = self.shared_salt(plan) if terms.may_read else None
        if salt is None:
            return Lowered(self._salts.fresh(), shared=False, share=Scope.REQUEST)
        return Lowered(salt, shared=True, share=terms.partition.boundary.scope)

    def shared_salt(self, plan: Plan) -> str | None:
        """Give the salt of the state that a plan shares; None where its bound lets it share none."""
        terms = plan.fragments[-1].terms
        salt = self._salts.shared(terms.partition, plan.request.model)
        if terms.max_age is None:
            return salt
        return None if self._generations is None else self._generations.salt(salt, terms.max_age)
