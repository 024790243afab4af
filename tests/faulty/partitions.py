"""Faults of a gateway in front of an engine: the partition that it asks the engine for."""

import json
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from hashlib import sha256
from typing import Any

from cctest.contract.intent import Constraints, Retention
from cctest.contract.sharing import Context
from cctest.contract.vocabulary import RetentionMode, Scope
from cctest.engine.blocks import Partition
from reference_gateway.lowering.generations import Generations
from reference_gateway.plan import Plan
from reference_gateway.request.intake import Kind

from . import edits, model, seams
from .binding import take_strangers_for
from .model import Backend, Word

fault = partial(model.fault, backend=Backend.FORWARDING)

_BOUND = ("RET-3", "RET-4", "RET-5", "RET-6", "CMP-3", "HNT-1", "HNT-2")
"""What a bound asks for: the engine can't keep one, so that it's served by bypass."""
_BYPASS = (
    "BND-10",
    "REU-1",
    "RET-1",
    "FBK-1",
    "INT-2",
    "CAP-3",
    "CMP-1",
    "CMP-2",
    "CMP-4",
    "SHR-1",
    "SHR-2",
    *_BOUND,
)
_SHARING = ("SHR-1", "SHR-2", "SHR-3", "SHR-4", "POL-2", "STA-7", "STA-11")
_NAMESPACE = ("NS-1", "NS-2", "NS-3", "DIG-1", "DIG-3", "POL-2")
_ALL = (*_BYPASS, *_SHARING, *_NAMESPACE, "STA-4", "STA-5", "BND-7")


def _choose(choose: Callable[[Plan, Callable[[], str | None]], str | None]) -> None:
    """Choose the partition of a request from its plan; the second argument gives the right one."""

    def make(original: Any) -> Any:
        def lower(self: Any, plan: Plan) -> Any:
            lowered = original(self, plan)
            return replace(lowered, salt=choose(plan, lambda: lowered.salt))

        return lower

    seams.LOWER.wrap(make)


def _move(change: Callable[[Partition], Partition]) -> None:
    """Put shared state into another partition."""
    seams.SHARED_SALT.wrap(lambda shared: lambda self, partition, name: shared(self, change(partition), name))


def _namespaces(plan: Plan) -> list[str]:
    intents = [planned.fragment.intent for planned in plan.fragments if planned.fragment.intent]
    return [one.constraints.namespace for one in intents if one.constraints.namespace is not None]


@fault(
    rules=_ALL,
    checks=("tenant-boundary#foreigner-computes", "bypass-partition#all-different"),
    public="D08",
)
def no_partition_at_all() -> None:
    """All requests reach the engine without a partition, under the gateway's one key."""
    _choose(lambda plan, right: None)


@fault(
    rules=_ALL,
    checks=("tenant-boundary#foreigner-computes", "bypass-partition#all-different"),
    cells=({"stream": "streamed"},),
    public="D04",
)
def no_partition_when_streamed() -> None:
    """The route of streams forwards no partition."""
    _choose(lambda plan, right: None if plan.request.stream else right())


@fault(
    rules=_ALL,
    checks=("tenant-boundary#foreigner-computes", "bypass-partition#all-different"),
    cells=({"place": "tools"},),
    public="D04",
)
def no_partition_with_tools() -> None:
    """The route of requests with tools forwards no partition."""

    def with_tools(plan: Plan) -> bool:
        return any(planned.fragment.kind is Kind.TOOL for planned in plan.fragments)

    _choose(lambda plan, right: None if with_tools(plan) else right())


@fault(
    rules=(*_BYPASS, "STA-4", "STA-5", "BND-7"),
    checks=("bypass-partition#all-different", "reuse-none#repeat-computes"),
    public="D04",
)
def bypass_without_a_partition() -> None:
    """Fresh computation is asked for by leaving the partition out."""
    seams.FRESH_SALT.wrap(lambda _: lambda self: None)


@fault(
    rules=(*_BYPASS, "STA-4", "STA-5", "BND-7"),
    checks=("bypass-partition#all-different", "reuse-none#repeat-computes"),
)
def bypass_in_one_partition() -> None:
    """All requests that must be alone get the same partition."""
    seams.FRESH_SALT.wrap(lambda _: lambda self: "bypass")


