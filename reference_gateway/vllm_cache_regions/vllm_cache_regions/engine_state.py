"""What this process knows of the engine whose core it runs: whether regions are in force, and the counts."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from vllm_cache_regions.counters import Counters


def new_instance() -> str:
    """Draw a name for one start of an engine core."""
    return secrets.token_hex(16)


@dataclass(slots=True)
class EngineState:
    """State of the engine core of this process.

    `instance` is drawn anew whenever an engine core starts, so that one start can be told from another.
    `doubts` are reasons why regions are not in force, in words; while there is any, every request is flat.
    """

    doubts: tuple[str, ...] = ("no engine core has started in this process",)
    block_size: int = 0
    instance: str = field(default_factory=new_instance)
    counters: Counters = field(default_factory=Counters)

    @contextmanager
    def rehearsed(self) -> Iterator[None]:
        """Put regions in force and count aside, for the plugin's check of itself."""
        before = self.doubts, self.counters
        self.doubts, self.counters = (), Counters()
        try:
            yield
        finally:
            self.doubts, self.counters = before


STATE = EngineState()
