"""Regions of a prompt: what is read, what holds for the tokens that come, and what may be reused under it."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.source import JsonValue
from cctest.instrument.client import Engine, running_engine
from cctest.instrument.prefix_cache import PrefixCache
from cctest.instrument.regions import Region, Regions, RegionsError, read_regions
from cctest.instrument.settings import Settings
from cctest.instrument.template import numbered_token, token_number, tokenize
from instrument.talk import Json, ask, body, nonce, recorded, send, text
from vllm_cache_regions.carrier import BadRegionsError, parse_regions
from vllm_cache_regions.plan import bound_plan, token_digest

TOKENS = [b"a", b"b", b"ab", b"four"]


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


UNBOUNDED: st.SearchStrategy[int | None] = st.none()


def drawn_regions(salts: str = "xy", ages: st.SearchStrategy[int | None] = UNBOUNDED) -> Any:
    starts = st.lists(st.integers(1, 12), max_size=3, unique=True).map(lambda later: [0, *sorted(later)])
    one = st.tuples(st.sampled_from(salts), ages)
    return starts.flatmap(
        lambda known: st.lists(one, min_size=len(known), max_size=len(known)).map(
            lambda terms: tuple(Region(at, *each) for at, each in zip(known, terms, strict=True))
        )
    )


def owners(regions: Sequence[Region], end: int) -> tuple[tuple[int, str], ...]:
    """Whose state the tokens up to `end` make: all salts that begin before, and where."""
    return tuple((one.start, one.salt) for one in regions if one.start < end)


Served = tuple[list[bytes], tuple[Region, ...]]
inputs = st.tuples(st.lists(st.sampled_from(TOKENS[:2]), max_size=12), drawn_regions())


@given(st.lists(inputs, max_size=20), st.integers(1, 4))
def test_blocks_are_shared_by_those_with_the_same_tokens_and_salts_before_their_end(
    served: list[Served], size: int
) -> None:
    cache, known = PrefixCache(size, 1000), set()
    for tokens, regions in served:
        whole = range(size, len(tokens) + 1, size)
        prefixes = [(tuple(tokens[:end]), owners(regions, end)) for end in whole]
        readable = [prefix in known for prefix in prefixes[: max(len(tokens) - 1, 0) // size]]
        assert cache.serve(tokens, regions) == size * [*readable, False].index(False)
        known.update(prefixes)


AGES = st.none() | st.integers(0, 3)
timed = st.tuples(
    st.integers(0, 2), st.lists(st.sampled_from(TOKENS[:2]), max_size=8), drawn_regions("x", AGES)
)


@given(st.lists(timed, max_size=20), st.integers(1, 3))
def test_nothing_is_read_past_a_bound_of_its_writer_or_its_reader(
    served: list[tuple[int, list[bytes], tuple[Region, ...]]], size: int
) -> None:
    """`written` has the instants at which each prefix was computed, and the bounds it was under."""
    clock = Clock()
    cache = PrefixCache(size, 1000, clock)
    written: dict[object, list[tuple[float, float]]] = {}
    for later, tokens, regions in served:
        clock.now += later / 1000
        reused = cache.serve(tokens, regions)
        ends = [after.start for after in regions[1:]] + [len(tokens)]
        for end in range(size, len(tokens) + 1, size):
            prefix = (tuple(tokens[:end]), owners(regions, end))
            bounds = [
                one.max_age_ms / 1000
                for one, until in zip(regions, ends, strict=True)
                if one.max_age_ms is not None and one.start < end and until > end - size
            ]
            bound = min(bounds, default=float("inf"))
            if end <= reused:
                assert any(
                    clock.now < at + age and clock.now < at + bound for at, age in written.get(prefix, [])
                )
            else:
                written.setdefault(prefix, []).append((clock.now, bound))


def test_what_was_computed_from_a_block_that_expires_expires_with_it() -> None:
    clock = Clock()
    cache = PrefixCache(1, 10, clock)
    bounded = (Region(0, "x", 1000), Region(1, "y"))
    cache.serve([b"a", b"b", b"c"], bounded)
    clock.now = 0.9
    assert cache.serve([b"a", b"b", b"c", b"d"], bounded) == 3
    clock.now = 1.0
    assert cache.serve([b"a", b"b", b"c", b"d"], bounded) == 0


def test_one_region_is_a_salt() -> None:
    cache = PrefixCache(1, 10)
    cache.serve([b"a", b"b"], Regions((Region(0, "x"),), ()).in_effect([b"a", b"b"], "narrow"))
    assert cache.serve([b"a", b"b"], (Region(0, "x"),)) == 1


@given(st.lists(st.sampled_from(TOKENS), max_size=12), drawn_regions(ages=AGES), st.integers(0, 3), st.data())
def test_carrier_and_boundaries_are_those_of_the_plugin(
    tokens: list[bytes], regions: tuple[Region, ...], wrong: int, data: st.DataObject
) -> None:
    numbers = [token_number(token) for token in tokens]
    digests = [token_digest(numbers[: one.start]).hex() for one in regions[1:]]
    if wrong < len(digests):
        digests[wrong] = hashlib.sha256(b"other").hexdigest()
    ages: list[JsonValue] = [-1 if one.max_age_ms is None else one.max_age_ms for one in regions]
    carried: dict[str, JsonValue] = {
        "salt_regions": [part for one in regions for part in (one.start, one.salt)],
        "salt_region_digests": [*digests],
    }
    if data.draw(st.booleans()) or any(age != -1 for age in ages):
        carried["salt_region_max_age_ms"] = ages
    read = read_regions(carried)
    assert read is not None
    plan, _ = bound_plan(parse_regions(carried), numbers, "narrow")
    assert [(one.start, one.salt, one.max_age_ms) for one in read.in_effect(tokens, "narrow")] == [
        (one.start, one.salt, one.max_age_ms) for one in plan.regions
    ]


DIGEST = "0" * 64


@pytest.mark.parametrize(
    "carried",
    [
        {"salt_regions": []},
        {"salt_regions": "x"},
        {"salt_regions": [0]},
        {"salt_regions": [1, "x"]},
        {"salt_regions": [True, "x"]},
        {"salt_regions": [0.0, "x"]},
        {"salt_regions": [0, ""]},
        {"salt_regions": [0, "x" * 129]},
        {"salt_regions": [0, 7]},
        {"salt_regions": [0, "x", 0, "y"], "salt_region_digests": [DIGEST]},
        {"salt_regions": [0, "x", 16, "y"]},
        {"salt_regions": [0, "x", 16, "y"], "salt_region_digests": [DIGEST[1:]]},
        {"salt_regions": [0, "x", 16, "y"], "salt_region_digests": [7]},
        {"salt_regions": [0, "x"], "salt_region_digests": [DIGEST]},
        {"salt_regions": [0, "x"], "salt_region_max_age_ms": [1, 2]},
        {"salt_regions": [0, "x"], "salt_region_max_age_ms": [-2]},
        {"salt_regions": [0, "x"], "salt_region_max_age_ms": [2**53 + 1]},
        {"salt_regions": [part for at in range(65) for part in (at, "x")]},
        {"salt_region_max_age_ms": [1]},
    ],
)
def test_what_the_plugin_refuses_is_refused(carried: dict[str, Any]) -> None:
    with pytest.raises(BadRegionsError):
        parse_regions(carried)
    with pytest.raises(RegionsError):
        read_regions(carried)


@given(st.text(st.characters()))
def test_a_token_is_known_by_its_number(content: str) -> None:
    tokens = tokenize(content)
    assert [numbered_token(token_number(token)) for token in tokens] == tokens
    assert len({token_number(token) for token in tokens}) == len(set(tokens))


@pytest.fixture(scope="module")
def regional() -> Iterator[Engine]:
    with running_engine(Settings(regions=True)) as url, Engine(url) as engine:
        yield engine


def told(engine: Engine, path: str, sent: Json) -> Any:
    return json.loads(send(engine.url, sent, path=path).body)


def numbers_of(engine: Engine, sent: Json) -> list[int]:
    numbers: list[int] = told(engine, "/v1/chat/completions/render", sent)["token_ids"]
    return numbers


def in_regions(engine: Engine, public: str, private: str, salt: str, **wrong: Any) -> Json:
    """A request whose public part is shared by all that know its salt, and the rest under `salt`."""
    two = [{"role": "system", "content": public}, {"role": "user", "content": private}]
    pairs = zip(
        *(numbers_of(engine, {"messages": [two[0], other]}) for other in (two[1], two[0])), strict=False
    )
    boundary = next(at for at, (one, other) in enumerate(pairs) if one != other) // 16 * 16
    digest = token_digest(numbers_of(engine, {"messages": two})[:boundary]).hex()
    regions = {
        "salt_regions": [0, "everybody's", boundary, salt],
        "salt_region_digests": [digest],
    }
    return {"model": "instrumented", "messages": two, "cache_salt": salt, "vllm_xargs": regions | wrong}


def test_what_stands_before_a_boundary_is_shared_and_nothing_behind_it(regional: Engine) -> None:
    public, private = text(), text()
    one, other = (in_regions(regional, public, private, nonce()) for _ in range(2))
    boundary = one["vllm_xargs"]["salt_regions"][2]
    cached = [ask(regional.url, sent).cached_tokens for sent in (one, other, one)]
    assert cached[:2] == [0, boundary]
    assert (cached[2] or 0) > boundary


def test_the_record_tells_which_regions_came_and_which_held(regional: Engine) -> None:
    own, salt = nonce(), nonce()
    right = in_regions(regional, text(own), text(own), salt, salt_region_max_age_ms=[-1, 5000])
    boundary = right["vllm_xargs"]["salt_regions"][2]
    wrong = right | {"vllm_xargs": right["vllm_xargs"] | {"salt_region_digests": [DIGEST]}}
    before = regional.about().latest
    for sent in (right, wrong):
        ask(regional.url, sent)
    held, fell_back = regional.entries(before)
    came = (Region(0, "everybody's"), Region(boundary, salt, 5000))
    assert held.regions == held.in_effect == fell_back.regions == came
    assert fell_back.in_effect == (Region(0, salt, 5000),)
    assert held.partitions == ((0, "everybody's"), (boundary, salt))
    assert fell_back.partitions == ((0, salt),)
    assert held.salts == (salt, "everybody's", salt)


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"vllm_xargs": {"salt_regions": [0, "x"]}}, "cache_salt"),
        ({"cache_salt": "x", "vllm_xargs": {"salt_regions": [0]}}, "vllm_xargs"),
    ],
)
def test_regions_that_cannot_be_read_are_refused(regional: Engine, members: Json, param: str) -> None:
    response = send(regional.url, body("hello", **members))
    assert (response.status, json.loads(response.body)["error"]["param"]) == (400, param)


def test_an_engine_without_regions_has_never_heard_of_them(engine: Engine) -> None:
    own = nonce()
    assert ask(engine.url, body(own, cache_salt="x", vllm_xargs={"salt_regions": [0]})).ok
    (entry,) = recorded(engine, own)
    assert (entry.regions, entry.partitions) == ((), ((0, "x"),))
    for path in (
        "/cache_regions",
        "/v1/completions",
        "/v1/chat/completions/render",
        "/tokenize",
        "/detokenize",
    ):
        assert send(engine.url, {}, path=path).status == 404


def test_tokens_go_there_and_back(regional: Engine) -> None:
    content = "naïve 😀 tokens"
    numbers = told(regional, "/tokenize", {"prompt": content})["tokens"]
    assert told(regional, "/detokenize", {"tokens": numbers})["prompt"] == content
    chat = body(content)
    assert told(regional, "/tokenize", chat)["tokens"] == numbers_of(regional, chat)
    completion = {"prompt": numbers * 20, "cache_salt": nonce()}
    counts = [told(regional, "/v1/completions", completion)["usage"] for _ in range(2)]
    assert [count["prompt_tokens_details"]["cached_tokens"] for count in counts] == [0, 96]


@pytest.mark.parametrize("tokens", [[], [-1], [2**32], [True], ["x"], 7, None])
def test_numbers_that_are_no_tokens_are_refused(regional: Engine, tokens: Any) -> None:
    for path, name in (("/detokenize", "tokens"), ("/v1/completions", "prompt")):
        assert send(regional.url, {name: tokens}, path=path).status == 400