@fault(
    rules=(*_SHARING, *_NAMESPACE),
    checks=("tenant-boundary#foreigner-computes", "namesake#namesake-computes"),
    status=Word.LIES,
    public="D10",
)
def partition_of_the_outgoing_key() -> None:
    """The partition is made of the key that the gateway itself shows to the engine."""
    seams.SHARED_SALT.wrap(lambda _: lambda self, partition, name: sha256(b"the gateway").hexdigest())


@fault(rules=("BND-5", "SHR-3", "SHR-4"), checks=("anonymous-callers#second-computes",), public="D10")
def placeholder_key_for_the_anonymous() -> None:
    """Whoever comes without a known token gets the partition of a placeholder."""
    take_strangers_for(lambda credentials, authorization: Context("anonymous", "anonymous"))


@fault(
    rules=("BND-6", "SHR-4"),
    checks=(
        "salt-stripped#stripped",
        "salt-stripped#stripped-without-intent",
        "partition-members#salt-stripped",
        "caller-salt#foreigner-computes",
    ),
    status=Word.LIES,
    public="D09",
)
def salt_of_the_caller_forwarded() -> None:
    """A `cache_salt` of the caller's is forwarded in place of the gateway's own."""
    seams.FORWARDED.wrap(
        lambda original: (
            lambda text, salt, **how: original(text, json.loads(text).get("cache_salt") or salt, **how)
        )
    )


@fault(
    rules=("BND-5", "BND-6", "SHR-4"),
    checks=("salt-elsewhere#foreigner-computes",),
    status=Word.LIES,
    public="D09",
)
def salt_believed_from_a_header() -> None:
    """A header that a proxy in front was meant to set chooses the partition."""
    asserted: ContextVar[str | None] = ContextVar("salt", default=None)

    def make(original: Any) -> Any:
        async def chat(self: Any, request: Any) -> Any:
            asserted.set(request.headers.get("x-cache-salt"))
            return await original(self, request)

        return chat

    seams.CHAT.wrap(make)
    _choose(lambda plan, right: asserted.get() or right())


@fault(
    rules=(*_NAMESPACE, "SHR-2", "SHR-4", "INT-6", "SEC-2", "BND-10"),
    checks=(
        "namespace-shared-name#foreigner-computes",
        "awkward-namespaces#slash-served",
        "forwarding#partition-safe",
    ),
    status=Word.LIES,
    public="D05",
)
def raw_namespace_is_the_partition() -> None:
    """The namespaces are the partition as they are spelt, where there are any."""
    _choose(lambda plan, right: ".".join(_namespaces(plan)) or right())


@fault(
    rules=(*_NAMESPACE, "INT-6"),
    checks=("awkward-namespaces#wide-served", "awkward-namespaces#wide-safe"),
    public="D05",
)
def partition_longer_than_the_engine_takes() -> None:
    """The namespaces stand in the partition in hexadecimal, however long they are."""

    def spelt(plan: Plan, right: Callable[[], str | None]) -> str | None:
        namespaces = ".".join(name.encode().hex() for name in _namespaces(plan))
        return f"{(right() or '')[:32]}.{namespaces}" if namespaces else right()

    _choose(spelt)


@fault(
    rules=("SEC-2", "BND-10"),
    checks=("forwarding#partition-safe", "awkward-namespaces#slash-safe"),
)
def partition_tells_the_tenant() -> None:
    """The partition spells out whose it is, to whoever reads the engine's logs."""
    seams.SHARED_SALT.wrap(
        lambda _: (
            lambda self, partition, name: ".".join(
                (
                    str(partition.boundary.scope),
                    *map(str, partition.boundary.coordinates),
                    (partition.namespace_digest or "")[:24],
                )
            )
        )
    )


