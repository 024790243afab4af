"""Regions in vLLM's own classes, without a server. Needs the interpreter of a vLLM."""

import secrets
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("vllm")

from vllm import SamplingParams
from vllm.utils.hashing import sha256, sha256_cbor
from vllm.v1.core import kv_cache_utils
from vllm.v1.core.block_pool import BlockPool
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.request import Request

from vllm_cache_regions import installation, sites
from vllm_cache_regions.carrier import DIGESTS, MAX_AGES, REGIONS, Carried, Region, spell_regions
from vllm_cache_regions.engine_state import STATE
from vllm_cache_regions.plan import token_digest
from vllm_cache_regions.request_plan import plan_of
from vllm_cache_regions.reuse import ages_of

HOLDERS = {site: site.find()[0] for site in vars(sites).values() if isinstance(site, sites.Site)}

BLOCK = 32
PROMPT = list(range(2000, 2000 + 5 * BLOCK))


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    init_none_hash(sha256)
    installation.install()
    with STATE.rehearsed():
        yield
    installation.uninstall()


def request(
    salt: str | None,
    *regions: Region,
    tokens: list[int] | None = None,
    extra_args: dict[str, Any] | None = None,
    hash_function: Any = sha256,
    **more: Any,
) -> Request:
    tokens = PROMPT if tokens is None else tokens
    if regions:
        digests = tuple(token_digest(tokens[: region.start]) for region in regions[1:])
        extra_args = spell_regions(Carried(regions, digests))
    return Request(
        request_id=secrets.token_hex(4),
        prompt_token_ids=tokens,
        sampling_params=SamplingParams(max_tokens=100, extra_args=extra_args),
        pooling_params=None,
        cache_salt=salt,
        block_hasher=get_request_block_hasher(BLOCK, hash_function),
        **more,
    )


def shared_blocks(one: Request, other: Request) -> int:
    """Leading blocks of equal hash; asserts that no later one is equal."""
    pairs = list(zip(one.block_hashes, other.block_hashes, strict=False))
    equal = [a == b for a, b in pairs]
    leading = equal.index(False) if False in equal else len(equal)
    assert not any(equal[leading:])
    assert not set(one.block_hashes[leading:]) & set(other.block_hashes[leading:])
    return leading


def fallen_back() -> dict[str, int]:
    counted = STATE.counters.snapshot()["regions_fallen_back"]
    assert isinstance(counted, dict)
    return {why: count for why, count in counted.items() if count}


@pytest.mark.parametrize("hash_function", [sha256, sha256_cbor])
def test_without_regions_and_with_one_hashes_are_those_of_vllm(hash_function: Any) -> None:
    one_region = request("flat", Region(0, "first"), hash_function=hash_function)
    without = request("flat", hash_function=hash_function)
    unsalted = request(None, hash_function=hash_function)
    installation.uninstall()
    assert request("first", hash_function=hash_function).block_hashes == one_region.block_hashes
    assert request("flat", hash_function=hash_function).block_hashes == without.block_hashes
    assert request(None, hash_function=hash_function).block_hashes == unsalted.block_hashes


@pytest.mark.parametrize("boundary", range(1, 3 * BLOCK + 1))
def test_exactly_the_whole_blocks_before_a_boundary_are_shared(boundary: int) -> None:
    one = request("one", Region(0, "pub"), Region(boundary, "one"))
    two = request("two", Region(0, "pub"), Region(boundary, "two"))
    assert shared_blocks(one, two) == boundary // BLOCK
    assert one.cache_salt == "one"


def test_the_same_salts_at_another_offset_in_the_block_share_nothing_of_it() -> None:
    hashes = {
        request("own", Region(0, "pub"), Region(offset, "own")).block_hashes[1]
        for offset in range(BLOCK, 2 * BLOCK)
    }
    assert len(hashes) == BLOCK


def test_three_regions_two_of_which_begin_in_one_block() -> None:
    def three(org: str, own: str) -> Request:
        return request(own, Region(0, "pub"), Region(40, org), Region(50, own))

    assert shared_blocks(three("org", "a"), three("org", "b")) == 1
    assert shared_blocks(three("org", "a"), three("org2", "a")) == 1
    assert shared_blocks(three("org", "a"), three("org", "a")) == 5


def test_public_text_after_private_text_stays_private() -> None:
    one = request("a", Region(0, "a"), Region(BLOCK, "pub"))
    two = request("b", Region(0, "b"), Region(BLOCK, "pub"))
    assert shared_blocks(one, two) == 0


def test_what_is_generated_is_in_the_last_region() -> None:
    one = request("a", Region(0, "pub"), Region(len(PROMPT), "a"))
    two = request("b", Region(0, "pub"), Region(len(PROMPT), "b"))
    for each in (one, two):
        each.append_output_token_ids(list(range(3 * BLOCK)))
    assert len(one.block_hashes) == 8
    assert shared_blocks(one, two) == 5


