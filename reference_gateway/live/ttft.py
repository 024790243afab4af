"""Time to first token for a new tenant behind a public prefix, under each of the four policies.

The prompt is tools, which are public and were computed before, and a short system prompt and question of a
tenant that has asked for nothing yet. All policies take turns on one engine, in another order each time, so
that a busy machine hits all alike; the gateway's own time is in the figures of both that have one.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reference_gateway.live.chat import Json, intent, message, text, tool
from reference_gateway.live.engine import Engine, NoEngineError
from reference_gateway.live.figures import Occasion, paragraph, table
from reference_gateway.live.gateway import PRINCIPALS, TENANTS
from reference_gateway.live.policy import Clients, Policy, all_policies

MOST_REPETITIONS: Final = TENANTS - 1
"""Each needs a tenant that has sent nothing before, and one warms the cache."""

MOST_SLOWER: Final = 1.25
"""How many times the time with everything shared it may take with regions."""
LEAST_FASTER: Final = 10.0
"""How many times the time with regions it must take with a salt for each tenant."""

_TOOLS: Final = 10
_TOOL_SENTENCES: Final = 20
_SYSTEM_SENTENCES: Final = 5
_QUESTION_SENTENCES: Final = 1


@dataclass(frozen=True, slots=True)
class Sample:
    """One request: seconds to its first token, tokens of its prompt, and of those what was reused."""

    seconds: float
    prompt: int
    cached: int | None


@dataclass(frozen=True, slots=True)
class Spread:
    """Seconds: the median, the quartiles around it, and the extremes."""

    median: float
    lower: float
    upper: float
    least: float
    most: float


Samples = Mapping[Policy, Sequence[Sample]]


def ttft(engine: Engine, repetitions: int) -> Samples:
    """Measure; two repetitions at least. Raises NoEngineError if there are no regions on the engine."""
    tools = tuple(tool(f"tool_{each}", text(_TOOL_SENTENCES), intent("public")) for each in range(_TOOLS))
    with all_policies(engine) as clients:
        if Policy.REGIONS not in clients:
            raise NoEngineError(f"the engine at {engine.url} has no regions")
        for clients_of in clients.values():
            _ask(clients_of, 0, (*tools, *_own()))
        samples: dict[Policy, list[Sample]] = {policy: [] for policy in clients}
        order = list(clients)
        for tenant in range(1, repetitions + 1):
            prompt = (*tools, *_own())
            order.append(order.pop(0))
            for policy in order:
                samples[policy].append(_ask(clients[policy], tenant, prompt))
    return samples


def spread(samples: Sequence[Sample]) -> Spread:
    """Sum up times."""
    times = [sample.seconds for sample in samples]
    lower, median, upper = statistics.quantiles(times, n=4, method="inclusive")
    return Spread(median, lower, upper, min(times), max(times))


def reused_as_expected(samples: Samples, block_size: int) -> bool:
    """Whether tokens were reused as policies have it: the times are of what they are said to be of.

    With regions a block less than with everything shared is as good: texts may begin alike by chance.
    """
    least = {policy: _reused(of) for policy, of in samples.items()}
    shared = least[Policy.SHARED]
    nothing = [sample.cached for policy in (Policy.SALT, Policy.INTENT) for sample in samples[policy]]
    return shared > 0 and least[Policy.REGIONS] >= shared - block_size and set(nothing) == {0}


def times_as_expected(samples: Samples) -> bool:
    """Whether regions are about as fast as no isolation, and far faster than a salt for each tenant."""
    medians = {policy: spread(of).median for policy, of in samples.items()}
    regions = medians[Policy.REGIONS]
    return regions <= MOST_SLOWER * medians[Policy.SHARED] and medians[Policy.SALT] >= LEAST_FASTER * regions


def markdown(occasion: Occasion, samples: Samples, verdict: str) -> str:
    """Render the times as a table, with what they are worth."""
    repetitions = len(samples[Policy.SHARED])
    first = samples[Policy.SHARED][0]
    told = f"""
        A prompt of some {first.prompt} tokens, most of which are tools that are public and were computed
        before; a tenant that asks for the first time, its own system prompt. {repetitions} repetitions, in
        turn. Milliseconds from the request to the first token of its stream."""
    baseline = spread(samples[Policy.SHARED]).median
    rows = []
    for policy, of in samples.items():
        seen = spread(of)
        times = (seen.median, seen.lower, seen.upper, seen.least, seen.most)
        rows.append((policy, _reused(of), *map(milliseconds, times), f"{seen.median / baseline:.2f}"))
    header = ("policy", "reused", "median", "quartile", "quartile", "least", "most", "x everything shared")
    return "\n\n".join(
        (
            "# Time to first token for a new tenant",
            str(occasion),
            paragraph(told),
            table(header, rows),
            paragraph(f"{ratios(samples)} {verdict}"),
            paragraph(_WORTH),
        )
    )


def document(occasion: Occasion, samples: Samples) -> Json:
    """Give all samples as a JSON value; times in seconds."""
    return {
        "seen_on": occasion.document(),
        "policies": [
            {
                "policy": policy,
                "median": spread(of).median,
                "quartiles": [spread(of).lower, spread(of).upper],
                "prompt_tokens": [sample.prompt for sample in of],
                "reused_tokens": [sample.cached for sample in of],
                "seconds": [round(sample.seconds, 6) for sample in of],
            }
            for policy, of in samples.items()
        ],
    }


def ratios(samples: Samples) -> str:
    """Say how policies compare, in a sentence."""
    medians = {policy: spread(of).median for policy, of in samples.items()}
    regions = medians[Policy.REGIONS]
    return (
        f"With regions the median is {regions / medians[Policy.SHARED]:.2f} times that of everything shared "
        f"(at most {MOST_SLOWER:g}), and a salt for each tenant takes {medians[Policy.SALT] / regions:.1f} "
        f"times as long as regions (at least {LEAST_FASTER:g})."
    )


def milliseconds(seconds: float) -> str:
    """Give a time for people."""
    return f"{seconds * 1000:.0f}"


_WORTH: Final = """\
*Establishes*: on this engine a new tenant waits about as long as with no isolation at all, while it can read
nothing but what is public. *Doesn't*: what the ratio is elsewhere. It depends on the length of the public
prefix and on what a token costs to compute, which is another thing on a GPU. The weights are random, which a
cache can't tell."""


def _own() -> tuple[Json, Json]:
    """Make a tenant's own part of a prompt."""
    system = message(text(_SYSTEM_SENTENCES), "system", intent("tenant"))
    return system, message(text(_QUESTION_SENTENCES), "user", intent("tenant"))


def _reused(samples: Sequence[Sample]) -> int:
    """Give the least that any request reused."""
    return min(sample.cached or 0 for sample in samples)


def _ask(clients: Clients, tenant: int, prompt: Sequence[Json]) -> Sample:
    timed = clients(tenant, PRINCIPALS[0]).ask_for_first_token(*prompt, max_tokens=1)
    if timed.seconds is None or timed.answer.prompt is None:
        raise RuntimeError(f"no first token in HTTP {timed.answer.http}: {timed.answer.body}")
    return Sample(timed.seconds, timed.answer.prompt, timed.answer.cached)
