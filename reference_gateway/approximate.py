"""What becomes of `reuse: approximate` where nothing is ever reused approximately (READ-7)."""

from dataclasses import replace
from enum import StrEnum

from cctest.contract.source import Fault
from cctest.contract.vocabulary import ErrorCode, OnUnenforceable, Reuse, Scope
from reference_gateway.refusal import refused_intent
from reference_gateway.request.intake import ChatRequest, Fragment
from reference_gateway.request.misplaced import CACHE_INTENT


class Approximate(StrEnum):
    """How a gateway without approximate reuse takes a request for it."""

    EXACT = "exact"
    """It serves the stricter policy (INT-1)."""
    UNENFORCEABLE = "unenforceable"
    """It counts it among the constraints that can't be enforced (INT-2)."""


def without_approximate(request: ChatRequest, mode: OnUnenforceable) -> ChatRequest:
    """Take every `approximate` as unenforceable: refuse it, or have its fragment served by fallback.

    The fallback is asked for in the contract's own words: nothing read, nothing shared beyond the request.
    Raises RefusalError in reject mode.
    """
    return replace(request, fragments=tuple(_without(fragment, mode) for fragment in request.fragments))


def _without(fragment: Fragment, mode: OnUnenforceable) -> Fragment:
    intent = fragment.intent
    if intent is None or intent.constraints.reuse is not Reuse.APPROXIMATE:
        return fragment
    if mode is OnUnenforceable.REJECT:
        place = f"{fragment.pointer}/{CACHE_INTENT}/constraints/reuse"
        message = "approximate reuse isn't offered here"
        raise refused_intent((Fault(place, message, ("INT-2", "CAP-2")),), ErrorCode.UNENFORCEABLE)
    fallback = replace(intent.constraints, reuse=Reuse.NONE, share_max=Scope.REQUEST)
    return replace(fragment, intent=replace(intent, constraints=fallback))
