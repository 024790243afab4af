"""The engine core: which configurations regions are verified with, and the status that it gives of itself."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from vllm_cache_regions import VERSION
from vllm_cache_regions.engine_state import STATE, new_instance

STATUS_METHOD: Final = "cache_regions_status"

TESTED: Final = ("0.28.0", "0.32.0")
"""Versions of vLLM that the tests have been run on."""


def observing_start(stock: Callable[..., None]) -> Callable[..., None]:
    """Wrap `Scheduler.__init__`. The engine core's own is running already when vLLM loads plugins."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - vLLM's name
        stock(self, *args, **kwargs)
        STATE.block_size = self.kv_cache_manager.block_pool.hash_block_size
        STATE.instance = new_instance()
        STATE.doubts = tuple(_doubts(self.vllm_config, self))

    return __init__


def status(_: Any) -> dict[str, Any]:
    """Answer, as a method of the engine core, what is in force."""
    import vllm  # noqa: PLC0415 - this module is also read where there is none

    return {
        "plugin": "vllm_cache_regions",
        "version": VERSION,
        "vllm": vllm.__version__,
        "instance": STATE.instance,
        "tested": vllm.__version__ in TESTED,
        "active": not STATE.doubts,
        "inactive_because": list(STATE.doubts),
        "block_size": STATE.block_size,
        "counters": STATE.counters.snapshot(),
    }


def _doubts(config: Any, scheduler: Any) -> Iterator[str]:
    """Say under which settings regions have not been verified."""
    manager = scheduler.kv_cache_manager
    if not manager.enable_caching:
        yield "prefix caching is off"
    if config.kv_transfer_config is not None or scheduler.connector is not None:
        yield "a KV connector is configured"
    if config.speculative_config is not None:
        yield "speculative decoding is configured"
    if config.parallel_config.data_parallel_size != 1:
        yield "the engine is one of several (data parallel)"
    groups = manager.kv_cache_config.kv_cache_groups
    kinds = [type(group.kv_cache_spec).__name__ for group in groups]
    if kinds != ["FullAttentionSpec"]:
        yield f"the cache is not one group of full attention: {', '.join(kinds) or 'none'}"
    elif groups[0].kv_cache_spec.block_size != manager.block_pool.hash_block_size:
        yield "blocks are larger than what is hashed of them at a time"
