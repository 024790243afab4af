"""An engine that reuses approximately, and the ways in which it goes wrong.

It takes for a request the state of a similar one that was retained in the same partition. Done rightly it does
so only where every intent of the request says `approximate`, reports it, and retains nothing of the result.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from cctest.contract.vocabulary import Outcome, Reuse
from cctest.engine.blocks import Partition
from reference_gateway.backend import Served
from reference_gateway.plan import WITHOUT_INTENT, Plan, PlannedFragment
from reference_gateway.render import TOKEN_BYTES

from . import edits, seams
from .model import Word, fault

_STREAMED: ContextVar[bool] = ContextVar("streamed", default=False)


@dataclass(frozen=True, slots=True)
class Flaw:
    """What such an engine gets wrong: nothing, by default."""

    launders: bool = False
    reported: Outcome = Outcome.APPROXIMATE_HIT
    ignores_boundary: bool = False
    ignores_namespace: bool = False
    under_exact: Callable[[], bool] = lambda: False


def install(flaw: Flaw) -> None:
    """Let the engine reuse approximately, and advertise it."""
    donors: dict[Any, list[str]] = {}
    known: set[tuple[bytes, str]] = set()

    def make(original: Any) -> Any:
        def compute(self: Any, plan: Plan, texts: Sequence[str]) -> Served:
            text, last = "".join(texts), plan.fragments[-1]
            place, own = _place(last.terms.partition, flaw), (last.terms.partition.key, text)
            lends, donor = _lends(plan), None
            if lends and own not in known and _asks(plan, flaw):
                donor = next((one for one in donors.get(place, ()) if _similar(text, one)), None)
            approximate = donor is not None
            served: Served = original(
                self, _unretained(plan) if approximate and not flaw.launders else plan, texts
            )
            if lends and not approximate:
                donors.setdefault(place, []).append(text)
            if not approximate or flaw.launders:
                known.add(own)
            return _approximated(served, plan, texts, len(donor or ""), flaw) if approximate else served

        return compute

    seams.COMPUTE.wrap(make)
    edits.default_policy(replace(WITHOUT_INTENT, reuse=Reuse.APPROXIMATE))
    edits.edit_capabilities(reuse=(Reuse.NONE, Reuse.EXACT, Reuse.APPROXIMATE))


def _similar(one: str, other: str) -> bool:
    """Whether one of two texts that differ has most of its words in common with the other."""
    words, others = set(one.split()), set(other.split())
    return one != other and len(words & others) > 0.6 * min(len(words), len(others))


def _place(partition: Partition, flaw: Flaw) -> Any:
    coordinates = () if flaw.ignores_boundary else partition.boundary.coordinates
    return (
        partition.boundary.scope,
        coordinates,
        None if flaw.ignores_namespace else partition.namespace_digest,
    )


def _lends(plan: Plan) -> bool:
    """Whether the request's state may be retained and has no bound; only such state is lent here."""
    return all(one.terms.may_retain and one.terms.max_age is None for one in plan.fragments)


def _asks(plan: Plan, flaw: Flaw) -> bool:
    asked = [one.fragment.intent.constraints.reuse for one in plan.fragments if one.fragment.intent]
    permitted = {Reuse.APPROXIMATE, Reuse.EXACT} if flaw.under_exact() else {Reuse.APPROXIMATE}
    return bool(asked) and set(asked) <= permitted


def _unretained(plan: Plan) -> Plan:
    def unretained(one: PlannedFragment) -> PlannedFragment:
        return replace(one, terms=replace(one.terms, may_read=False, may_retain=False))

    return replace(plan, fragments=tuple(map(unretained, plan.fragments)))


def _approximated(served: Served, plan: Plan, texts: Sequence[str], length: int, flaw: Flaw) -> Served:
    """Report that as much of the input was reused as the donor of so many bytes had."""
    ends = accumulate(len(text) for text in texts)
    observed = []
    for end, text, planned, one in zip(ends, texts, plan.fragments, served.fragments, strict=True):
        outcome = flaw.reported if end - len(text) / 2 <= length else Outcome.MISS
        observed.append(replace(one, outcome=outcome, share=planned.terms.partition.boundary.scope))
    cached = min(length // TOKEN_BYTES, served.prompt_tokens)
    return replace(served, cached_tokens=cached, fragments=tuple(observed))


def note_streaming() -> None:
    """Remember for the engine whether the running request asks for a stream."""

    def make(original: Any) -> Any:
        async def serve(self: Any, request: Any) -> Any:
            _STREAMED.set(b'"stream": true' in await request.body())
            return await original(self, request)

        return serve

    seams.CHAT.wrap(make)


@fault(
    rules=("APX-3", "REU-2"),
    checks=("laundering#approximate-not-exact",),
    status=Word.LIES,
)
def approximate_state_comes_back_as_exact() -> None:
    """State from approximate reuse is retained as if it had been computed."""
    install(Flaw(launders=True))


@fault(rules=("APX-4", "STA-4"), checks=("laundering#approximate-reported",), status=Word.LIES, public="D21")
def approximate_hit_reported_as_exact() -> None:
    """Approximate reuse is reported as an exact hit."""
    install(Flaw(reported=Outcome.EXACT_HIT))


@fault(
    rules=("APX-2", "SHR-2", "SHR-4"),
    checks=("approximate-boundary#foreigner-computes",),
    public="D12",
)
def donors_of_other_tenants() -> None:
    """Donor state is searched among everybody's."""
    install(Flaw(ignores_boundary=True))


@fault(rules=("APX-2", "NS-1"), checks=("approximate-boundary#other-namespace-computes",), public="D14")
def donors_of_other_namespaces() -> None:
    """Donor state is searched without regard to namespaces."""
    install(Flaw(ignores_namespace=True))


@fault(
    rules=("APX-1", "FBK-1", "REU-2", "CMP-4"),
    checks=("laundering#approximate-not-exact",),
    cells=({"stream": "streamed"},),
    public="D20",
)
def exact_served_approximately_when_streamed() -> None:
    """On the path of streams a request for exact reuse is served approximately."""
    note_streaming()
    install(Flaw(under_exact=_STREAMED.get))
