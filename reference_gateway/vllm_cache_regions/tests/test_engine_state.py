"""What tells one start of an engine core from another."""

from types import SimpleNamespace

import pytest

from vllm_cache_regions.engine_core import observing_start
from vllm_cache_regions.engine_state import STATE, EngineState


def test_each_start_of_a_core_has_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("instance", "block_size", "doubts"):
        monkeypatch.setattr(STATE, name, getattr(STATE, name))  # as it was, when the test ends
    seen = {STATE.instance, EngineState().instance}
    for _ in range(2):
        observing_start(lambda _: None)(scheduler())
        seen.add(STATE.instance)
    assert len(seen) == 4


def scheduler() -> SimpleNamespace:
    pool = SimpleNamespace(hash_block_size=16)
    return SimpleNamespace(
        connector=None,
        kv_cache_manager=SimpleNamespace(
            enable_caching=False, block_pool=pool, kv_cache_config=SimpleNamespace(kv_cache_groups=[])
        ),
        vllm_config=SimpleNamespace(
            kv_transfer_config=None,
            speculative_config=None,
            parallel_config=SimpleNamespace(data_parallel_size=1),
        ),
    )
