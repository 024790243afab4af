"""From a plan to regions of the prompt, each with a salt of its own, where the engine has our plugin.

Consecutive fragments on the same terms are a group. Policies only narrow, so the groups of a request go from
wide to narrow, and text may always be put under the salt of a later group: that is narrower. It is wherever
the end of a group isn't known.

Each end is bound to a digest of all tokens before it, measured on renders that hold the text of the group and
of those before it, and nothing else of the request. The engine compares; so tokens under a group's salt are
made of what may be shared so widely, whatever was assumed on the way here.

Beside the regions stands the one salt that the request would have without them. An engine that has lost the
plugin, or doesn't get the tokens that were expected, keeps that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Final

from cctest.contract.capabilities import Capabilities
from cctest.contract.vocabulary import OnUnenforceable, Scope
from cctest.engine.blocks import Terms
from reference_gateway.lowering.lowering import Lowered, Lowering
from reference_gateway.lowering.salt import Salts
from reference_gateway.plan import Plan, PlannedFragment
from reference_gateway.rendering.boundary import TokenBoundary

MOST_GROUPS: Final = 8
"""So many groups of a request have ends that are looked for. Each takes two renders of all before it, which
nobody should get for the price of one request in larger numbers; scopes alone make no more than five."""
MOST_MILLISECONDS: Final = 2**53
"""The largest bound that the plugin takes."""

_REGIONS: Final = "salt_regions"
_DIGESTS: Final = "salt_region_digests"
_MAX_AGES: Final = "salt_region_max_age_ms"
_UNBOUNDED: Final = -1


@dataclass(frozen=True, slots=True)
class Group:
    """Consecutive fragments on the same terms: those up to `end`, exclusive.

    `shared` is False for the last group if nothing of it may be read, retained or both: its salt is fresh.
    `max_age` is in seconds.
    """

    end: int
    salt: str
    shared: bool
    share: Scope
    max_age: int | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """The tokens from `start` to `end`, under the terms of `group`. The last one's end, None, is that of all.

    `digest` is that of the tokens before `start`; none where that is 0. `rest` is the boundary's at `end`.
    """

    group: Group
    start: int
    end: int | None
    digest: bytes = b""
    rest: int = 0


@dataclass(frozen=True, slots=True)
class InRegions:
    """A request lowered to regions, and flat beside them. `fragments` gives the region of each fragment."""

    flat: Lowered
    regions: tuple[Region, ...]
    fragments: tuple[Region, ...]
    block_size: int

    @property
    def salts(self) -> tuple[str, ...]:
        """All salts that are sent."""
        flat = () if self.flat.salt is None else (self.flat.salt,)
        return (*flat, *(region.group.salt for region in self.regions))


class RegionLowering:
    """Lowers plans to regions. `flat` must bound ages, and is under the same secret."""

    def __init__(self, salts: Salts, flat: Lowering) -> None:
        self._salts = salts
        self._flat = flat

    def capabilities(self, on_unenforceable: OnUnenforceable) -> Capabilities:
        """Say what can be enforced where regions are in force (CAP-3)."""
        flat = self._flat.capabilities(on_unenforceable)
        return replace(flat, per_fragment_share=True, retention_max_age=True)

    def groups(self, plan: Plan) -> tuple[Group, ...]:
        """Group the fragments of a plan. None at all where one salt says everything.

        Raises RuntimeError for a plan in which what may be shared gets wider.
        """
        found = tuple(self._groups(plan))
        _refuse_widening(plan.fragments)
        plain = len(found) == 1 and found[0].max_age is None
        return () if plain or self._flat.lower(plan).salt is None else found

    def lower(
        self,
        plan: Plan,
        groups: Sequence[Group],
        boundaries: Sequence[TokenBoundary | None],
        block_size: int,
    ) -> InRegions | None:
        """Lower a plan that is sent now; None where one salt says all that regions could.

        `boundaries` are the ends of all groups but the last, where they are known.
        """
        found = regions(groups, boundaries)
        only = found[-1].group
        if len(found) == 1 and (only.max_age is None or not only.shared):
            return None
        return InRegions(self._flat.lower(plan), found, tuple(_placed(found)), block_size)

    def _groups(self, plan: Plan) -> Iterator[Group]:
        end = 0
        for terms, members in groupby(plan.fragments, lambda one: replace(one.terms, keep_for=0)):
            if not _is_shared(terms):
                yield Group(len(plan.fragments), self._salts.fresh(), shared=False, share=Scope.REQUEST)
                return
            end += len(list(members))
            model, max_age = plan.request.model, terms.max_age
            if max_age is None:
                salt = self._salts.shared(terms.partition, model)
            else:
                salt = self._salts.bounded(terms.partition, model, max_age)
            yield Group(end, salt, shared=True, share=terms.partition.boundary.scope, max_age=max_age)


def regions(groups: Sequence[Group], boundaries: Sequence[TokenBoundary | None]) -> tuple[Region, ...]:
    """Give the regions of groups that end at these boundaries, None where that isn't known.

    A group whose end isn't known, or has no whole block of its own, lies in the region of the next one. Where
    ends don't rise, fragments are rendered in another order than was believed: then all is in one region.
    """
    ends = [(group, end) for group, end in zip(groups[:-1], boundaries, strict=True) if end is not None]
    if any(_out_of_order(one, after) for (_, one), (_, after) in pairwise(ends)):
        ends = []
    found: list[Region] = []
    start, digest = 0, b""
    for group, end in ends:
        if end.tokens > start:
            found.append(Region(group, start, end.tokens, digest, end.rest))
            start, digest = end.tokens, end.digest
    return (*found, Region(groups[-1], start, None, digest))


def spelt(lowered: InRegions) -> dict[str, list[str | int]]:
    """Write regions as the plugin reads them, for `vllm_xargs`."""
    found = lowered.regions
    carried: dict[str, list[str | int]] = {
        _REGIONS: [part for region in found for part in (region.start, region.group.salt)],
        _DIGESTS: [region.digest.hex() for region in found[1:]],
    }
    if any(region.group.max_age is not None for region in found):
        carried[_MAX_AGES] = [_milliseconds(region.group.max_age) for region in found]
    return carried


def _milliseconds(max_age: int | None) -> int:
    return _UNBOUNDED if max_age is None else min(1000 * max_age, MOST_MILLISECONDS)


def _placed(found: Sequence[Region]) -> Iterator[Region]:
    """Give the region of each fragment: that of its group, or of the first later group that has one."""
    first = 0
    for region in found:
        yield from (region,) * (region.group.end - first)
        first = region.group.end


def _out_of_order(one: TokenBoundary, after: TokenBoundary) -> bool:
    return one.tokens > after.tokens or (one.tokens == after.tokens and one.digest != after.digest)


def _is_shared(terms: Terms) -> bool:
    return terms.may_read and terms.may_retain


def _refuse_widening(fragments: Sequence[PlannedFragment]) -> None:
    """Check what merging into the next group rests on."""
    for one, after in pairwise(fragment.terms for fragment in fragments):
        if not _is_shared(after):
            continue
        bounds = one.max_age is None or (after.max_age is not None and after.max_age <= one.max_age)
        if not (_is_shared(one) and bounds and one.partition.boundary.contains(after.partition.boundary)):
            raise RuntimeError("what may be shared got wider from one fragment to the next")
