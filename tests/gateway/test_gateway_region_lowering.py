"""Plans lowered to regions, on a cache of blocks, against a model of what may be reused."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.sharing import Context
from cctest.contract.vocabulary import OnUnenforceable, Scope
from gateway.region_engine import BLOCK, RegionEngine
from gateway.talk import Json, intent, message
from reference_gateway.lowering.generations import SECOND, Generations
from reference_gateway.lowering.lowering import Lowered, Lowering, WithoutIntent
from reference_gateway.lowering.regions import (
    MOST_GROUPS,
    MOST_MILLISECONDS,
    Group,
    InRegions,
    RegionLowering,
    regions,
    spelt,
)
from reference_gateway.lowering.salt import Salts
from reference_gateway.plan import Plan, make_plan
from reference_gateway.rendering.boundary import TokenBoundary, token_digest
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION
from reference_gateway.request.intake import read_chat_request
from vllm_cache_regions.carrier import BadRegionsError, parse_regions, spell_regions
from vllm_cache_regions.plan import token_digest as digest_of_the_plugin

SECRET = b"fake secret of the tests, 32 bytes or so"
CALLERS = (
    Context("acme", "alice", "monday"),
    Context("acme", "alice", "tuesday"),
    Context("acme", "alice"),
    Context("acme", "bob", "monday"),
    Context("globex", "alice", "monday"),
)
SCOPES = ("request", "session", "principal", "tenant", "public")


@dataclass
class Clock:
    """Nanoseconds."""

    now: int = 0

    def __call__(self) -> int:
        return self.now


@dataclass(frozen=True)
class Part:
    """A fragment: so many tokens of its own, and an intent or none."""

    tokens: int
    intent: Json | None


intents = st.builds(
    lambda scope, kind, namespace: intent(
        scope, **kind, **({} if namespace is None else {"namespace": namespace})
    ),
    st.sampled_from([*SCOPES, "public", "tenant"]),
    st.sampled_from(
        [{}, {}, {}, {"max_age": 60}, {"max_age": 20}, {"max_age": 0}, {"mode": "forbid"}, {"reuse": "none"}]
    ),
    st.sampled_from([None, None, None, "n", "m"]),
)
parts = st.lists(st.builds(Part, st.integers(1, 3 * BLOCK), st.none() | intents), min_size=1, max_size=7)
callers = st.sampled_from(CALLERS)


def tokens_of(asked: Sequence[Part]) -> list[int]:
    return [index * 1000 + at for index, part in enumerate(asked) for at in range(part.tokens)]


def may_share(asked: Sequence[Part], writer: Context, reader: Context, seconds: float) -> int:
    """Count the leading tokens of one input that a reader may have from a writer, so many seconds later."""
    scope, count = "public", 0
    for part in asked:
        constraints = {} if part.intent is None else part.intent["constraints"]
        retention = constraints.get("retention", {})
        scope = min(scope, constraints.get("share_max", "tenant"), key=SCOPES.index)
        same = {
            "public": True,
            "tenant": writer.tenant == reader.tenant,
            "principal": (writer.tenant, writer.principal) == (reader.tenant, reader.principal),
            "session": writer == reader and writer.session is not None,
            "request": False,
        }[scope]
        forbidden = retention.get("mode") == "forbid" or constraints.get("reuse") == "none"
        if not same or forbidden or retention.get("max_age", 1e9) <= seconds:
            break
        count += part.tokens
    return count


class Front:
    """Lowering as the gateway does it, in front of one engine."""

    def __init__(self, *, plugin: bool = True) -> None:
        self.clock = Clock()
        self.engine = RegionEngine(plugin=plugin)
        salts = Salts(SECRET)
        self.flat = Lowering(salts, generations=Generations(5, margin=1, clock=self.clock))
        self.lowering = RegionLowering(salts, self.flat)

    def plan(self, asked: Sequence[Part], caller: Context) -> Plan:
        fragments = [message("x", part.intent) for part in asked]
        request = read_chat_request(json.dumps({"model": "m", "messages": fragments}).encode())
        capabilities = self.lowering.capabilities(OnUnenforceable.BYPASS)
        return make_plan(request, caller, secrets.token_hex(8), capabilities, BY_CONSTRUCTION)

    def lowered(
        self, asked: Sequence[Part], caller: Context, ends: Sequence[int | None] | None = None
    ) -> InRegions | Lowered:
        """Lower a request; `ends` are where its groups were seen to end, by default where they do.

        What was seen is what an engine rendered of the fragments up to there, and something else behind.
        """
        plan = self.plan(asked, caller)
        groups = self.lowering.groups(plan)
        boundaries: list[TokenBoundary | None] = []
        for index, group in enumerate(groups[:-1]):
            leading = tokens_of(asked[: group.end])
            end = len(leading) if ends is None else ends[index % len(ends)]
            if end is None:
                boundaries.append(None)
                continue
            seen = [*leading, *range(900_000, 900_000 + end)]
            whole = end - end % BLOCK
            boundaries.append(TokenBoundary(whole, token_digest(seen[:whole]), 0))
        lowered = self.lowering.lower(plan, groups, boundaries, BLOCK) if groups else None
        return self.flat.lower(plan) if lowered is None else lowered

    def cached(self, asked: Sequence[Part], caller: Context, ends: Sequence[int | None] | None = None) -> int:
        """Serve a request; give the tokens that were read."""
        lowered, tokens = self.lowered(asked, caller, ends), tokens_of(asked)
        salt = lowered.salt if isinstance(lowered, Lowered) else lowered.flat.salt
        body: Json = {"cache_salt": salt}
        if isinstance(lowered, InRegions):
            body["vllm_xargs"] = spelt(lowered)
        return self.engine.computed(self.engine.plan(body, tokens), tokens)

    def wait(self, seconds: float) -> None:
        self.clock.now += round(seconds * SECOND)
        self.engine.late += seconds


def whole(tokens: int) -> int:
    return tokens - tokens % BLOCK


@given(parts, callers, callers, st.sampled_from([0, 19, 21, 59, 61]))
def test_what_may_be_shared_is_read_to_the_last_whole_block_and_no_further(
    asked: list[Part], writer: Context, reader: Context, seconds: float
) -> None:
    front = Front()
    front.cached(asked, writer)
    front.wait(seconds)
    readable = min(may_share(asked, writer, reader, seconds), len(tokens_of(asked)) - 1)
    assert front.cached(asked, reader) == whole(readable)


ends = st.lists(st.none() | st.integers(0, 10 * BLOCK), min_size=1, max_size=6)


@given(parts, callers, callers, st.tuples(ends, ends), st.sampled_from([0, 19, 21, 59, 61]))
def test_wherever_groups_were_seen_to_end_nothing_is_read_that_may_not_be(
    asked: list[Part],
    writer: Context,
    reader: Context,
    seen: tuple[list[int | None], list[int | None]],
    seconds: float,
) -> None:
    front = Front()
    front.cached(asked, writer, seen[0])
    front.wait(seconds)
    assert front.cached(asked, reader, seen[1]) <= whole(may_share(asked, writer, reader, seconds))


@given(parts, callers, callers, st.sampled_from([0, 19, 21, 59, 61]))
def test_an_engine_that_has_lost_the_plugin_keeps_all_of_it(
    asked: list[Part], writer: Context, reader: Context, seconds: float
) -> None:
    front = Front(plugin=False)
    front.cached(asked, writer)
    front.wait(seconds)
    assert front.cached(asked, reader) <= whole(may_share(asked, writer, reader, seconds))


@given(parts, callers, parts)
def test_a_stranger_who_knows_the_text_and_calls_it_what_he_likes_reads_what_was_public(
    asked: list[Part], writer: Context, claimed: list[Part]
) -> None:
    front = Front()
    stranger = Context("initech", "mallory", "monday")
    front.cached(asked, writer)
    intents = [*(part.intent for part in claimed), *[intent("public")] * len(asked)]
    same_text = [Part(part.tokens, told) for part, told in zip(asked, intents, strict=False)]
    assert front.cached(same_text, stranger) <= whole(may_share(asked, writer, stranger, 0))


@given(parts, callers)
def test_regions_are_spelt_as_the_plugin_spells_them(asked: list[Part], caller: Context) -> None:
    lowered = Front().lowered(asked, caller)
    if isinstance(lowered, Lowered):
        return
    carried = parse_regions(spelt(lowered))
    assert spell_regions(carried) == spelt(lowered)
    for told, region in zip(carried.regions, lowered.regions, strict=True):
        max_age = region.group.max_age
        assert (told.start, told.salt) == (region.start, region.group.salt)
        assert told.max_age_ms == (None if max_age is None else 1000 * max_age)
    assert len(lowered.fragments) == len(asked)


@given(st.lists(st.integers(0, 2**32 - 1)))
def test_tokens_are_digested_as_the_plugin_does(tokens: list[int]) -> None:
    assert token_digest(tokens) == digest_of_the_plugin(tokens)


def group(end: int, **members: Any) -> Group:
    return Group(end, f"salt {end}", **{"shared": True, "share": Scope.TENANT, **members})


def in_regions(groups: Sequence[Group], boundaries: Sequence[TokenBoundary | None]) -> list[tuple[int, str]]:
    return [(region.start, region.group.salt) for region in regions(groups, boundaries)]


A, B, C, D = (group(end) for end in (1, 2, 3, 4))


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([32, 64, 96], [(0, "salt 1"), (32, "salt 2"), (64, "salt 3"), (96, "salt 4")]),
        ([None, 64, 96], [(0, "salt 2"), (64, "salt 3"), (96, "salt 4")]),
        ([32, None, 96], [(0, "salt 1"), (32, "salt 3"), (96, "salt 4")]),
        ([32, 64, None], [(0, "salt 1"), (32, "salt 2"), (64, "salt 4")]),
        ([0, 64, 64], [(0, "salt 2"), (64, "salt 4")]),
        ([32, 32, 32], [(0, "salt 1"), (32, "salt 4")]),
        ([0, 0, 0], [(0, "salt 4")]),
        ([None, None, None], [(0, "salt 4")]),
        ([64, 32, 96], [(0, "salt 4")]),  # rendered in another order than was believed
        ([32, 64, 0], [(0, "salt 4")]),
    ],
)
def test_text_whose_end_is_not_known_has_a_narrower_salt(
    seen: list[int | None], expected: list[tuple[int, str]]
) -> None:
    tokens = list(range(200))
    boundaries = [None if end is None else TokenBoundary(end, token_digest(tokens[:end]), 0) for end in seen]
    assert in_regions((A, B, C, D), boundaries) == expected


def test_ends_at_one_place_that_differ_in_what_is_before_are_out_of_order() -> None:
    one, other = (TokenBoundary(32, digest, 0) for digest in (b"1", b"2"))
    assert in_regions((A, B, C), [one, one]) == [(0, "salt 1"), (32, "salt 3")]
    assert in_regions((A, B, C), [one, other]) == [(0, "salt 3")]


def test_the_longest_bound_is_one_that_the_plugin_takes() -> None:
    asked = [Part(40, intent("tenant", max_age=2**62))]
    lowered = Front().lowered(asked, CALLERS[0])
    assert isinstance(lowered, InRegions)
    assert spelt(lowered)["salt_region_max_age_ms"] == [MOST_MILLISECONDS]
    parse_regions(spelt(lowered))
    with pytest.raises(BadRegionsError):
        parse_regions({**spelt(lowered), "salt_region_max_age_ms": [MOST_MILLISECONDS + 1]})


@given(parts, callers)
def test_one_salt_that_says_it_all_comes_without_regions(asked: list[Part], caller: Context) -> None:
    front = Front()
    groups = front.lowering.groups(front.plan(asked, caller))
    assert len(groups) != 1 or groups[0].max_age is not None
    assert all(one.shared for one in groups[:-1])
    assert [one.end for one in groups] == sorted({one.end for one in groups})
    if groups:
        assert groups[-1].end == len(asked)


def test_what_the_operator_leaves_in_the_engines_own_partition_stays_there() -> None:
    salts = Salts(SECRET)
    flat = Lowering(salts, without_intent=WithoutIntent.ENGINE_DEFAULT)
    front = Front()
    plan = front.plan([Part(40, None)], CALLERS[0])
    assert RegionLowering(salts, flat).groups(plan) == ()
    assert flat.lower(plan).salt is None


@given(st.integers(1, 10**9), st.integers(1, 10**9))
def test_state_with_a_bound_has_another_salt_than_without_or_with_another(one: int, other: int) -> None:
    salts = Salts(SECRET)
    front = Front()
    partition = front.plan([Part(1, None)], CALLERS[0]).fragments[0].terms.partition
    bounded = [salts.bounded(partition, "m", max_age) for max_age in (one, other)]
    assert (bounded[0] == bounded[1]) == (one == other)
    assert salts.shared(partition, "m") not in bounded
    assert salts.bounded(partition, "n", one) not in bounded


def test_many_groups_are_more_than_ends_are_asked_for() -> None:
    asked = [Part(BLOCK, intent("tenant", max_age=1000 - index)) for index in range(2 * MOST_GROUPS)]
    front = Front()
    groups = front.lowering.groups(front.plan(asked, CALLERS[0]))
    assert len(groups) == 2 * MOST_GROUPS
    assert all(
        one.max_age > after.max_age for one, after in pairwise(groups) if one.max_age and after.max_age
    )


def test_bounded_state_is_in_a_partition_that_no_other_request_has() -> None:
    front = Front()
    salts: list[str | None] = []
    for told in (intent(), intent(max_age=60), intent(max_age=61)):
        lowered = front.lowered([Part(40, told)], CALLERS[0])
        salts += [lowered.salt] if isinstance(lowered, Lowered) else lowered.salts
    assert len(set(salts)) == len(salts) == 5