def test_other_tokens_than_digested_are_flat() -> None:
    args = spell_regions(Carried((Region(0, "pub"), Region(64, "a")), (token_digest([1, 2, 3]),)))
    assert request("flat", extra_args=args).block_hashes == request("flat").block_hashes
    assert fallen_back() == {"digest_mismatch": 1}


def test_boundaries_that_match_are_kept_before_one_that_does_not() -> None:
    regions = (Region(0, "pub"), Region(64, "org"), Region(96, "a"))
    args = spell_regions(Carried(regions, (token_digest(PROMPT[:64]), bytes(32))))
    kept = request("flat", extra_args=args)
    assert shared_blocks(kept, request("x", Region(0, "pub"), Region(64, "x"))) == 2
    assert kept.block_hashes == request("flat", Region(0, "pub"), Region(64, "flat")).block_hashes


@pytest.mark.parametrize(
    "args",
    [
        {REGIONS: [0, "pub", 64, "a"]},
        {REGIONS: "nonsense"},
        {REGIONS: None},
        {REGIONS: [0, None]},
        {DIGESTS: ["00"]},
        {REGIONS: [0, "pub"], MAX_AGES: ["soon"]},
    ],
)
def test_the_core_never_raises_for_regions_that_it_cannot_read(args: dict[str, Any]) -> None:
    assert request("flat", extra_args=args).block_hashes == request("flat").block_hashes
    assert fallen_back() == {"malformed": 1}


def test_regions_without_a_cache_salt_have_a_random_one() -> None:
    one, two = (request(None, Region(0, "pub"), Region(64, "a")) for _ in range(2))
    assert shared_blocks(one, two) == 0
    assert shared_blocks(one, request(None)) == 0
    assert fallen_back() == {"no_cache_salt": 2}


def test_an_error_in_the_middle_is_flat_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise OverflowError

    monkeypatch.setattr("vllm_cache_regions.request_plan.bound_plan", fails)
    assert request("flat", Region(0, "pub"), Region(64, "a")).block_hashes == request("flat").block_hashes
    assert fallen_back() == {"internal_error": 1}


def test_tokens_that_are_no_tokens_are_flat() -> None:
    odd = [-1, *PROMPT[1:]]
    args = spell_regions(Carried((Region(0, "pub"), Region(64, "a")), (bytes(32),)))
    assert (
        request("flat", tokens=odd, extra_args=args).block_hashes == request("flat", tokens=odd).block_hashes
    )


def test_nothing_is_in_force_where_the_engine_is_in_doubt() -> None:
    STATE.doubts = ("for a test",)
    assert request("flat", Region(0, "pub"), Region(64, "a")).block_hashes == request("flat").block_hashes
    assert fallen_back() == {"unproven_engine": 1}


class Cache:
    """A pool of blocks at a time that the test sets, written and read as the engine does it."""

    def __init__(self, blocks: int = 64) -> None:
        self.pool = BlockPool(num_gpu_blocks=blocks, enable_caching=True, hash_block_size=BLOCK)
        self.now = 1000.0
        ages_of(self.pool).clock = lambda: self.now
        self.coordinator = self
        self.block_pool = self.pool

    def write(self, wanted: Request, found: list[Any] | None = None) -> list[Any]:
        blocks = list(found or [])
        cached = len(blocks)
        blocks += self.pool.get_new_blocks(len(wanted.block_hashes) - cached)
        self.pool.cache_full_blocks(wanted, blocks, cached, len(blocks), BLOCK, 0)
        return blocks

    def read(self, wanted: Request) -> list[Any]:
        """Look up as `KVCacheManager.get_computed_blocks` does."""
        from vllm_cache_regions.reuse import as_reader

        def longest(_: Any, each: Request) -> list[Any]:
            found = []
            for block_hash in each.block_hashes:
                blocks = self.pool.get_cached_block(block_hash, [0])
                if blocks is None:
                    break
                found += blocks
            return found

        blocks: list[Any] = as_reader(longest)(self, wanted)
        return blocks


def test_a_bound_holds_from_its_moment_on_for_its_region_only() -> None:
    cache = Cache()
    regions = (Region(0, "pub"), Region(2 * BLOCK, "a", 5000))
    cache.write(request("a", *regions))
    cache.now += 4.999
    assert len(cache.read(request("a", *regions))) == 5
    cache.now += 0.001
    assert len(cache.read(request("a", *regions))) == 2
    assert STATE.counters.snapshot()["blocks_refused_for_age"] == 1