@fault(rules=("NS-1", "DIG-1"), checks=("namespace-seams#shifted-computes",), public="D03")
def namespaces_joined_in_the_partition() -> None:
    """The namespaces go into the partition one behind the other, without their lengths."""

    def make(original: Any) -> Any:
        def lower(self: Any, plan: Plan) -> Any:
            joined = sha256("".join(_namespaces(plan)).encode()).hexdigest() if _namespaces(plan) else None
            fragments = tuple(
                replace(
                    one,
                    terms=replace(one.terms, partition=replace(one.terms.partition, namespace_digest=joined)),
                )
                for one in plan.fragments
            )
            return original(self, replace(plan, fragments=fragments))

        return lower

    seams.LOWER.wrap(make)


@fault(
    rules=_NAMESPACE,
    checks=("namespace-change#changed-computes", "namespace-dropped#unnamed-computes"),
)
def partition_without_the_namespace() -> None:
    """The partition is that of the boundary alone."""
    _move(lambda partition: replace(partition, namespace_digest=None))


@fault(rules=("INT-13",), checks=("id-and-partition#same-partition",), status=Word.SILENT)
def partition_with_the_ids() -> None:
    """The ids of a request's intents are part of its partition."""

    def labelled(plan: Plan, right: Callable[[], str | None]) -> str | None:
        labels = [one.fragment.intent.id for one in plan.fragments if one.fragment.intent]
        return sha256(repr((right(), labels)).encode()).hexdigest()

    _choose(labelled)


@fault(rules=("SHR-1", "SHR-2", "POL-2"), checks=("namesake#namesake-computes",), status=Word.LIES)
def partition_without_the_tenant() -> None:
    """The partition of a principal is made of its bare name."""

    def bare(partition: Partition) -> Partition:
        found = partition.boundary
        if found.scope is not Scope.PRINCIPAL:
            return partition
        return replace(partition, boundary=replace(found, coordinates=found.coordinates[1:]))

    _move(bare)


@fault(
    rules=("RET-1", "FBK-1", "CMP-1", "CMP-2", "HNT-1", "HNT-2", "STA-6"),
    checks=("forbid#read-computes", "forbid-first#forbidden-part-computed"),
    public="D26",
)
def forbid_shares_the_partition() -> None:
    """A request that must leave nothing behind gets the partition of those that may."""

    def allowed(stated: Constraints) -> Constraints:
        forbidden = stated.retention.mode is RetentionMode.FORBID
        return replace(stated, retention=Retention(RetentionMode.ALLOW)) if forbidden else stated

    edits.edit_constraints(allowed)


@fault(
    rules=("CAP-3", *_BOUND, "CMP-1", "INT-2"),
    checks=("max-age-read#late-computes", "max-age-unread#late-computes"),
    status=Word.SILENT,
)
def bound_left_to_an_engine_that_knows_none() -> None:
    """The engine can't bound the age of state, and requests that ask for it share state all the same."""

    def unbounded(stated: Constraints) -> Constraints:
        bound = stated.retention.max_age
        return replace(stated, retention=Retention(RetentionMode.ALLOW)) if bound else stated

    edits.edit_constraints(unbounded)


@fault(
    rules=("BND-10", "CMP-1", "CMP-5", "CMP-8", "CAP-6", "SHR-2", "STA-7", "POL-2"),
    checks=("public-then-tenant#tenant-part-computed", "tenant-then-public#first-computed"),
)
def partition_of_the_widest_boundary() -> None:
    """The engine has one partition per request, and it is that of the widest boundary, not the narrowest."""
    edits.widest_boundary()


@fault(rules=("CAP-6",), checks=("own-boundary#not-narrowed",))
def boundaries_promised_where_there_is_one() -> None:
    """The engine has one partition per request, and the capabilities promise a boundary for each fragment."""
    edits.edit_capabilities(per_fragment_share=True)


@fault(rules=("RET-3", "RET-4"), checks=("queued-past-its-bound#late-reads-nothing",))
def bound_looked_at_only_when_a_request_is_sent() -> None:
    """Until its bound has passed, state is given to whoever asks, however long the engine may take to look it up."""
    seams.LOWERING.wrap(
        lambda original: (
            lambda self, salts, **how: original(
                self, salts, **{**how, "generations": Generations(0, margin=0)}
            )
        )
    )
