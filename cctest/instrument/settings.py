"""How an instrumented engine is set up."""

from dataclasses import dataclass
from typing import Final

NAME: Final = "cctest-instrumented-engine"
"""What the engine calls itself at `/cctest/about`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one engine.

    `block_size` is in tokens, `capacity_blocks` the most blocks retained. Without `usage_details` the member
    `usage.prompt_tokens_details` is null, as in vLLM without its flag. With `regions` requests may have
    several salts, as in a vLLM with our plugin: see the module of that name.
    """

    model: str = "instrumented"
    block_size: int = 16
    capacity_blocks: int = 65_536
    usage_details: bool = True
    regions: bool = False
