"""A mixed load of 20 tenants under each of the four policies: what is reused, and how long people wait.

The load is open: requests are sent when they are due, whether or not earlier ones are done. Each policy gets
the same requests at the same times, one policy after the other, from a cache that has none of it.
"""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import requests

from reference_gateway.live.chat import Json
from reference_gateway.live.engine import Engine, NoEngineError
from reference_gateway.live.figures import Occasion, paragraph, table
from reference_gateway.live.mixed_load import (
    TENANTS,
    Arrival,
    Texts,
    arrivals,
    authors,
    shared_parts,
)
from reference_gateway.live.policy import Clients, Policy, all_policies
from reference_gateway.live.prompt import boundary, common_tokens, tokens, whole_blocks

RATE: Final = 1.2
"""Requests a second, unless said otherwise."""

_ANSWER_TOKENS: Final = 8
_AT_ONCE: Final = 512
_MOST: Final = 0.9
"""The share of requests that count as most of them."""


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when a request was under way, in seconds."""

    sent: float
    done: float


@dataclass(frozen=True, slots=True)
class Served:
    """What became of a request. `first` are seconds to its first token, None if it wasn't served.

    `permitted` are the tokens of its prompt that the application let it reuse.
    """

    arrival: Arrival
    span: Span
    first: float | None
    prompt: int
    cached: int
    permitted: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """A policy's figures: counts of requests and tokens, and seconds to the first token.

    `beyond` are tokens that somebody reused and the application didn't permit.
    """

    policy: Policy
    requests: int
    failed: int
    prompt: int
    reused: int
    permitted: int
    beyond: int
    median: float
    slow: float
    most: float

    @property
    def hit_rate(self) -> float:
        """Reused tokens as a share of all tokens of prompts."""
        return self.reused / self.prompt if self.prompt else 0.0


Outcome: TypeAlias = Mapping[Policy, Sequence[Served]]


def mix(engine: Engine, seconds: float, rate: float, seed: int) -> Outcome:
    """Play the load. Raises NoEngineError if there are no regions on the engine."""
    load, texts = arrivals(seconds, rate, seed), Texts()
    prompts = {arrival: texts.prompt(arrival) for arrival in load}
    permissions = _Permissions(engine, load, texts)
    outcome = {}
    with all_policies(engine) as clients:
        if Policy.REGIONS not in clients:
            raise NoEngineError(f"the engine at {engine.url} has no regions")
        for policy, clients_of in clients.items():
            outcome[policy] = permissions.judged(_play(clients_of, prompts))
    return outcome


def summary(policy: Policy, served: Sequence[Served]) -> Summary:
    """Sum up a policy. Times are those of requests that were served."""
    times = sorted(one.first for one in served if one.first is not None)
    return Summary(
        policy,
        requests=len(served),
        failed=len(served) - len(times),
        prompt=sum(one.prompt for one in served),
        reused=sum(one.cached for one in served),
        permitted=sum(one.permitted for one in served),
        beyond=sum(max(0, one.cached - one.permitted) for one in served),
        median=_within(times, 0.5),
        slow=_within(times, _MOST),
        most=_within(times, 1.0),
    )


def _within(times: Sequence[float], share: float) -> float:
    """Give the time within which a share of requests had their first token; `times` rise."""
    return times[math.ceil(share * len(times)) - 1] if times else math.inf


def as_expected(outcome: Outcome) -> bool:
    """Whether all were served, intents were kept, and boundaries for each fragment were worth most.

    That something is reused beyond what is permitted where everything is shared is the control: it was there.
    """
    of = {policy: summary(policy, served) for policy, served in outcome.items()}
    regions = of[Policy.REGIONS]
    served = all(one.failed == 0 for one in of.values())
    kept = regions.beyond == of[Policy.INTENT].beyond == 0 < of[Policy.SHARED].beyond
    return served and kept and regions.hit_rate > max(of[Policy.SALT].hit_rate, of[Policy.INTENT].hit_rate)


def markdown(occasion: Occasion, outcome: Outcome, seconds: float, rate: float) -> str:
    """Render the figures as a table, with what they are worth."""
    every = [summary(policy, served) for policy, served in outcome.items()]
    told = f"""
        {TENANTS} tenants with two principals each; Poisson arrivals, {rate:g} a second on average, for
        {seconds:g} s under each policy: the same {every[0].requests} requests at the same times. A prompt has
        some {every[0].prompt // every[0].requests} tokens: public tools, the tenant's system prompt, a
        principal's note, a question. One request in ten repeats another's bytes, sent by a colleague or by a
        stranger. Every policy starts with nothing of it in the cache. Times to the first token in
        milliseconds."""
    rows = [
        (
            one.policy,
            one.failed,
            f"{one.hit_rate:.1%}",
            one.reused,
            one.permitted,
            one.beyond,
            *(f"{each * 1000:.0f}" for each in (one.median, one.slow, one.most)),
        )
        for one in every
    ]
    header = (
        *("policy", "failed", "hit rate", "reused", "permitted", "not permitted"),
        *("median", "90th percentile", "most"),
    )
    return "\n\n".join(
        (
            "# A mixed load of 20 tenants",
            str(occasion),
            paragraph(told),
            table(header, rows),
            paragraph(_LEGEND),
            paragraph(_WORTH),
            "As expected." if as_expected(outcome) else "NOT AS EXPECTED.",
        )
    )


def document(occasion: Occasion, outcome: Outcome, seconds: float, rate: float) -> Json:
    """Give figures and all times as a JSON value; times in seconds."""
    return {
        "seen_on": occasion.document(),
        "seconds_each": seconds,
        "requests_per_second": rate,
        "as_expected": as_expected(outcome),
        "policies": [_document(summary(policy, served), served) for policy, served in outcome.items()],
    }


def _document(of: Summary, served: Sequence[Served]) -> Json:
    return {
        "policy": of.policy,
        "requests": of.requests,
        "failed": of.failed,
        "hit_rate": round(of.hit_rate, 4),
        "median": of.median,
        "most_within": of.slow,
        "prompt_tokens": of.prompt,
        "reused_tokens": of.reused,
        "permitted_tokens": of.permitted,
        "not_permitted_tokens": of.beyond,
        "first_token_seconds": [None if one.first is None else round(one.first, 4) for one in served],
    }


_LEGEND: Final = """\
*Hit rate*: reused tokens as a share of all tokens of prompts. *Permitted*: what the application lets these
very callers reuse, counted by the engine's tokenizer: whole blocks of what others had sent by then that they
share. *Not permitted*: tokens that somebody reused beyond that."""

_WORTH: Final = """\
*Establishes*: under this load, boundaries for each fragment keep what the application asked for, at nearly
the hit rate of no isolation, where one partition for each request has to choose between the two; and what
that does to the time that people wait, queues included. *Doesn't*: what the figures are for another mix,
another model or another machine. With a higher rate the policies that compute everything anew fall behind
without bound; with a lower one fewer wait. Caches that are too small were not looked at: one
holds the same public text once with regions, and once for each partition without."""


class _Permissions:
    """What the application lets each request of a load reuse, counted by the engine's tokenizer."""

    def __init__(self, engine: Engine, load: Sequence[Arrival], texts: Texts) -> None:
        self._block = engine.block_size()
        self._tokens = {arrival: tokens(engine, texts.prompt(arrival)) for arrival in load}
        tools = len(texts.tools)
        self._ends = {
            author: tuple(boundary(engine, texts.prompt(arrival), tools + messages) for messages in range(2))
            for author, arrival in authors(load).items()
        }

    def judged(self, served: Sequence[Served]) -> tuple[Served, ...]:
        """Note with each request what it might reuse of those that were sent before it was done."""
        return tuple(replace(one, permitted=self._permitted(one, served)) for one in served)

    def _permitted(self, one: Served, others: Iterable[Served]) -> int:
        earlier = (other for other in others if other is not one and other.span.sent < one.span.done)
        most = max((self._lent(one.arrival, other.arrival) for other in earlier), default=0)
        return whole_blocks(min(most, max(0, one.prompt - 1)), self._block)

    def _lent(self, reader: Arrival, writer: Arrival) -> int:
        """Give the tokens that two prompts have in common, as far as the one may read the other's."""
        common = common_tokens(self._tokens[reader], self._tokens[writer])
        after_tools, after_system = self._ends[reader.author]
        match shared_parts(reader.sender, writer.sender):
            case 1:
                return min(common, after_tools)
            case 2:
                return min(common, after_system)
            case _:
                return common


def _play(clients: Clients, prompts: Mapping[Arrival, Sequence[Json]]) -> list[Served]:
    """Send all requests when they are due, and wait for their answers."""
    start = time.perf_counter()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        under_way = []
        for arrival, prompt in prompts.items():
            time.sleep(max(0.0, start + arrival.at - time.perf_counter()))
            under_way.append(pool.submit(_ask, clients, arrival, prompt, start))
        return [one.result() for one in under_way]


def _ask(clients: Clients, arrival: Arrival, prompt: Sequence[Json], start: float) -> Served:
    client = clients(arrival.sender.tenant, arrival.sender.principal)
    sent = time.perf_counter() - start
    try:
        timed = client.ask_for_first_token(*prompt, max_tokens=_ANSWER_TOKENS, ignore_eos=True)
    except requests.RequestException:
        return Served(arrival, Span(sent, time.perf_counter() - start), None, 0, 0)
    span = Span(sent, time.perf_counter() - start)
    return Served(arrival, span, timed.seconds, timed.answer.prompt or 0, timed.answer.cached or 0)
