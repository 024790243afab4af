"""The places of the gateway and its engine that patches take hold of.

Each is named with the parameters that it is known to have. A patch finds out at start-up whether the place is
still what it was, so that a renaming in the gateway can't quietly turn a fault into no fault.
"""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final


class SeamMovedError(Exception):
    """A place that patches rely on is no longer there, or no longer takes the same arguments."""


@dataclass(frozen=True, slots=True)
class Seam:
    """A function, method or class of the gateway: `path` within `module`, and its parameters."""

    module: str
    path: str
    parameters: str

    def wrap(self, make: Callable[[Any], Any]) -> None:
        """Put `make(what is there)` in its place. Raises SeamMovedError if it isn't what was expected."""
        holder, name = self._holder()
        original = self.found()
        setattr(holder, name, make(original))

    def found(self) -> Any:
        """Give what is there. Raises SeamMovedError if it isn't what was expected."""
        holder, name = self._holder()
        if not hasattr(holder, name):
            raise SeamMovedError(f"{self.module} has no {self.path}")
        there = getattr(holder, name)
        parameters = " ".join(inspect.signature(there).parameters)
        if parameters != self.parameters:
            raise SeamMovedError(f"{self.module}.{self.path} takes ({parameters}), not ({self.parameters})")
        return there

    def _holder(self) -> tuple[Any, str]:
        *path, name = self.path.split(".")
        holder: Any = importlib.import_module(self.module)
        for step in path:
            if not hasattr(holder, step):
                raise SeamMovedError(f"{self.module} has no {self.path}")
            holder = getattr(holder, step)
        return holder, name


READ_BODY: Final = Seam("reference_gateway.app", "read_chat_request", "body")
MAKE_PLAN: Final = Seam("reference_gateway.app", "make_plan", "request caller request_id capabilities order")
CACHE_STATUS: Final = Seam("reference_gateway.app", "cache_status", "plan served reuse_within_max")
ADVERTISE: Final = Seam("reference_gateway.app", "to_json", "capabilities")
GATEWAY: Final = Seam("reference_gateway.app", "Gateway.__init__", "self backend front approximate")
CHAT: Final = Seam("reference_gateway.app", "Gateway.chat_completions", "self request")
CAPABILITIES: Final = Seam("reference_gateway.app", "Gateway.capabilities", "self _")
TAKE: Final = Seam("reference_gateway.app", "Gateway._take", "self body caller")
REFUSED: Final = Seam("reference_gateway.app", "refused", "_ error")

IDENTIFY: Final = Seam("reference_gateway.callers.credentials", "Credentials.identify", "self authorization")

PARSE: Final = Seam("reference_gateway.request.intake", "_parse", "body")
FRAGMENT: Final = Seam("reference_gateway.request.intake", "_fragment", "kind index value")
READ_INTENT: Final = Seam("reference_gateway.request.intake", "read_intent", "value pointer")
DUPLICATE_IDS: Final = Seam("reference_gateway.request.intake", "_refuse_duplicate_ids", "fragments")
MISPLACED: Final = Seam("reference_gateway.request.intake", "_refuse_misplaced", "value pointer place")

BOUNDARY: Final = Seam("reference_gateway.plan", "boundary", "scope context request")
COMPOSE: Final = Seam("reference_gateway.plan", "Composer.add", "self constraints")
PARTITION: Final = Seam("reference_gateway.plan", "_Partitions._partition", "self scope namespace_digest")
TERMS: Final = Seam("reference_gateway.plan", "_Partitions.terms", "self policy fallback")

ADD_NAMESPACE: Final = Seam("cctest.contract.digest", "NamespaceDigest.add", "self namespace")

COMPUTE: Final = Seam("reference_gateway.in_process.embedded", "EmbeddedBackend.compute", "self plan texts")
EMBEDDED: Final = Seam(
    "reference_gateway.in_process.embedded",
    "EmbeddedBackend.__init__",
    "self block_size capacity_blocks reuse_within_max on_unenforceable similarity clock",
)
CUT: Final = Seam("reference_gateway.in_process.embedded", "cut", "segments block_size root")
IS_HIT: Final = Seam("reference_gateway.in_process.embedded", "EmbeddedBackend._is_hit", "self read span")
RENDER_ALL: Final = Seam("reference_gateway.in_process.embedded", "render_all", "plan")
RENDER: Final = Seam("reference_gateway.in_process.computation", "render", "fragment")
CACHE: Final = Seam("reference_gateway.in_process.embedded", "BlockCache", "capacity_blocks clock")
LOOKUP: Final = Seam("cctest.engine.cache", "BlockCache.lookup", "self blocks")
FIND: Final = Seam(
    "reference_gateway.in_process.embedded", "EmbeddedBackend._find", "self lender blocks links"
)
OBSERVE_EMBEDDED: Final = Seam(
    "reference_gateway.in_process.embedded", "EmbeddedBackend._observe", "self planned span found"
)
LINKS: Final = Seam("reference_gateway.in_process.embedded", "EmbeddedBackend._links", "self plan texts ends")
CHAIN: Final = Seam("cctest.engine.donors", "_chain", "lender links")
PUBLISH: Final = Seam("cctest.engine.cache", "BlockCache.publish", "self blocks reused")
READABLE: Final = Seam("cctest.engine.cache", "BlockCache._readable", "self block now")
MARKS: Final = Seam("cctest.engine.blocks", "_partitions", "segments ends touched start")

REPORT_HINTS: Final = Seam("reference_gateway.status", "report_hints", "hints reuse_within_max")
PLAIN: Final = Seam("reference_gateway.completion", "Completion.plain", "self")
EVENTS: Final = Seam("reference_gateway.completion", "Completion.events", "self include_usage")
CHUNKS: Final = Seam("reference_gateway.completion", "Completion._chunks", "self include_usage")
USAGE: Final = Seam("reference_gateway.completion", "Completion._usage", "self")

ANSWERED: Final = Seam("reference_gateway.app", "Gateway._with_status", "self plan answer")
STREAM: Final = Seam("reference_gateway.app", "Gateway._relay", "self plan chunks")
UNLESS_GONE: Final = Seam("reference_gateway.app", "unless_gone", "receive work")

LOWER: Final = Seam("reference_gateway.lowering.lowering", "Lowering.lower", "self plan")
LOWERING: Final = Seam(
    "reference_gateway.lowering.lowering", "Lowering.__init__", "self salts without_intent generations"
)
FRESH_SALT: Final = Seam("reference_gateway.lowering.salt", "Salts.fresh", "self")
SHARED_SALT: Final = Seam("reference_gateway.lowering.salt", "Salts.shared", "self partition model")
FORWARDED: Final = Seam("reference_gateway.engine.vllm", "forwarded_body", "text salt stream regions")
FORWARD: Final = Seam("reference_gateway.engine.vllm", "VllmBackend.serve", "self plan")
OBSERVE: Final = Seam("reference_gateway.engine.vllm", "VllmBackend.observe", "self plan lowered told")
READ_COUNT: Final = Seam("reference_gateway.engine.usage", "read_count", "usage")
OUTCOME: Final = Seam("reference_gateway.engine.usage", "outcome", "count own block_size")
REFUSAL: Final = Seam("reference_gateway.engine.upstream", "refused", "status body retry_after salts")
EVENT_LINE: Final = Seam("reference_gateway.engine.sse", "EventReader._line", "self line")
RELAY: Final = Seam("reference_gateway.engine.vllm", "relay", "first rest observe include_usage")
READ_COMPLETION: Final = Seam("reference_gateway.engine.vllm", "read_completion", "body")
