"""What may be read and retained for each fragment of one request, and where.

A fragment without an intent contributes the operator's default policy: state of the caller's own tenant. So
private text is never shared wider because nobody spoke for it, before or after a `public` fragment
(READ-19, READ-31); that is narrower than what CMP-7 lets it inherit (SHR-2). In all else it inherits.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from cctest.contract.capabilities import Capabilities
from cctest.contract.composition import NO_POLICY, Composer, EffectivePolicy, Policy
from cctest.contract.hints import accepted_reuse_within
from cctest.contract.intent import CacheIntent, Constraints, Retention
from cctest.contract.sharing import Boundary, Context, boundary
from cctest.contract.source import Fault, child
from cctest.contract.vocabulary import ErrorCode, OnUnenforceable, RetentionMode, Reuse, Scope
from cctest.engine.blocks import Partition, Terms
from reference_gateway.enforceability import lacking
from reference_gateway.refusal import refused_intent
from reference_gateway.rendering.rendered_order import RenderedOrder
from reference_gateway.request.intake import ChatRequest, Fragment
from reference_gateway.request.misplaced import CACHE_INTENT

WITHOUT_INTENT: Final = Constraints(Retention(RetentionMode.ALLOW), Reuse.APPROXIMATE, Scope.TENANT)
"""The operator's default policy. It narrows nothing but the scope: `approximate` is asked for by an intent
or not at all (REU-3), see `PlannedFragment.approximate`."""


@dataclass(frozen=True, slots=True)
class PlannedFragment:
    """One fragment, the policy of the state after it, and the terms on which that state is served.

    `governed` fragments have an effective policy by the contract's own composition, and so a status entry:
    those from the first intent on (READ-1, READ-9). `approximate` tells whether the state after it may be
    taken from similar input: everything that it depends on permits that (APX-1), somebody asked for it
    (REU-3), and the backend can do it.
    """

    fragment: Fragment
    governed: bool
    policy: EffectivePolicy
    terms: Terms
    approximate: bool = False

    @property
    def forbidden(self) -> bool:
        """Whether the effective constraints prohibit retention; `max_age` 0 does (RET-6, READ-17)."""
        return not _permits_retention(self.policy)


_Composed: TypeAlias = tuple[Fragment, bool, EffectivePolicy, bool]
"""A fragment, whether it is governed, the policy after it, and whether what follows is served by fallback."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a backend is asked to serve, fragments in rendered order.

    Where one policy has to do for the whole request, all fragments have the same terms.
    """

    request: ChatRequest
    caller: Context
    fragments: tuple[PlannedFragment, ...]

    @property
    def governed(self) -> bool:
        """Whether the request has any intent at all."""
        return self.fragments[-1].governed


def make_plan(
    request: ChatRequest, caller: Context, request_id: str, capabilities: Capabilities, order: RenderedOrder
) -> Plan:
    """Plan one request of `caller`; `request_id` must be unique to it. `order` is that of its model.

    Raises RefusalError if an intent can't be enforced and the capabilities say `reject`. With `bypass`,
    the state from that fragment on is served by fallback: computed afresh and not retained (INT-2, FBK-1).

    The whole request is served on one set of terms, those of the composition of all its fragments and so the
    narrowest, unless the capabilities say `per_fragment_share` (CAP-6, BND-10), the fragments are known to be
    rendered in declared order (CMP-11, BND-2), and the model sees nothing beside them. Whatever else it sees
    is the tenant's at most (READ-38).
    """
    composer = Composer()
    governed = fallback = False
    composed: list[_Composed] = []
    for fragment in request.fragments:
        intent = fragment.intent
        policy = composer.add(WITHOUT_INTENT if intent is None else intent.constraints)
        if policy is NO_POLICY:
            raise RuntimeError("a fragment that contributes constraints left no policy")
        if intent is not None:
            governed = True
            fallback = fallback or _needs_fallback(fragment, intent, capabilities)
        composed.append((fragment, governed, policy, fallback))
    separate = bool(capabilities.per_fragment_share) and order.holds_for(request.fragments)
    separate = separate and not request.other_input
    partitions = _Partitions(caller, request_id, separate=separate)
    can_approximate = Reuse.APPROXIMATE in capabilities.reuse
    if separate:
        planned = _on_terms_of_their_own(composed, partitions, approximate=can_approximate)
    else:
        whole = composer.add(WITHOUT_INTENT) if request.other_input else policy
        planned = _on_one_set_of_terms(composed, partitions, whole, approximate=can_approximate)
    return Plan(request, caller, _with_hints(planned, capabilities.reuse_within_max))


class _Partitions:
    """The partitions that one request can reach: a `separate` one for each fragment, or one for all."""

    def __init__(self, caller: Context, request_id: str, *, separate: bool) -> None:
        self._caller = caller
        self._request_id = request_id
        self._separate = separate
        self._known: dict[tuple[Scope, str | None], Partition] = {}

    def terms(self, policy: EffectivePolicy, *, fallback: bool) -> Terms:
        """Give the terms for state under `policy`.

        State that must not be retained isn't read either, and has no boundary but the request (READ-25,
        READ-35). With one partition for all, state that must not be read can only be kept out of it (BND-10).
        """
        shared = self._boundary(policy.share_max)
        retain = _permits_retention(policy) and shared.scope is not Scope.REQUEST and not fallback
        retain = retain and (self._separate or policy.reuse is not Reuse.NONE)
        return Terms(
            partition=self._partition(policy.share_max if retain else Scope.REQUEST, policy.namespace_digest),
            may_read=retain and policy.reuse is not Reuse.NONE,
            may_retain=retain,
            max_age=policy.retention.max_age,
        )

    def _boundary(self, scope: Scope) -> Boundary:
        return boundary(scope, self._caller, self._request_id)

    def _partition(self, scope: Scope, namespace_digest: str | None) -> Partition:
        place = (scope, namespace_digest)
        if place not in self._known:
            self._known[place] = Partition(self._boundary(scope), namespace_digest)
        return self._known[place]


def _on_terms_of_their_own(
    composed: Sequence[_Composed], partitions: _Partitions, *, approximate: bool
) -> list[PlannedFragment]:
    planned = []
    for fragment, governed, policy, fallback in composed:
        terms = partitions.terms(policy, fallback=fallback)
        approximate = approximate and governed and terms.may_read and policy.reuse is Reuse.APPROXIMATE
        planned.append(PlannedFragment(fragment, governed, policy, terms, approximate))
    return planned


def _on_one_set_of_terms(
    composed: Sequence[_Composed], partitions: _Partitions, whole: Policy, *, approximate: bool
) -> list[PlannedFragment]:
    """Put all fragments on the terms of the whole, which are the strictest."""
    if whole is NO_POLICY:
        raise RuntimeError("a request with fragments left no policy")
    _, first_governed, *_ = composed[0]
    terms = partitions.terms(whole, fallback=composed[-1][-1])
    approximate = approximate and first_governed and terms.may_read and whole.reuse is Reuse.APPROXIMATE
    return [
        PlannedFragment(fragment, governed, policy, terms, approximate)
        for fragment, governed, policy, _ in composed
    ]


def _permits_retention(policy: EffectivePolicy) -> bool:
    return policy.retention.mode is RetentionMode.ALLOW and policy.retention.max_age != 0


def _needs_fallback(fragment: Fragment, intent: CacheIntent, capabilities: Capabilities) -> bool:
    missing = lacking(capabilities, intent.constraints)
    if not missing:
        return False
    if capabilities.on_unenforceable is OnUnenforceable.REJECT:
        place = child(child(fragment.pointer, CACHE_INTENT), "constraints")
        message = f"can't be enforced here; the capabilities lack {', '.join(missing)}"
        raise refused_intent((Fault(place, message, ("INT-2", "CAP-2")),), ErrorCode.UNENFORCEABLE)
    return True


def _with_hints(
    planned: Sequence[PlannedFragment], reuse_within_max: int | None
) -> tuple[PlannedFragment, ...]:
    """Put into the terms for how many seconds each fragment's state is worth keeping (HNT-1).

    State is of use for as long as any state after it is expected to be, so a hint counts for everything
    before its fragment too; what comes after isn't kept longer for it. Where nothing may be retained, a hint
    is of no effect.
    """
    if reuse_within_max is None:
        return tuple(planned)
    keep_for = 0
    hinted: list[PlannedFragment] = []
    for one in reversed(planned):
        intent = one.fragment.intent
        if intent is not None and one.terms.may_retain:
            keep_for = max(keep_for, accepted_reuse_within(intent.hints, reuse_within_max) or 0)
        hinted.append(replace(one, terms=replace(one.terms, keep_for=keep_for)) if keep_for else one)
    return tuple(reversed(hinted))
