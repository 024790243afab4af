"""The places in vLLM that are patched, and what is expected of each before any is touched."""

import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any


class UnsupportedVllmError(RuntimeError):
    """A vLLM that is not as the plugin knows it. Nothing has been patched, or everything has been undone."""


@dataclass(frozen=True, slots=True)
class Site:
    """A function of vLLM: its module, the class it belongs to, if any, its name, and its leading parameters.

    With `exactly`, it may have no others.
    """

    module: str
    owner: str | None
    name: str
    parameters: tuple[str, ...]
    exactly: bool = True

    def __str__(self) -> str:
        return ".".join(part for part in (self.module, self.owner, self.name) if part)

    def find(self) -> tuple[Any, Callable[..., Any]]:
        """Give what holds the function, and the function. Raises UnsupportedVllmError."""
        try:
            holder: Any = import_module(self.module)
            holder = getattr(holder, self.owner) if self.owner else holder
            # Not inherited: a patch must not hide a method that a subclass is going to have.
            function: Callable[..., Any] = vars(holder)[self.name]
            parameters = tuple(inspect.signature(function).parameters)
        except (ImportError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnsupportedVllmError(f"{self} isn't there: {error!r}") from None
        given = parameters if self.exactly else parameters[: len(self.parameters)]
        if given != self.parameters:
            raise UnsupportedVllmError(
                f"{self} takes ({', '.join(parameters)}), not ({', '.join(self.parameters)})"
            )
        return holder, function


@dataclass(slots=True)
class Patch:
    """A function put in place of another. `undo` puts back what was there."""

    holder: Any
    name: str
    new: Any
    _old: Any = None

    def apply(self) -> None:
        """Put the new function in."""
        self._old = vars(self.holder).get(self.name)
        setattr(self.holder, self.name, self.new)

    def undo(self) -> None:
        """Put the old one back."""
        if self._old is None:
            delattr(self.holder, self.name)
        else:
            setattr(self.holder, self.name, self._old)


def importers_of(function: Callable[..., Any], name: str) -> Iterator[Any]:
    """Give every module loaded so far that knows a function by a name of its own."""
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get(name) is function:
            yield module


_UTILS = "vllm.v1.core.kv_cache_utils"
_POOL = ("vllm.v1.core.block_pool", "BlockPool")
_MANAGER = ("vllm.v1.core.kv_cache_manager", "KVCacheManager")

EXTRA_KEYS = Site(
    _UTILS,
    None,
    "generate_block_hash_extra_keys",
    ("request", "start_token_idx", "end_token_idx", "start_mm_idx"),
)
KEY_OF = Site(_UTILS, None, "make_block_hash_with_group_id", ("block_hash", "group_id"))
NEW_BLOCKS = Site(*_POOL, "get_new_blocks", ("self", "num_blocks"))
CACHE_FULL_BLOCKS = Site(
    *_POOL,
    "cache_full_blocks",
    (
        *("self", "request", "blocks", "num_cached_blocks", "num_full_blocks", "block_size"),
        *("kv_cache_group_id", "block_mask"),
    ),
)
MOVE_HASHES = Site(*_POOL, "move_block_hashes", ("self", "src_block", "dst_block"))
CACHED_BLOCK = Site(*_POOL, "get_cached_block", ("self", "block_hash", "kv_cache_group_ids"))
COMPUTED_BLOCKS = Site(*_MANAGER, "get_computed_blocks", ("self", "request"))
COMPUTED_FOR_CONNECTOR = Site(*_MANAGER, "get_computed_blocks_for_connector", ("self", "request"))
PROCESS_INPUTS = Site(
    "vllm.v1.engine.input_processor",
    "InputProcessor",
    "process_inputs",
    ("self", "request_id", "prompt", "params"),
    exactly=False,
)
ENGINE_CORE = Site("vllm.v1.engine.core", "EngineCore", "__init__", ("self",), exactly=False)
SCHEDULER = Site(
    "vllm.v1.core.sched.scheduler", "Scheduler", "__init__", ("self", "vllm_config"), exactly=False
)
CALL_UTILITY = Site(
    "vllm.v1.engine.core_client", "AsyncMPClient", "call_utility_async", ("self", "method", "args")
)
PROBLEM = Site(
    "vllm.exceptions", "VLLMValidationError", "__init__", ("self", "message", "parameter", "value")
)
REQUEST = Site(
    "vllm.v1.request",
    "Request",
    "__init__",
    ("self", "request_id", "prompt_token_ids", "sampling_params", "pooling_params"),
    exactly=False,
)
HASHER = Site(_UTILS, None, "get_request_block_hasher", ("hash_block_size", "caching_hash_fn"))
