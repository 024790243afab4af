"""What an engine's token count proves about each fragment where the request had regions (BND-7, STA-5).

Here it is known where in the prompt the text of each group of fragments ends, and reuse goes from the
beginning on. So more can be told than of a request in one partition (READ-30), see `usage`:

- not a block of a region was read: its fragments are misses;
- all of its blocks were read, and a fragment's own text has more bytes than are left for the block behind
  them, which belongs to the next region: it is a hit. Of the last region, which has no end, as much is told
  as of a whole request;
- otherwise it can't be told.
"""

from cctest.contract.vocabulary import Outcome, Scope
from reference_gateway.backend import FragmentObservation
from reference_gateway.engine.usage import Count, outcome, own_bytes
from reference_gateway.lowering.regions import InRegions, Region
from reference_gateway.plan import Plan


def observe_regions(plan: Plan, lowered: InRegions, count: Count | None) -> tuple[FragmentObservation, ...]:
    """Tell what became of each fragment. As to `retained` and several answers, see `usage.observe`.

    Where the engine fell back to one salt, what is told of the outcome still holds, and `share` is wider than
    the boundary in use.
    """
    request = plan.request
    if request.choices != 1 or (request.prompt_told and count is not None and count.cached == 0):
        count = None
    observed = []
    for one, region in zip(plan.fragments, lowered.fragments, strict=True):
        own = 0 if request.other_input else own_bytes(one.fragment)
        observed.append(_observed(region, count, own, lowered.block_size))
    return tuple(observed)


def _observed(region: Region, count: Count | None, own: int, block_size: int) -> FragmentObservation:
    if not region.group.shared:
        return FragmentObservation(Outcome.BYPASS, retained=False, share=Scope.REQUEST)
    told = _outcome(region, count, own, block_size)
    return FragmentObservation(told, True if told is Outcome.EXACT_HIT else None, region.group.share)


def _outcome(region: Region, count: Count | None, own: int, block_size: int) -> Outcome:
    if count is None:
        return Outcome.UNOBSERVED
    if count.cached <= region.start:
        return Outcome.MISS
    if region.end is None:
        return outcome(count, own, block_size)
    return Outcome.EXACT_HIT if count.cached >= region.end and own > region.rest else Outcome.UNOBSERVED
