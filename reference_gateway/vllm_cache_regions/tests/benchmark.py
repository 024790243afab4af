"""What regions and their digests add to the hashing of a prompt of 4,096 tokens, measured in one run.

Run it with the interpreter of a vLLM. It fails if that is a millisecond or more.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable

import vllm
from vllm import SamplingParams
from vllm.utils.hashing import sha256
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
from vllm.v1.request import Request

from vllm_cache_regions.carrier import Carried, Region, spell_regions
from vllm_cache_regions.engine_state import STATE
from vllm_cache_regions.installation import install, uninstall
from vllm_cache_regions.plan import token_digest

TOKENS = [(n * 7919) % 50_000 for n in range(4096)]
REGIONS = (Region(0, "public"), Region(1760, "tenant"), Region(4000, "principal"))
RUNS, ROUNDS = 100, 5
MOST_MS = 1.0


def hashing(block: int, *, regions: bool) -> Callable[[], Request]:
    """Make a request as the engine does, hashes included."""
    digests = tuple(token_digest(TOKENS[: region.start]) for region in REGIONS[1:])
    extra_args = spell_regions(Carried(REGIONS, digests)) if regions else None
    hasher = get_request_block_hasher(block, sha256)
    params = SamplingParams(max_tokens=1, extra_args=extra_args)
    return lambda: Request("benchmark", TOKENS, params, None, cache_salt="principal", block_hasher=hasher)


def milliseconds(work: Callable[[], Request]) -> float:
    """Median of many runs."""
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


def main() -> int:
    """Measure in turn, so that a busy machine hits all alike, and print the lowest median of each."""
    init_none_hash(sha256)
    results = {}
    for block in (16, 32, 128):
        seen: dict[str, list[float]] = {"stock": [], "patched, no regions": [], "patched, three regions": []}
        for _ in range(ROUNDS):
            seen["stock"].append(milliseconds(hashing(block, regions=False)))
            install()
            with STATE.rehearsed():
                seen["patched, no regions"].append(milliseconds(hashing(block, regions=False)))
                seen["patched, three regions"].append(milliseconds(hashing(block, regions=True)))
            uninstall()
        results[f"block {block}"] = {name: round(min(times), 3) for name, times in seen.items()}
    print(json.dumps({"vllm": vllm.__version__, "tokens": len(TOKENS), "milliseconds": results}, indent=2))
    added = [each["patched, three regions"] - each["stock"] for each in results.values()]
    return int(max(added) >= MOST_MS)


if __name__ == "__main__":
    sys.exit(main())
