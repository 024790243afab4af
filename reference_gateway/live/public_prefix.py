"""A public prefix in front of private text: what a fresh tenant gets of it, on an engine with our plugin.

Tools that all tenants share come first, then a tenant's system prompt, then a question. Every reader that
must get no more than the tools is a tenant that has sent nothing before. Their tokens are counted by the
engine's tokenizer, in a way that has nothing to do with how the gateway finds the boundary.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from reference_gateway.live.chat import Client, Json, intent, message, text, tool
from reference_gateway.live.engine import Engine
from reference_gateway.live.experiment import (
    Expected,
    Experiment,
    Seen,
    Step,
    ask,
    experiment,
    legend,
    rendered,
)
from reference_gateway.live.figures import Occasion, paragraph
from reference_gateway.live.gateway import PRINCIPALS, TENANTS, Gateway
from reference_gateway.live.policy import gateway_with_regions
from reference_gateway.live.prompt import boundary, whole_blocks

MOST_TRIALS: Final = (TENANTS - 1) // 2
"""A trial takes two tenants that have sent nothing before."""

_TOOLS: Final = 8
_TOOL_SENTENCES: Final = 20
_SYSTEM_SENTENCES: Final = 30

_CHANNELS: Final = "that there is no other channel: response times were not looked at here"

_UNSALTED: Final = (
    Step(
        "a tenant, directly, no salt", Expected.NOTHING, "the texts were new to the engine", "more than that"
    ),
    Step(
        "another tenant, the same bytes, no salt",
        Expected.ALL,
        "without partitions a stranger reads the private text too: there is something to isolate",
        "how fast a stranger could guess a text",
    ),
)
_WITH_REGIONS: Final = (
    Step(
        "a tenant, through the gateway",
        Expected.NOTHING,
        "the texts were new where regions begin with the public salt",
        "more than that",
    ),
    Step(
        "a fresh tenant, the same tools, its own system prompt",
        Expected.PUBLIC,
        "the whole blocks of the public prefix were reused across tenants, through the gateway",
        "what that saves in time: see `ttft.md`",
    ),
    Step(
        "another fresh tenant, the first one's bytes",
        Expected.PUBLIC,
        "of the private text, which was there as the control shows, not one token was read by a stranger",
        _CHANNELS,
    ),
    Step(
        "a colleague of the first tenant (control)",
        Expected.ALL,
        "the private text was there when strangers asked, and is shared as far as its intent permits",
        "that the engine will keep it",
    ),
)


def public_prefix(engine: Engine, trials: int) -> Iterator[Experiment]:
    """Run the experiments. Raises NoEngineError where the gateway makes no use of the plugin."""
    direct = Client(engine.url, engine.model, engine.headers(), intents=False)
    seen = [ask(engine, (*_tools(), *_private()), direct, direct) for _ in range(trials)]
    yield experiment("Without a gateway", _UNSALTED, seen)
    with gateway_with_regions(engine) as gateway:
        seen = [_trial(engine, gateway, 2 * trial) for trial in range(trials)]
    yield experiment("With the gateway, and regions", _WITH_REGIONS, seen)


def markdown(occasion: Occasion, experiments: Sequence[Experiment]) -> str:
    """Render experiments, each with its figures and what they are worth."""
    shape = {seen.public: seen.could for seen in experiments[-1].figures[-1].trials}
    told = "; ".join(f"{public} tokens of {could} that could be reused" for public, could in shape.items())
    prompt = paragraph(f"The whole blocks of the public prefix, as the engine's tokenizer has it: {told}.")
    title = "# A public prefix in front of private text"
    return "\n\n".join((title, str(occasion), legend(experiments), prompt, *map(rendered, experiments)))


def _trial(engine: Engine, gateway: Gateway, tenants: int) -> tuple[Seen, ...]:
    """Play one trial with two tenants that come after the first `tenants` of those who may be strangers."""
    tools, private, other = _tools(), _private(), _private()
    prompt = (*tools, *private)
    public = whole_blocks(boundary(engine, prompt, len(tools)), engine.block_size())
    owner, colleague = gateway.client(0), gateway.client(0, PRINCIPALS[1])
    first, second = (gateway.client(1 + tenants + number) for number in range(2))
    return (
        *ask(engine, prompt, owner, public=public),
        *ask(engine, (*tools, *other), first, public=public),
        *ask(engine, prompt, second, colleague, public=public),
    )


def _tools() -> tuple[Json, ...]:
    return tuple(tool(f"tool_{number}", text(_TOOL_SENTENCES), intent("public")) for number in range(_TOOLS))


def _private() -> tuple[Json, ...]:
    system = message(text(_SYSTEM_SENTENCES), "system", intent("tenant"))
    return system, message(text(4), "user", intent("tenant"))
