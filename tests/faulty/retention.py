"""Faults of retention: what outlives its request, and for how long."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from cctest.contract.intent import CacheIntent, Constraints, Retention
from cctest.contract.vocabulary import RetentionMode
from cctest.engine.blocks import Block
from cctest.engine.cache import SECOND
from reference_gateway.request.intake import ChatRequest, Fragment

from . import edits, seams
from .model import Word, fault

ALLOWED = Retention(RetentionMode.ALLOW)


def _allow(stated: Constraints) -> Constraints:
    return replace(stated, retention=ALLOWED) if stated.retention.mode is RetentionMode.FORBID else stated


def _rebound(change: Callable[[int], int | None], where: edits.Where = edits.everywhere) -> None:
    """Serve each bound as another one."""

    def rebound(stated: Constraints) -> Constraints:
        bound = stated.retention.max_age
        return stated if bound is None else replace(stated, retention=replace(ALLOWED, max_age=change(bound)))

    edits.edit_constraints(rebound, where)


def _bound_all(choose: Callable[[Sequence[int | None]], int | None]) -> None:
    """Serve every fragment that may be retained under one bound out of all of the request's."""

    def chosen(stated: Sequence[Constraints]) -> Callable[[Constraints], Constraints]:
        bounds = [one.retention.max_age for one in stated if one.retention.mode is RetentionMode.ALLOW]
        bound = choose(bounds) if bounds else None

        def rebound(one: Constraints) -> Constraints:
            if one.retention.mode is RetentionMode.FORBID:
                return one
            return replace(one, retention=replace(ALLOWED, max_age=bound))

        return rebound

    edits.edit_all_constraints(chosen)


@fault(
    rules=("RET-1", "FBK-1", "STA-6", "CMP-1", "CMP-2", "HNT-1", "HNT-2"),
    checks=(
        "forbid#read-computes",
        "forbid-first#forbidden-part-computed",
        "forbid-last#forbidden-part-computed",
    ),
    public="D26",
)
def forbid_advertised_and_ignored() -> None:
    """The capabilities list forbid, and nothing ever reads it."""
    edits.edit_constraints(_allow)


@fault(
    rules=("RET-1", "FBK-1", "CMP-1", "CMP-2", "HNT-1", "HNT-2"),
    checks=("forbid#read-computes",),
    status=Word.LIES,
    public="D26",
)
def forbid_is_a_short_retention() -> None:
    """What must not be retained is retained for a minute, and reported as forbidden."""
    edits.edit_constraints(
        lambda stated: (
            replace(stated, retention=replace(ALLOWED, max_age=60), namespace=stated.namespace)
            if stated.retention.mode is RetentionMode.FORBID
            else stated
        )
    )
    edits.edit_status(
        lambda entries, plan: [
            {**entry, "retention": "forbidden"} if planned.policy.retention.max_age == 60 else entry
            for entry, planned in zip(
                entries, (planned for planned in plan.fragments if planned.governed), strict=True
            )
        ]
    )


@fault(rules=("CMP-2", "RET-1", "CMP-1"), checks=("forbid-first#dependent-part-computed",))
def one_allow_permits_all() -> None:
    """One fragment that may be retained lifts the prohibition on all others."""

    def lifted(stated: Sequence[Constraints]) -> Callable[[Constraints], Constraints]:
        modes = {one.retention.mode for one in stated}
        return _allow if RetentionMode.ALLOW in modes else lambda one: one

    edits.edit_all_constraints(lifted)


@fault(rules=("RET-1", "CMP-2", "CMP-1"), checks=("forbid-last#forbidden-part-computed",))
def forbid_counts_on_the_first_intent_only() -> None:
    """A prohibition further back than the first intent isn't seen."""

    def behind(fragment: Fragment, request: ChatRequest) -> bool:
        return fragment is not next(one for one in request.fragments if one.intent)

    edits.edit_constraints(_allow, behind)


@fault(
    rules=("RET-1", "HNT-1", "HNT-2"),
    checks=("hint-is-no-retention#read-computes",),
    public="D26",
)
def hint_lifts_forbid() -> None:
    """A prohibition is recognised only where no hint stands beside it."""
    edits.edit_intents(
        lambda intent: replace(intent, constraints=_allow(intent.constraints)) if intent.hints else intent
    )


@fault(
    rules=("RET-3", "RET-4"),
    checks=("max-age-read#late-computes",),
    status=Word.SILENT,
    public="D22",
)
def reading_restarts_the_interval() -> None:
    """Every read starts the bound of what was read anew."""

    def make(original: Any) -> Any:
        def readable(self: Any, block: Block, now: int) -> Any:
            entry = original(self, block, now)
            if entry is not None and entry.expires_at is not None:
                entry.expires_at += now - entry.materialized_at
                entry.materialized_at = now
            return entry

        return readable

    seams.READABLE.wrap(make)


