"""Conforming implementations that differ from ours in what they keep, share, and take in."""

import asyncio
import random
from dataclasses import replace
from itertools import count
from typing import Any

from cctest.contract.composition import NO_POLICY
from cctest.contract.vocabulary import ErrorCode, OnUnenforceable, Reuse, Scope
from cctest.engine.cache import SECOND, Reused
from reference_gateway.plan import WITHOUT_INTENT
from reference_gateway.refusal import RefusalError
from reference_gateway.request.intake import ChatRequest

from . import edits, pool, seams
from .model import Backend, conforming


@conforming(reuses=False)
def never_caches() -> None:
    """It computes everything afresh and retains nothing."""
    edits.exact_reuse_only()
    seams.LOOKUP.wrap(lambda _: lambda self, blocks: Reused(0, self._tick(), None))
    seams.PUBLISH.wrap(lambda _: lambda self, blocks, reused: 0)


@conforming()
def evicts_at_random() -> None:
    """Now and then it loses a block that it had retained."""
    chance = random.Random(1)

    def make(original: Any) -> Any:
        def publish(self: Any, blocks: Any, reused: Reused) -> int:
            retained: int = original(self, blocks, reused)
            if blocks and chance.random() < 0.2:
                self._entries.pop(chance.choice(blocks).identity, None)
            return retained

        return publish

    seams.PUBLISH.wrap(make)


@conforming()
def eventual_cache() -> None:
    """What it retains can be read 0.3 s later."""

    def make(original: Any) -> Any:
        def readable(self: Any, block: Any, now: int) -> Any:
            entry = original(self, block, now)
            return entry if entry and now - entry.materialized_at >= 0.3 * SECOND else None

        return readable

    seams.READABLE.wrap(make)


