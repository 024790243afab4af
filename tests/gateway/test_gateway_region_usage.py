"""What token counts prove about fragments in regions."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.sharing import Context
from cctest.contract.vocabulary import OnUnenforceable, Outcome, Scope
from gateway.talk import Json, intent, message
from reference_gateway.engine.region_usage import observe_regions
from reference_gateway.engine.usage import LONGEST_TOKEN, Count
from reference_gateway.lowering.lowering import Lowered, Lowering
from reference_gateway.lowering.regions import Group, InRegions, Region, RegionLowering
from reference_gateway.lowering.salt import Salts
from reference_gateway.plan import Plan, make_plan
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION
from reference_gateway.request.intake import read_chat_request

BLOCK = 16
LONG = "x" * (BLOCK * LONGEST_TOKEN + 1)
HIT, MISS, UNKNOWN, BYPASS = Outcome.EXACT_HIT, Outcome.MISS, Outcome.UNOBSERVED, Outcome.BYPASS


def plan(*texts: str, **members: Any) -> Plan:
    body: Json = {"model": "m", "messages": [message(one, intent()) for one in texts], **members}
    lowering = RegionLowering(salts := Salts(b"0" * 32), Lowering(salts))
    return make_plan(
        read_chat_request(json.dumps(body).encode()),
        Context("acme", "alice"),
        "r",
        lowering.capabilities(OnUnenforceable.BYPASS),
        BY_CONSTRUCTION,
    )


def in_regions(*regions: Region) -> InRegions:
    fragments = [region for region in regions for _ in range(region.group.end)]
    return InRegions(Lowered("s", shared=True, share=Scope.TENANT), regions, tuple(fragments), BLOCK)


PUBLIC = Region(Group(1, "p", shared=True, share=Scope.PUBLIC), 0, 64, rest=20)
TENANT = Region(Group(1, "t", shared=True, share=Scope.TENANT), 64, 128, rest=0)
LAST = Region(Group(1, "a", shared=True, share=Scope.PRINCIPAL), 128, None)
FRESH = Region(Group(1, "f", shared=False, share=Scope.REQUEST), 128, None)


def outcomes(count: Count | None, *regions: Region, text: str = LONG, **members: Any) -> list[Outcome]:
    texts = [text] * sum(region.group.end for region in regions)
    observed = observe_regions(plan(*texts, **members), in_regions(*regions), count)
    return [one.outcome for one in observed]


@pytest.mark.parametrize(
    ("cached", "expected"),
    [
        (0, [MISS, MISS, MISS]),
        (48, [UNKNOWN, MISS, MISS]),
        (64, [HIT, MISS, MISS]),
        (80, [HIT, UNKNOWN, MISS]),
        (128, [HIT, HIT, MISS]),
        (144, [HIT, HIT, UNKNOWN]),
        (192, [HIT, HIT, HIT]),
        (200, [HIT, HIT, HIT]),
    ],
)
def test_reuse_is_told_by_how_far_it_reaches(cached: int, expected: list[Outcome]) -> None:
    assert outcomes(Count(200, cached), PUBLIC, TENANT, LAST) == expected
    assert outcomes(Count(200, cached), PUBLIC, TENANT, FRESH) == [*expected[:2], BYPASS]


def test_a_fragment_that_may_lie_behind_the_last_whole_block_is_no_hit() -> None:
    for size, expected in ((20, UNKNOWN), (21, HIT)):
        assert outcomes(Count(200, 64), PUBLIC, TENANT, text="x" * size)[0] is expected
    two = Region(Group(2, "p", shared=True, share=Scope.PUBLIC), 0, 64, rest=20)
    observed = observe_regions(plan(LONG, "short", LONG), in_regions(two, LAST), Count(200, 64))
    assert [one.outcome for one in observed] == [HIT, UNKNOWN, MISS]


def test_share_and_retention_are_those_of_the_region() -> None:
    observed = observe_regions(plan(*[LONG] * 3), in_regions(PUBLIC, TENANT, FRESH), Count(200, 64))
    assert [(one.share, one.retained) for one in observed] == [
        (Scope.PUBLIC, True),
        (Scope.TENANT, None),
        (Scope.REQUEST, False),
    ]


@pytest.mark.parametrize(
    ("count", "members"),
    [(None, {}), (Count(200, 128), {"n": 2}), (Count(200, 0), {"prompt_logprobs": 1})],
)
def test_what_a_count_does_not_tell_is_not_claimed(count: Count | None, members: Json) -> None:
    assert outcomes(count, PUBLIC, TENANT, FRESH, **members) == [UNKNOWN, UNKNOWN, BYPASS]


def test_of_what_may_not_be_in_the_prompt_no_hit_is_claimed() -> None:
    bounded = Region(Group(1, "b", shared=True, share=Scope.TENANT, max_age=60), 0, None)
    members: Json = {"chat_template_kwargs": {"x": 1}}
    assert outcomes(Count(200, 192), bounded) == [HIT]
    assert outcomes(Count(200, 192), bounded, **members) == [UNKNOWN]


@given(st.integers(0, 200), st.integers(0, 200))
def test_more_reuse_is_never_less_to_tell(one: int, other: int) -> None:
    rank = [MISS, UNKNOWN, HIT].index
    less, more = (outcomes(Count(200, cached), PUBLIC, TENANT, LAST) for cached in sorted((one, other)))
    assert all(rank(before) <= rank(after) for before, after in zip(less, more, strict=True))
