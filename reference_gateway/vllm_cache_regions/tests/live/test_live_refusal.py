"""A server whose vLLM the plugin doesn't know does not start."""

import os
import subprocess
import sys

START = """
import runpy
import vllm.v1.core.block_pool as block_pool
block_pool.BlockPool.get_cached_block = lambda self, surprise: None
runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__")
"""


def test_a_server_with_other_internals_does_not_start() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", START, "--model", os.environ["REGIONS_MODEL"], "--load-format", "dummy"],
        env=os.environ
        | {"VLLM_PLUGINS": "vllm_cache_regions", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode != 0
    said = ended.stdout + ended.stderr
    assert "UnsupportedVllmError: vllm_cache_regions" in said
    assert "BlockPool.get_cached_block takes (self, surprise)" in said
