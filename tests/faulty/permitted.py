"""Conforming implementations that take a reading which ours doesn't, each for a finding in `spec/findings.md`.

They are probed with the inputs of those findings, and not with the whole probe as the other variants are.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any, Final

from cctest.contract.composition import EffectivePolicy
from cctest.contract.vocabulary import ErrorCode, OnUnenforceable, RetentionMode, Reuse, Scope
from cctest.engine.blocks import Block, Terms
from cctest.engine.cache import Reused
from reference_gateway.plan import Plan
from reference_gateway.refusal import RefusalError
from reference_gateway.request.intake import ChatRequest

from . import edits, seams
from .model import conforming

_INTENT: Final = "cache_intent"
_NOTHING_SHARED: Final = {
    "version": 1,
    "constraints": {"retention": {"mode": "allow"}, "reuse": "none", "share_max": "request"},
}


@conforming()
def falls_back_where_it_says_reject() -> None:
    """It can't bound the age of state, advertises `reject`, and serves by fallback all the same."""
    edits.edit_capabilities(on_unenforceable=OnUnenforceable.BYPASS, retention_max_age=False)
    edits.edit_advertised(lambda advertised: {**advertised, "on_unenforceable": "reject"})


@conforming(readings=("READ-5",))
def falls_back_from_the_fragment_at_fault() -> None:
    """It serves by fallback what has an invalid intent, and what is behind it; fragments before are served."""

    def make(original: Any) -> Any:
        def read(body: bytes) -> Any:
            try:
                return original(body)
            except RefusalError as error:
                if error.code not in [*ErrorCode]:
                    raise
                members = json.loads(body)
                known = _at_fault(members, partial(_is_read, original))
                for fragment in known or _fragments(members):  # of a name given twice nobody knows whose
                    if _INTENT in fragment:
                        fragment[_INTENT] = _NOTHING_SHARED
                return original(json.dumps(members).encode())

        return read

    seams.READ_BODY.wrap(make)


def _at_fault(members: dict[str, Any], is_read: Any) -> list[dict[str, Any]]:
    """Give the fragments whose intents are refused each by itself."""
    intents = [(each, each.pop(_INTENT)) for each in _fragments(members) if _INTENT in each]
    at_fault = [fragment for fragment, intent in intents if not is_read(members, fragment, intent)]
    for fragment, intent in intents:
        fragment[_INTENT] = intent
    return at_fault


def _fragments(members: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for name in ("tools", "messages") for each in members.get(name, ())]


def _is_read(read: Any, members: dict[str, Any], fragment: dict[str, Any], intent: Any) -> bool:
    fragment[_INTENT] = intent
    try:
        read(json.dumps(members).encode())
    except RefusalError:
        return False
    finally:
        del fragment[_INTENT]
    return True


@conforming(readings=("READ-25",))
def reads_under_forbid() -> None:
    """Under `forbid` it reads what earlier requests kept, and keeps nothing."""
    _read_only_where(lambda policy: policy.retention.mode is RetentionMode.FORBID)


@conforming(readings=("READ-25",))
def reads_under_forbid_and_says_request() -> None:
    """Under `forbid` it reads what earlier requests kept, and reports the boundary of what it computes."""
    _read_only_where(lambda policy: policy.retention.mode is RetentionMode.FORBID)

    def narrowed(entries: list[edits.Entry], plan: Plan) -> list[edits.Entry]:
        governed = [one for one in plan.fragments if one.governed]
        return [
            {**entry, "effective_share": "request"} if one.forbidden else entry
            for entry, one in zip(entries, governed, strict=True)
        ]

    edits.edit_status(narrowed)


@conforming()
def reads_under_a_bound_of_zero() -> None:
    """Under a `max_age` of zero it reads what earlier requests kept, and keeps nothing."""
    _read_only_where(lambda policy: policy.retention.max_age == 0)


@dataclass(frozen=True, slots=True)
class _ReadOnly(Terms):
    """Terms on which state is read and none is kept; the engine knows no such terms."""


def _read_only_where(chosen: Callable[[EffectivePolicy], bool]) -> None:
    def make_terms(original: Any) -> Any:
        def terms(self: Any, policy: EffectivePolicy, *, fallback: bool) -> Terms:
            nothing_to_read = policy.reuse is Reuse.NONE or policy.share_max is Scope.REQUEST
            if fallback or nothing_to_read or not chosen(policy):
                given: Terms = original(self, policy, fallback=fallback)
                return given
            place = self._partition(policy.share_max, policy.namespace_digest)
            return _ReadOnly(place, may_read=True, may_retain=True)

        return terms

    def make_publish(original: Any) -> Any:
        def publish(self: Any, blocks: Sequence[Block], reused: Reused) -> int:
            kept = list(takewhile(lambda block: not isinstance(block.terms, _ReadOnly), blocks))
            retained: int = original(self, kept, reused)
            return retained

        return publish

    seams.TERMS.wrap(make_terms)
    seams.PUBLISH.wrap(make_publish)


@conforming()
def keeps_no_silent_beginning() -> None:
    """It keeps nothing of a request that begins with a fragment for which nobody spoke, if somebody speaks later."""

    def without_beginning(plan: Plan, _: ChatRequest) -> Plan:
        if plan.fragments[0].governed or not plan.governed:
            return plan
        fragments = [
            replace(one, terms=replace(one.terms, may_read=False, may_retain=False), approximate=False)
            for one in plan.fragments
        ]
        return replace(plan, fragments=tuple(fragments))

    edits.edit_plan(without_beginning)


@conforming()
def accepts_hints_of_no_use() -> None:
    """It says of a hint within its maximum that it was accepted, also where nothing may be kept."""

    def accepted(entry: edits.Entry) -> edits.Entry:
        hints = entry.get("hints")
        told = {name: "accepted" if word == "ignored" else word for name, word in (hints or {}).items()}
        return {**entry, "hints": told} if hints else entry

    edits.edit_entries(accepted)


@conforming(readings=("READ-27",))
def lists_no_public() -> None:
    """It doesn't list `public`, and serves a request for it by fallback."""
    edits.edit_capabilities(share_max=(Scope.REQUEST, Scope.TENANT), on_unenforceable=OnUnenforceable.BYPASS)


@conforming()
def a_hit_is_declined() -> None:
    """It says of what it only read that it kept nothing."""
    edits.edit_entries(
        lambda entry: entry | {"retention": "declined"} if entry["outcome"] == "exact_hit" else entry
    )
