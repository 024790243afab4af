"""Maximum ages where vLLM takes blocks into use, writes them, moves them and looks them up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from vllm_cache_regions.ages import BlockAges
from vllm_cache_regions.engine_state import STATE
from vllm_cache_regions.plan import Plan, tightest
from vllm_cache_regions.request_plan import plan_of

Method = Callable[..., Any]

_AGES: Final = "_cache_regions_ages"
_READER: Final = "_cache_regions_reader"


@dataclass(frozen=True, slots=True)
class Reader:
    """The bounds of the request for which blocks are looked up, by the hash of the block, in seconds."""

    max_ages: Mapping[bytes, float | None]
    otherwise: float | None

    def max_age(self, block_hash: bytes) -> float | None:
        """Give the reader's bound for a block."""
        return self.max_ages.get(block_hash, self.otherwise)


NO_BOUND: Final = Reader({}, None)


def ages_of(pool: Any) -> BlockAges:
    """Give the ages of a vLLM `BlockPool`."""
    known: dict[str, Any] = pool.__dict__
    if _AGES not in known:
        known[_AGES] = BlockAges()
    ages: BlockAges = known[_AGES]
    return ages


def taking_note(stock: Method) -> Method:
    """Wrap `BlockPool.get_new_blocks`."""

    def get_new_blocks(self: Any, num_blocks: int) -> Any:
        blocks = stock(self, num_blocks)
        ages_of(self).taken(block.block_id for block in blocks)
        return blocks

    return get_new_blocks


def writing_bounds(stock: Method) -> Method:
    """Wrap `BlockPool.cache_full_blocks`."""

    def cache_full_blocks(  # noqa: PLR0917 - vLLM's
        self: Any,
        request: Any,
        blocks: Any,
        num_cached_blocks: int,
        num_full_blocks: int,
        block_size: int,
        kv_cache_group_id: int,
        block_mask: Any = None,
    ) -> Any:
        plan, ages = plan_of(request), ages_of(self)
        if plan is not None or ages.any_expire:
            for place in range(num_cached_blocks, num_full_blocks):
                before = blocks[place - 1].block_id if place else None
                start = place * block_size
                max_age = plan.max_age(start, start + block_size) if plan is not None else None
                ages.written(blocks[place].block_id, before, max_age)
        return stock(
            self,
            request=request,
            blocks=blocks,
            num_cached_blocks=num_cached_blocks,
            num_full_blocks=num_full_blocks,
            block_size=block_size,
            kv_cache_group_id=kv_cache_group_id,
            block_mask=block_mask,
        )

    return cache_full_blocks


def moving_ages(stock: Method) -> Method:
    """Wrap `BlockPool.move_block_hashes`."""

    def move_block_hashes(self: Any, src_block: Any, dst_block: Any) -> Any:
        ages_of(self).moved(src_block.block_id, dst_block.block_id)
        return stock(self, src_block, dst_block)

    return move_block_hashes


def as_reader(stock: Method) -> Method:
    """Wrap a method of `KVCacheManager` that looks up the blocks of a request."""

    def get_computed_blocks(self: Any, request: Any) -> Any:
        pool = self.block_pool
        plan = plan_of(request)
        if plan is None or not plan.bounded:
            return stock(self, request)
        before = pool.__dict__.get(_READER, NO_BOUND)
        pool.__dict__[_READER] = _reader(plan, request, pool.hash_block_size)
        try:
            return stock(self, request)
        finally:
            pool.__dict__[_READER] = before

    return get_computed_blocks


def refusing_old(stock: Method, key_of: Callable[[bytes, int], bytes]) -> Method:
    """Wrap `BlockPool.get_cached_block`. `key_of` gives the key of a hash in a group."""

    def get_cached_block(self: Any, block_hash: bytes, kv_cache_group_ids: list[int]) -> list[Any] | None:
        found: list[Any] | None = stock(self, block_hash, kv_cache_group_ids)
        if found is None:
            return None
        ages, max_age = ages_of(self), self.__dict__.get(_READER, NO_BOUND).max_age(block_hash)
        if max_age is None and not ages.any_expire:
            return found
        fresh = [
            _fresh(self, ages, max_age, block, key_of(block_hash, group))
            for block, group in zip(found, kv_cache_group_ids, strict=True)
        ]
        if None in fresh:
            STATE.counters.refused_for_age()
            return None
        return fresh

    return get_cached_block


def _fresh(pool: Any, ages: BlockAges, max_age: float | None, block: Any, key: bytes) -> Any:
    """Give a block of this content that may be read: what was computed again stands beside the old one."""
    if ages.may_be_read(block.block_id, max_age):
        return block
    same = pool.cached_block_hash_to_block._cache.get(key)
    for other in same.values() if isinstance(same, dict) else ():
        if ages.may_be_read(other.block_id, max_age):
            return other
    return None


def _reader(plan: Plan, request: Any, size: int) -> Reader:
    """Give the bounds of a request: kept with it, for the scheduler asks in every step until it can run."""
    hashes, known = request.block_hashes, request.__dict__
    kept: Reader | None = known.get(_READER)
    if kept is None or len(kept.max_ages) != len(hashes):
        max_ages = {
            block_hash: plan.max_age(place * size, (place + 1) * size)
            for place, block_hash in enumerate(hashes)
        }
        kept = known[_READER] = Reader(max_ages, tightest(plan.regions))
    return kept