@conforming()
def keeps_for_half_of_the_bound() -> None:
    """It keeps state for half of the bound that it is given."""
    edits.edit_constraints(
        lambda stated: (
            stated
            if stated.retention.max_age is None
            else replace(stated, retention=replace(stated.retention, max_age=stated.retention.max_age // 2))
        )
    )


@conforming(readings=("READ-16",))
def writers_bound_only() -> None:
    """A reader's own bound doesn't keep it from older state."""

    def make(original: Any) -> Any:
        def readable(self: Any, block: Any, now: int) -> Any:
            return original(self, replace(block, terms=replace(block.terms, max_age=None)), now)

        return readable

    seams.READABLE.wrap(make)


@conforming(readings=("READ-29",))
def new_interval_behind_old_state() -> None:
    """State computed from reused state has an interval of its own."""
    seams.PUBLISH.wrap(
        lambda original: lambda self, blocks, reused: original(self, blocks, replace(reused, expires_at=None))
    )


@conforming(readings=("READ-12",))
def pool_with_check_on_read() -> None:
    """It has one pool for all and checks every read; a narrower request reads what is shared more widely."""
    pool.install(pool.inside, namespaces=True)


@conforming(readings=("READ-12",))
def one_partition_per_request() -> None:
    """Its engine has one partition per request, so that the narrowest policy holds for all of it."""
    edits.edit_request(_uniform)
    edits.edit_capabilities(per_fragment_share=False)


def _uniform(request: ChatRequest) -> ChatRequest:
    """Give every fragment that has an intent the narrowest of all scopes, and the strictest reuse."""
    stated = [one.intent.constraints for one in request.fragments if one.intent]
    if not stated:
        return request
    scope = min((one.share_max for one in stated), key=lambda scope: scope.rank)
    reuse = min((one.reuse for one in stated), key=lambda reuse: reuse.rank)
    if reuse is Reuse.NONE:
        scope = Scope.REQUEST
    fragments = [
        replace(
            one,
            intent=replace(
                one.intent, constraints=replace(one.intent.constraints, share_max=scope, reuse=reuse)
            ),
        )
        if one.intent
        else one
        for one in request.fragments
    ]
    return replace(request, fragments=tuple(fragments))


@conforming(readings=("READ-27",))
def narrows_every_scope_to_session() -> None:
    """It shares nothing beyond a session, whatever is asked, and lists no wider scope."""
    edits.edit_constraints(
        lambda stated: replace(
            stated, share_max=min(stated.share_max, Scope.SESSION, key=lambda scope: scope.rank)
        )
    )
    edits.default_scope(Scope.SESSION)
    edits.edit_capabilities(share_max=(Scope.REQUEST, Scope.SESSION))


@conforming(readings=("READ-19",))
def inherits_what_came_before() -> None:
    """A fragment without an intent is under the policy before it, be it public."""
    seams.COMPOSE.wrap(
        lambda add: (
            lambda self, constraints: (
                self.policy
                if constraints is WITHOUT_INTENT and self.policy is not NO_POLICY
                else add(self, constraints)
            )
        )
    )


@conforming(readings=("READ-8",))
def retains_nothing_of_fresh_computation() -> None:
    """What was computed afresh because that was asked for isn't retained."""

    def make(original: Any) -> Any:
        def terms(self: Any, policy: Any, *, fallback: bool) -> Any:
            return original(self, policy, fallback=fallback or policy.reuse is Reuse.NONE)

        return terms

    seams.TERMS.wrap(make)


@conforming(readings=("READ-7",))
def takes_approximate_as_exact() -> None:
    """It has no approximate reuse, says so, and serves a request for it with exact reuse."""
    edits.exact_reuse_only()


def _without(on_unenforceable: OnUnenforceable, **lacking: bool) -> None:
    edits.edit_capabilities(on_unenforceable=on_unenforceable, **lacking)


@conforming()
def rejects_bounds() -> None:
    """It can't bound the age of state, says so, and rejects requests that ask for it."""
    _without(OnUnenforceable.REJECT, retention_max_age=False)


@conforming()
def bypasses_bounds() -> None:
    """It can't bound the age of state, says so, and serves requests that ask for it by fallback."""
    _without(OnUnenforceable.BYPASS, retention_max_age=False)


@conforming()
def rejects_namespaces() -> None:
    """It knows no namespaces, says so, and rejects requests that have one."""
    _without(OnUnenforceable.REJECT, namespace=False)


@conforming()
def bypasses_namespaces() -> None:
    """It knows no namespaces, says so, and serves requests that have one by fallback."""
    _without(OnUnenforceable.BYPASS, namespace=False)


@conforming(readings=("READ-2",))
def tolerates_duplicate_ids() -> None:
    """It accepts an id that two fragments of a request carry."""
    seams.DUPLICATE_IDS.wrap(lambda _: lambda fragments: None)


@conforming(readings=("READ-14",))
def null_intent_is_none() -> None:
    """It takes a null intent for an absent one."""

    def make(original: Any) -> Any:
        def fragment(kind: Any, index: int, value: Any) -> Any:
            if isinstance(value, dict) and value.get("cache_intent", 0) is None:
                value = {name: item for name, item in value.items() if name != "cache_intent"}
            return original(kind, index, value)

        return fragment

    seams.FRAGMENT.wrap(make)


@conforming(readings=("READ-5", "READ-6", "READ-2", "READ-3"), backends=Backend)
def falls_back_instead_of_refusing() -> None:
    """It serves a request with an invalid intent by fallback, all of it."""
    import json

    strictest = {"retention": {"mode": "forbid"}, "reuse": "none", "share_max": "request"}

    def harmless(fragment: dict[str, Any]) -> dict[str, Any]:
        if "cache_intent" not in fragment:
            return fragment
        given = fragment["cache_intent"]
        label = given.get("id") if isinstance(given, dict) else None
        named = {"id": label} if isinstance(label, str) and 1 <= len(label) <= 256 else {}
        return {**fragment, "cache_intent": {"version": 1, **named, "constraints": strictest}}

    def make(original: Any) -> Any:
        def read(body: bytes) -> Any:
            try:
                return original(body)
            except RefusalError as error:
                if error.code not in [*ErrorCode]:
                    raise
                members = json.loads(body)
                for name in ("tools", "messages"):
                    members[name] = [harmless(fragment) for fragment in members.get(name, ())]
                return original(json.dumps(members).encode())

        return read

    seams.READ_BODY.wrap(make)


@conforming(jobs=16, backends=Backend)
def slow() -> None:
    """Every request takes 50 ms longer."""

    def make(original: Any) -> Any:
        async def chat(self: Any, request: Any) -> Any:
            await asyncio.sleep(0.05)
            return await original(self, request)

        return chat

    seams.CHAT.wrap(make)


@conforming(jobs=8, backends=Backend)
def limits_its_rate() -> None:
    """Now and then it answers 429 and says when to come back."""
    from starlette.responses import JSONResponse

    numbers = count(1)
    error = {
        "error": {"message": "slow down", "type": "rate_limit_error", "param": None, "code": "rate_limited"}
    }

    def make(original: Any) -> Any:
        async def chat(self: Any, request: Any) -> Any:
            if next(numbers) % 40 == 0:
                return JSONResponse(error, 429, {"Retry-After": "1"})
            return await original(self, request)

        return chat

    seams.CHAT.wrap(make)
