"""The plugin's check of itself, on vLLM's own classes, before the server starts.

It is short on purpose: what would be fatal if it were wrong in this very process, of this very version.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from vllm_cache_regions.carrier import Carried, Region, spell_regions
from vllm_cache_regions.engine_state import STATE
from vllm_cache_regions.plan import token_digest
from vllm_cache_regions.reuse import ages_of
from vllm_cache_regions.sites import UnsupportedVllmError

_BLOCK = 16
_TOKENS = list(range(100, 100 + 4 * _BLOCK))


def rehearse(stock: Callable[..., Any]) -> None:
    """Check hashes and ages as patched. Raises UnsupportedVllmError, or whatever vLLM raises."""
    with STATE.rehearsed(), _hash_of_nothing():
        _check_parity(stock)
        _check_isolation()
        _check_ages()


def _expect(as_expected: bool, what: str) -> None:  # noqa: FBT001 - reads as a sentence
    if not as_expected:
        raise UnsupportedVllmError(what)


def _check_parity(stock: Callable[..., Any]) -> None:
    plain = make_request(_TOKENS, "narrow")
    for start in range(0, len(_TOKENS), _BLOCK):
        keys, _ = stock(plain, start, start + _BLOCK, 0)
        salted = keys is not None and "narrow" in repr(keys)
        _expect(
            salted == (start == 0), f"the salt should be in the keys of the first block only; {start}: {keys}"
        )
    one_region = make_request(_TOKENS, "other", Carried((Region(0, "narrow"),), ()))
    _expect(_hashes(one_region) == _hashes(plain), "one region hashes otherwise than the same salt alone")
    _expect(one_region.cache_salt == "other", "the salt of a request was not left as it was")
    _expect(
        _hashes(make_request(_TOKENS, "else")) != _hashes(plain), "the salt makes no difference to the hash"
    )


def _check_isolation() -> None:
    for boundary in range(1, 2 * _BLOCK + 2):
        digest = (token_digest(_TOKENS[:boundary]),)
        one, two = (
            _hashes(make_request(_TOKENS, salt, Carried((Region(0, "wide"), Region(boundary, salt)), digest)))
            for salt in ("one", "two")
        )
        shared = boundary // _BLOCK
        _expect(one[:shared] == two[:shared], f"blocks before a boundary at {boundary} are not shared")
        _expect(
            not set(one[shared:]) & set(two[shared:]), f"a block from a boundary at {boundary} on is shared"
        )
    drifted = Carried((Region(0, "wide"), Region(_BLOCK, "one")), (token_digest(_TOKENS),))
    flat = _hashes(make_request(_TOKENS, "one"))
    _expect(
        _hashes(make_request(_TOKENS, "one", drifted)) == flat, "a digest that doesn't match changes nothing"
    )


def _check_ages() -> None:
    from vllm.v1.core.block_pool import BlockPool  # noqa: PLC0415 - the engine's

    pool = BlockPool(num_gpu_blocks=8, enable_caching=True, hash_block_size=_BLOCK)
    now = 1000.0
    ages_of(pool).clock = lambda: now
    request = make_request(_TOKENS, "narrow", Carried((Region(0, "narrow", 5000),), ()))

    def write() -> Any:
        (block,) = pool.get_new_blocks(1)
        pool.cache_full_blocks(request, [block], 0, 1, _BLOCK, 0)
        return block

    def read() -> Any:
        return pool.get_cached_block(request.block_hashes[0], [0])

    first = write()
    now = 1004.9
    _expect(read() == [first], "a block is refused before its time")
    now = 1005.0
    _expect(read() is None, "a block is read after its time")
    second = write()
    _expect(read() == [second], "a block that was computed again is not found beside the old one")


def make_request(tokens: list[int], salt: str, carried: Carried | None = None) -> Any:
    """Make a `Request` of vLLM's whose blocks are hashed as the engine does it."""
    from vllm import SamplingParams  # noqa: PLC0415 - the engine's
    from vllm.utils.hashing import sha256  # noqa: PLC0415
    from vllm.v1.core.kv_cache_utils import get_request_block_hasher  # noqa: PLC0415
    from vllm.v1.request import Request  # noqa: PLC0415

    return Request(
        request_id="rehearsal",
        prompt_token_ids=tokens,
        sampling_params=SamplingParams(max_tokens=1, extra_args=spell_regions(carried) if carried else None),
        pooling_params=None,
        cache_salt=salt,
        block_hasher=get_request_block_hasher(_BLOCK, sha256),
    )


def _hashes(request: Any) -> list[bytes]:
    return list(request.block_hashes)


@contextmanager
def _hash_of_nothing() -> Iterator[None]:
    """Give vLLM the hash before the first block, which it draws only when an engine starts."""
    from vllm.v1.core import kv_cache_utils  # noqa: PLC0415 - the engine's

    if hasattr(kv_cache_utils, "NONE_HASH"):
        yield
        return
    kv_cache_utils.NONE_HASH = kv_cache_utils.BlockHash(b"rehearsal")
    try:
        yield
    finally:
        del kv_cache_utils.NONE_HASH
