"""Two tenants send the same bytes: how much of the first one's state the second one reuses.

Every reader that must get nothing is a tenant that has sent nothing before: one that had would read its own
state. Each figure of a reader is worth something only with its control, the same request by somebody who may
read, which shows that there was something to be had.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from reference_gateway.live.chat import Client, Json, intent, message, text
from reference_gateway.live.engine import Engine, Options
from reference_gateway.live.experiment import Expected, Experiment, Step, ask, experiment, legend, rendered
from reference_gateway.live.figures import Occasion
from reference_gateway.live.gateway import PRINCIPALS, TENANTS, running_gateway

SMALL: Final = Options(blocks=200, context=4096)
"""An engine whose cache holds little more than two of the prompts here."""

_FILLERS: Final = 3

MOST_TRIALS: Final = (TENANTS - 1) // 3
"""A trial takes up to three tenants that have sent nothing before."""

_CHANNELS: Final = (
    "that there is no other channel: response times, and what an engine keeps outside its prefix cache, were"
    " not looked at"
)

_UNSALTED: Final = (
    Step("a tenant, directly, no salt", Expected.NOTHING, "the text was new to the engine", "more than that"),
    Step(
        "another tenant, the same bytes, no salt",
        Expected.ALL,
        "without partitions, whoever sends the same text reads the state: there is something to isolate, and"
        " a count that shows it",
        "how fast a stranger could guess a text, or whether it could be told by time alone",
    ),
)

_PARTITIONED: Final = (
    Step(
        "a tenant, through the gateway",
        Expected.NOTHING,
        "the text was new in this tenant's partition",
        "more than that",
    ),
    Step(
        "a fresh tenant, the same bytes",
        Expected.NOTHING,
        "the tenant's state was not read by another one, while the control shows that it was there",
        _CHANNELS,
    ),
    Step(
        "a colleague of the first tenant (control)",
        Expected.ALL,
        "the state was there when the stranger asked, and the gateway shares it as far as the intent permits",
        "that the engine will keep it",
    ),
)

_EVICTING: Final = (
    _PARTITIONED[0],
    Step(
        "the same caller again (control)",
        Expected.ALL,
        "the small cache holds this prompt",
        "that it will for long",
    ),
    _PARTITIONED[1],
    Step(
        "the first tenant, after others filled the cache",
        Expected.NOTHING,
        "its blocks were evicted and taken for texts of other tenants",
        "that what they held was overwritten in memory: only that it can't be found any more",
    ),
    Step(
        "another fresh tenant, the same bytes",
        Expected.NOTHING,
        "blocks that were recycled and computed anew are as separate as before",
        _CHANNELS,
    ),
    Step(
        "the first tenant again (control)",
        Expected.ALL,
        "the state was there when the second stranger asked",
        "that the engine will keep it",
    ),
)


def isolation(engine: Engine, trials: int) -> Iterator[Experiment]:
    """Run the experiments that any vLLM takes."""
    direct = Client(engine.url, engine.model, engine.headers(), intents=False)
    seen = [ask(engine, _prompt(), direct, direct) for _ in range(trials)]
    yield experiment("Without a gateway", _UNSALTED, seen)
    with running_gateway(engine) as gateway:
        owner, colleague = gateway.client(0), gateway.client(0, PRINCIPALS[1])
        seen = [
            ask(engine, _prompt(), owner, gateway.client(1 + trial), colleague) for trial in range(trials)
        ]
    yield experiment("With the gateway", _PARTITIONED, seen)


def isolation_under_eviction(small: Engine, trials: int) -> Experiment:
    """Run them with the gateway on an engine whose cache holds little more than two prompts."""
    seen = []
    with running_gateway(small) as gateway:
        owner = gateway.client(0)
        for trial in range(trials):
            stranger, filler, later = (gateway.client(1 + 3 * trial + number) for number in range(3))
            prompt = _prompt()
            before = ask(small, prompt, owner, owner, stranger)
            for _ in range(_FILLERS):
                filler.ask(*_prompt())
            seen.append(before + ask(small, prompt, owner, later, owner))
    return experiment("With the gateway, and a cache that holds two prompts", _EVICTING, seen)


def markdown(occasion: Occasion, experiments: Sequence[Experiment]) -> str:
    """Render experiments, each with its figures and what they are worth."""
    return "\n\n".join(
        ("# Isolation on a real vLLM", str(occasion), legend(experiments), *map(rendered, experiments))
    )


def _prompt() -> tuple[Json, Json]:
    return message(text(), "system", intent("tenant")), message("And now?", "user", intent("tenant"))
