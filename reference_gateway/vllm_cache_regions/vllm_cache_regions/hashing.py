"""Regions in the hashes of blocks.

vLLM hashes a block together with the hash of the block before it and with extra keys, among them the salt of
the request in its first block. Here the first block has the salt of the first region, in the very form that
vLLM gives it, so that one region hashes as a plain `cache_salt` does; and each further region has a key in
the block in which it begins.
"""

from collections.abc import Callable
from typing import Any

from vllm_cache_regions.plan import Plan
from vllm_cache_regions.request_plan import plan_of

ExtraKeys = tuple[tuple[Any, ...] | None, int]
Generate = Callable[[Any, int, int, int], ExtraKeys]


def with_regions(stock: Generate) -> Generate:
    """Wrap vLLM's `generate_block_hash_extra_keys`."""

    def generate_block_hash_extra_keys(
        request: Any, start_token_idx: int, end_token_idx: int, start_mm_idx: int
    ) -> ExtraKeys:
        plan = plan_of(request)
        if plan is None:
            return stock(request, start_token_idx, end_token_idx, start_mm_idx)
        if start_token_idx == 0:
            keys, next_mm_idx = _first_block(stock, plan, request, end_token_idx, start_mm_idx)
        else:
            keys, next_mm_idx = stock(request, start_token_idx, end_token_idx, start_mm_idx)
        inner = plan.inner_keys(start_token_idx, end_token_idx)
        return ((*(keys or ()), *inner) if inner else keys), next_mm_idx

    return generate_block_hash_extra_keys


def _first_block(stock: Generate, plan: Plan, request: Any, end: int, mm_idx: int) -> ExtraKeys:
    """Let vLLM write the first region's salt. The request keeps its own, which others read too."""
    narrowest = request.cache_salt
    request.cache_salt = plan.first_salt
    try:
        return stock(request, 0, end, mm_idx)
    finally:
        request.cache_salt = narrowest