@fault(rules=("RET-3",), checks=("max-age-unread#late-computes",), status=Word.SILENT, public="D23")
def expiry_unnoticed_by_the_first_read() -> None:
    """Expired state is found out when it is read a second time: nothing purges an idle cache."""
    read: set[int] = set()

    def make(original: Any) -> Any:
        def readable(self: Any, block: Block, now: int) -> Any:
            entry = self._entries.get(block.identity)
            if entry is None or not block.terms.may_read or entry.serial in read:
                return original(self, block, now)
            read.add(entry.serial)
            return entry

        return readable

    seams.READABLE.wrap(make)


@fault(
    rules=("RET-3", "RET-4", "CMP-3", "HNT-1", "HNT-2"),
    checks=(
        "max-age-read#late-computes",
        "max-age-unread#late-computes",
        "smallest-max-age#bounded-part-computed",
        "later-smaller-max-age#bounded-part-computed",
    ),
    status=Word.SILENT,
    public="D24",
)
def seconds_taken_for_more() -> None:
    """The bound is multiplied by a thousand on its way to a clock that counts seconds."""
    _rebound(lambda bound: bound * 1000)


@fault(
    rules=("RET-3", "RET-4", "CMP-3", "CAP-5", "HNT-1", "HNT-2"),
    checks=("max-age-read#late-computes", "max-age-unread#late-computes"),
    status=Word.SILENT,
    public="D26",
)
def max_age_advertised_and_ignored() -> None:
    """The capabilities say that bounds are kept, and only a bound of zero is."""
    _rebound(lambda bound: None if bound else 0)


@fault(
    rules=("RET-3", "RET-4", "CMP-3", "INT-2", "CAP-3", "HNT-1", "HNT-2"),
    checks=("max-age-read#late-computes", "max-age-unread#late-computes", "supported-is-listed#bound"),
    status=Word.SILENT,
)
def max_age_unsupported_and_ignored() -> None:
    """The capabilities don't list bounds, yet a request with one is served without it."""
    _rebound(lambda bound: None if bound else 0)
    edits.edit_capabilities(retention_max_age=False)


@fault(
    rules=("RET-3", "RET-4", "RET-7", "CMP-3", "HNT-1", "HNT-2"),
    checks=("max-age-read#late-computes", "max-age-unread#late-computes"),
    status=Word.SILENT,
)
def a_minute_of_grace() -> None:
    """State is reused for a minute longer than its bound."""
    seams.READABLE.wrap(lambda original: lambda self, block, now: original(self, block, now - 60 * SECOND))


@fault(
    rules=("RET-6",),
    checks=("max-age-zero#repeat-computes", "max-age-zero#read-computes"),
)
def zero_is_no_bound() -> None:
    """A bound of zero is taken for none."""
    _rebound(lambda bound: bound or None)


@fault(
    rules=("RET-6",),
    checks=("max-age-zero#repeat-computes", "max-age-zero#read-computes"),
    cells=({"stream": "plain"},),
    public="D25",
)
def zero_is_no_bound_unless_streamed() -> None:
    """On the path of plain answers a bound of zero is taken for none."""
    _rebound(lambda bound: bound or None, edits.plain)


@fault(
    rules=("CMP-3", "RET-3"),
    checks=("later-smaller-max-age#bounded-part-computed",),
    status=Word.SILENT,
)
def largest_bound_wins() -> None:
    """Of several bounds the largest holds."""
    _bound_all(lambda bounds: max((bound for bound in bounds if bound is not None), default=None))


@fault(
    rules=("CMP-3", "RET-3"),
    checks=("smallest-max-age#bounded-part-computed", "smallest-max-age#dependent-part-computed"),
    status=Word.SILENT,
)
def absent_bound_loosens_all() -> None:
    """A fragment without a bound lifts that of the others."""
    _bound_all(lambda bounds: None if None in bounds else min(bound for bound in bounds if bound is not None))


@fault(
    rules=("CMP-3", "RET-3"),
    checks=("later-smaller-max-age#bounded-part-computed",),
    status=Word.SILENT,
)
def first_bound_wins() -> None:
    """Of several bounds the first holds."""
    _bound_all(lambda bounds: next((bound for bound in bounds if bound is not None), None))


@fault(
    rules=("RET-3", "RET-4", "CMP-8"),
    checks=("max-age-lifted#late-computes",),
    status=Word.SILENT,
)
def unbounded_reader_lifts_the_bound() -> None:
    """What is read by a request without a bound of its own has none from then on."""

    def make(original: Any) -> Any:
        def readable(self: Any, block: Block, now: int) -> Any:
            entry = original(self, block, now)
            if entry is not None and block.terms.max_age is None:
                entry.expires_at = None
            return entry

        return readable

    seams.READABLE.wrap(make)


@fault(
    rules=("HNT-1", "HNT-2", "RET-3"),
    checks=("hint-is-no-lifetime#late-computes",),
    status=Word.SILENT,
)
def hint_lengthens_the_bound() -> None:
    """State is reused for as long as a hint expects it to be, whatever its bound."""

    def lengthened(intent: CacheIntent) -> CacheIntent:
        bound, hint = intent.constraints.retention.max_age, intent.hints.get("reuse_within")
        if not bound or not isinstance(hint, int):
            return intent
        retention = replace(ALLOWED, max_age=max(bound, hint))
        return replace(intent, constraints=replace(intent.constraints, retention=retention))

    edits.edit_intents(lengthened)
