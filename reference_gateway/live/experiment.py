"""Requests in a row on a real engine, each with what it should reuse, and what a figure for it is worth."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from reference_gateway.live.chat import Client, Json
from reference_gateway.live.engine import Engine
from reference_gateway.live.figures import Occasion, paragraph, reusable, table

_HITS: Final = "vllm:prefix_cache_hits_total"


class Expected(StrEnum):
    """What a request should reuse of what it could."""

    NOTHING = "nothing"
    PUBLIC = "the public prefix"
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

    `reused` is None where the response doesn't tell. `public` are the whole blocks of a public prefix.
    """

    reused: int | None
    could: int
    counted: int
    outcome: str
    public: int = 0

    def of(self, expected: Expected) -> int:
        """Give the tokens that should have been reused."""
        return {Expected.NOTHING: 0, Expected.PUBLIC: self.public, Expected.ALL: self.could}[expected]


@dataclass(frozen=True, slots=True)
class Figure:
    """A step as all trials saw it."""

    step: Step
    trials: tuple[Seen, ...]

    @property
    def as_expected(self) -> bool:
        """Whether every trial saw what was expected."""
        return all(seen.reused == seen.of(self.step.expected) for seen in self.trials)


@dataclass(frozen=True, slots=True)
class Experiment:
    """Steps in their order, in one setting."""

    title: str
    figures: tuple[Figure, ...]

    @property
    def as_expected(self) -> bool:
        """Whether all figures are."""
        return all(figure.as_expected for figure in self.figures)


def experiment(title: str, steps: Sequence[Step], trials: Sequence[Sequence[Seen]]) -> Experiment:
    """Put together what trials saw of the same steps."""
    columns = zip(*trials, strict=True)
    return Experiment(title, tuple(Figure(step, column) for step, column in zip(steps, columns, strict=True)))


def ask(engine: Engine, prompt: Sequence[Json], *callers: Client, public: int = 0) -> tuple[Seen, ...]:
    """Let callers send one prompt, one after the other."""
    return tuple(_seen(engine, caller, prompt, public) for caller in callers)


def _seen(engine: Engine, caller: Client, prompt: Sequence[Json], public: int) -> Seen:
    before = engine.counter(_HITS)
    answer = caller.ask(*prompt)
    could = reusable(answer, engine.block_size())
    counted = round(engine.counter(_HITS) - before)
    return Seen(answer.cached, could, counted, ", ".join(dict.fromkeys(answer.outcomes)), public)


_LEGEND: Final = """\
`reused` are tokens as the response told, `of` the most that the engine could have read of that prompt; a
single number was the same in all {trials} trials, each with a fresh text. The engine's counter is a second
witness: what `vllm:prefix_cache_hits_total` rose by meanwhile."""


def legend(experiments: Sequence[Experiment]) -> str:
    """Say what the columns of their tables are."""
    return paragraph(_LEGEND.format(trials=len(experiments[0].figures[0].trials)))


def document(occasion: Occasion, experiments: Sequence[Experiment]) -> Json:
    """Give experiments as a JSON value."""
    return {"seen_on": occasion.document(), "experiments": [asdict(experiment) for experiment in experiments]}


def rendered(experiment: Experiment) -> str:
    """Give its table, and what each figure is worth."""
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
