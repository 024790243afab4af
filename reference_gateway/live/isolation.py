"""Two tenants send the same bytes: how much of the first one's state the second one reuses.

Every reader that must get nothing is a tenant that has sent nothing before: one that had would read its own
state. Each figure of a reader is worth something only with its control, the same request by somebody who may
read, which shows that there was something to be had.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from reference_gateway.live.chat import Client, Json, intent, message, text
from reference_gateway.live.engine import Engine, Options
from reference_gateway.live.figures import Occasion, paragraph, reusable, table
from reference_gateway.live.gateway import PRINCIPALS, TENANTS, running_gateway

SMALL: Final = Options(blocks=200, context=4096)
"""An engine whose cache holds little more than two of the prompts here."""

_HITS: Final = "vllm:prefix_cache_hits_total"
_FILLERS: Final = 3


class Expected(StrEnum):
    """What a request should reuse of what it could."""

    NOTHING = "nothing"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Step:
    """One request of an experiment, and what a figure for it is worth."""

    what: str
    expected: Expected
    establishes: str
    leaves_open: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What one trial saw: tokens reused, tokens that could be, the engine's own count, the gateway's word.

    `reused` is None where the response doesn't tell.
    """

    reused: int | None
    could: int
    counted: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A step as all trials saw it."""

    step: Step
    trials: tuple[Seen, ...]

    @property
    def as_expected(self) -> bool:
        """Whether every trial saw what was expected."""
        every = self.step.expected is Expected.ALL
        return all(seen.reused == (seen.could if every else 0) for seen in self.trials)


@dataclass(frozen=True, slots=True)
class Experiment:
    """Steps in their order, in one setting."""

    title: str
    figures: tuple[Figure, ...]


MOST_TRIALS: Final = (TENANTS - 1) // 3
"""A trial takes up to three tenants that have sent nothing before."""

_LEGEND: Final = """\
`reused` are tokens as the response told, `of` the most that the engine could have read of that prompt; a
single number was the same in all {trials} trials, each with a fresh text. The engine's counter is a second
witness: what `vllm:prefix_cache_hits_total` rose by meanwhile."""

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
    direct = Client(engine.url, engine.model, engine.headers())
    seen = [_ask(engine, _bare(_prompt()), direct, direct) for _ in range(trials)]
    yield _experiment("Without a gateway", _UNSALTED, seen)
    with running_gateway(engine) as gateway:
        owner, colleague = gateway.client(0), gateway.client(0, PRINCIPALS[1])
        seen = [
            _ask(engine, _prompt(), owner, gateway.client(1 + trial), colleague) for trial in range(trials)
        ]
    yield _experiment("With the gateway", _PARTITIONED, seen)


def isolation_under_eviction(small: Engine, trials: int) -> Experiment:
    """Run them with the gateway on an engine whose cache holds little more than two prompts."""
    seen = []
    with running_gateway(small) as gateway:
        owner = gateway.client(0)
        for trial in range(trials):
            stranger, filler, later = (gateway.client(1 + 3 * trial + number) for number in range(3))
            prompt = _prompt()
            before = _ask(small, prompt, owner, owner, stranger)
            for _ in range(_FILLERS):
                filler.ask(*_prompt())
            seen.append(before + _ask(small, prompt, owner, later, owner))
    return _experiment("With the gateway, and a cache that holds two prompts", _EVICTING, seen)


def markdown(occasion: Occasion, experiments: Sequence[Experiment]) -> str:
    """Render experiments, each with its figures and what they are worth."""
    trials = len(experiments[0].figures[0].trials)
    legend = paragraph(_LEGEND.format(trials=trials))
    return "\n\n".join(("# Isolation on a real vLLM", str(occasion), legend, *map(_rendered, experiments)))


def document(occasion: Occasion, experiments: Sequence[Experiment]) -> Json:
    """Give experiments as a JSON value."""
    return {"seen_on": occasion.document(), "experiments": [asdict(experiment) for experiment in experiments]}


def _prompt() -> tuple[Json, Json]:
    return message(text(), "system", intent("tenant")), message("And now?", "user", intent("tenant"))


def _bare(prompt: Sequence[Json]) -> tuple[Json, ...]:
    """Take the intents off: the bytes that reach the engine are the same with a gateway and without."""
    return tuple({name: value for name, value in part.items() if name != "cache_intent"} for part in prompt)


def _ask(engine: Engine, prompt: Sequence[Json], *callers: Client) -> tuple[Seen, ...]:
    """Let callers send one prompt, one after the other."""
    return tuple(_seen(engine, caller, prompt) for caller in callers)


def _seen(engine: Engine, caller: Client, prompt: Sequence[Json]) -> Seen:
    before = engine.counter(_HITS)
    answer = caller.ask(*prompt)
    could = reusable(answer, engine.block_size())
    counted = round(engine.counter(_HITS) - before)
    return Seen(answer.cached, could, counted, answer.outcomes[0] if answer.outcomes else "")


def _experiment(title: str, steps: Sequence[Step], trials: Sequence[Sequence[Seen]]) -> Experiment:
    columns = zip(*trials, strict=True)
    return Experiment(title, tuple(Figure(step, column) for step, column in zip(steps, columns, strict=True)))


def _rendered(experiment: Experiment) -> str:
    header = ("", "request", "reused", "of", "expected", "engine's counter", "gateway's word", "")
    rows = [
        (
            number,
            figure.step.what,
            _each(seen.reused for seen in figure.trials),
            _each(seen.could for seen in figure.trials),
            figure.step.expected,
            _each(seen.counted for seen in figure.trials),
            _each(seen.outcome for seen in figure.trials),
            "as expected" if figure.as_expected else "NOT AS EXPECTED",
        )
        for number, figure in enumerate(experiment.figures, 1)
    ]
    worth = [
        paragraph(
            f"{number}. *Establishes*: {figure.step.establishes}. *Doesn't*: {figure.step.leaves_open}.",
            indent="   ",
        )
        for number, figure in enumerate(experiment.figures, 1)
    ]
    return "\n\n".join((f"## {experiment.title}", table(header, rows), "\n".join(worth)))


def _each(values: Iterable[object]) -> str:
    """Give what every trial saw, or all that they saw."""
    return ", ".join(sorted({str(value) for value in values}))