def test_the_writers_bound_holds_for_readers_without_one() -> None:
    cache = Cache()
    cache.write(request("a", Region(0, "a", 5000)))
    assert len(cache.read(request("a"))) == 5
    cache.now += 5
    assert cache.read(request("a")) == []


def test_the_readers_bound_holds_for_blocks_without_one() -> None:
    cache = Cache()
    cache.write(request("a"))
    cache.now += 5
    assert cache.read(request("a", Region(0, "a", 5000))) == []
    assert len(cache.read(request("a", Region(0, "a", 5001)))) == 5


def test_a_block_across_a_boundary_has_the_tighter_bound() -> None:
    cache = Cache()
    regions = (Region(0, "pub", 9000), Region(BLOCK + 1, "a", 5000))
    cache.write(request("a", *regions))
    cache.now += 5
    assert len(cache.read(request("a", *regions))) == 1


def test_what_is_computed_again_is_found_beside_the_old_and_starts_anew() -> None:
    cache = Cache()
    regions = (Region(0, "pub"), Region(2 * BLOCK, "a", 5000))
    cache.write(request("a", *regions))
    cache.now += 5
    cache.write(request("a", *regions), cache.read(request("a", *regions)))
    cache.now += 4.999
    assert len(cache.read(request("a", *regions))) == 5
    cache.now += 0.001
    assert len(cache.read(request("a", *regions))) == 2


def test_what_was_computed_from_state_with_a_bound_ends_with_it() -> None:
    cache = Cache()
    short, longer = PROMPT[: 2 * BLOCK], PROMPT
    cache.write(request("a", Region(0, "a", 5000), tokens=short))
    cache.now += 4
    found = cache.read(request("a", tokens=longer))
    assert len(found) == 2
    cache.write(request("a", tokens=longer), found)
    cache.now += 1
    # The first blocks again, now without a bound: the later ones were computed from the old.
    cache.write(request("a", tokens=short))
    assert len(cache.read(request("a", tokens=longer))) == 2


def test_a_bound_of_0_permits_no_reuse() -> None:
    cache = Cache()
    cache.write(request("a", Region(0, "pub"), Region(2 * BLOCK, "a", 0)))
    assert len(cache.read(request("a", Region(0, "pub"), Region(2 * BLOCK, "a")))) == 2


def test_fallen_back_requests_keep_the_tightest_bound() -> None:
    cache = Cache()
    regions = (Region(0, "pub", 9000), Region(64, "a", 5000))
    flat = request("flat", extra_args=spell_regions(Carried(regions, (bytes(32),))))
    cache.write(flat)
    cache.now += 5
    assert cache.read(request("flat")) == []


def test_the_pool_knows_regions_by_the_patched_name() -> None:
    from vllm.v1.core import block_pool

    assert block_pool.generate_block_hash_extra_keys is kv_cache_utils.generate_block_hash_extra_keys


def stock_functions() -> list[Any]:
    return [vars(holder)[site.name] for site, holder in HOLDERS.items()]


@pytest.mark.parametrize("site", HOLDERS, ids=str)
def test_a_vllm_with_other_internals_is_refused_by_name_and_left_alone(
    site: sites.Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.uninstall()
    holder, _ = site.find()
    monkeypatch.setattr(holder, site.name, lambda surprise: surprise)
    before = [vars(kv_cache_utils).copy(), vars(BlockPool).copy()]
    with pytest.raises(sites.UnsupportedVllmError) as refused:
        installation.install()
    assert str(site) in str(refused.value)
    assert "vLLM 0." in str(refused.value)
    assert [vars(kv_cache_utils).copy(), vars(BlockPool).copy()] == before


def test_a_vllm_that_hashes_otherwise_is_refused_and_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    installation.uninstall()

    def generate_block_hash_extra_keys(
        request: Any, start_token_idx: int, end_token_idx: int, start_mm_idx: int
    ) -> tuple[None, int]:
        return None, start_mm_idx

    monkeypatch.setattr(kv_cache_utils, "generate_block_hash_extra_keys", generate_block_hash_extra_keys)
    with pytest.raises(
        sites.UnsupportedVllmError, match="the salt should be in the keys of the first block only"
    ):
        installation.install()
    assert kv_cache_utils.generate_block_hash_extra_keys is generate_block_hash_extra_keys


def test_installing_twice_patches_once() -> None:
    before = stock_functions()
    installation.install()
    assert stock_functions() == before


def test_uninstalling_leaves_vllm_as_it_was() -> None:
    patched = stock_functions()
    installation.uninstall()
    stock = stock_functions()
    assert stock != patched
    installation.install()
    installation.uninstall()
    assert stock_functions() == stock


def test_a_plan_is_made_once() -> None:
    one = request("a", Region(0, "pub"), Region(64, "a"))
    assert plan_of(one) is plan_of(one)
    assert STATE.counters.snapshot()["regions_applied"] == 1
