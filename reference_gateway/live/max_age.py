"""A bound on age, in front of an engine that knows none: when is state still reused, and when no more.

In each trial somebody writes under a bound, in a namespace of its own, and reads at a random time later; the
trials overlap, and some readers stream. When an engine looks up can't be seen from outside: it does between
the sending of a request and the end of its response. So two things are told of each reuse. It was surely *in
time* if its response ended before the bound, counted from the sending of the writer, since no state can be
older. It was *late* if its response ended after the bound, counted from the end of the writer's, since all
state was older then. One between the two proves nothing.

Both are told by the clocks of those who ask, which are worth nothing where they wait for a processor: then
they see late what ended in time. So a run also notes how late a sleeper wakes beside them, and where that is
more than the margin it shows nothing.

Every fifth trial writes and reads without a bound: a control that the engine still holds what the others no
longer get.
"""

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from threading import Event
from typing import Final

import requests

from reference_gateway.live.chat import Client, Json, intent, message, text
from reference_gateway.live.engine import Engine, Options
from reference_gateway.live.figures import Occasion, paragraph, table
from reference_gateway.live.gateway import TENANTS, running_gateway

ONE_SLOT: Final = Options(more=("--max-num-seqs", "1"))
"""An engine that serves one request at a time; all others wait."""

_CONTROL: Final = 5
_SENTENCES: Final = 40
_WAYS: Final[tuple[Json, ...]] = ({}, {"stream": True, "stream_options": {"include_usage": True}})
"""Readers ask for plain responses and for streamed ones."""
_QUEUE: Final = 0.8
"""How long the queue of others' requests is, as a share of the deadline: some readers wait for too long."""
_NAP: Final = 0.02
_OTHERS_TOKENS: Final = (10, 60)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds: the bound, the total deadline of a request, the margin for its end, how long trials go on."""

    bound: int
    deadline: float
    margin: float
    spread: float

    @property
    def window(self) -> float:
        """For how long a generation serves new requests."""
        return self.bound - self.deadline - self.margin

    @property
    def surely_open(self) -> float:
        """For how long one surely does, where no request is delayed by more than the margin on its way."""
        return self.window - self.margin


IDLE: Final = Times(bound=15, deadline=6.0, margin=1.0, spread=20.0)
QUEUED: Final = Times(bound=12, deadline=4.0, margin=1.0, spread=30.0)


@dataclass(frozen=True, slots=True)
class Trial:
    """One pair of requests, in seconds from the instant at which the first was sent.

    `reused` is None where one of the two was turned away, as a request is whose deadline has passed.
    """

    bounded: bool
    written: float
    sent: float
    answered: float
    reused: int | None


@dataclass(frozen=True, slots=True)
class Run:
    """Trials on one engine."""

    title: str
    times: Times
    trials: tuple[Trial, ...]
    lag: float
    """The most seconds that the clocks of those who asked were late."""

    def of(self, *, bounded: bool, since: float, until: float) -> tuple[Trial, ...]:
        """Give the trials whose reader was sent so many seconds after the writer, `until` excluded."""
        return tuple(
            trial for trial in self.trials if trial.bounded is bounded and since <= trial.sent < until
        )

    @property
    def reuses(self) -> tuple[Trial, ...]:
        """Give the trials under a bound in which something was reused."""
        return tuple(trial for trial in self.trials if trial.bounded and trial.reused)

    @property
    def in_time(self) -> int:
        """Count the reuses that were surely in time."""
        return sum(trial.answered < self.times.bound for trial in self.reuses)

    @property
    def late(self) -> int:
        """Count the reuses that were late."""
        return sum(trial.answered - trial.written >= self.times.bound for trial in self.reuses)

    @property
    def shows(self) -> bool:
        """Whether the clocks of those who asked were good enough to tell."""
        return self.lag < self.times.margin

    @property
    def as_expected(self) -> bool:
        """Whether no reuse under a bound was late, while there was some early, and late without a bound.

        Of clocks that can't tell, nothing is as expected.
        """
        early = self.of(bounded=True, since=0, until=self.times.surely_open)
        late = self.of(bounded=False, since=self.times.bound, until=float("inf"))
        return self.shows and not self.late and _most_reused(early) and _most_reused(late)

    @property
    def verdict(self) -> str:
        """Say whether it was as expected, or else why not."""
        if not self.shows:
            return "NOTHING IS SHOWN: those who asked waited for a processor, for longer than the margin."
        return "As expected." if self.as_expected else "NOT AS EXPECTED."


def max_age_idle(engine: Engine, trials: int) -> Run:
    """Run trials on an engine that has little else to do."""
    return _run("An idle engine", engine, IDLE, trials)


def max_age_queued(engine: Engine, trials: int) -> Run:
    """Run trials on an engine with one slot, for which others queue as well."""
    others = Client(engine.url, engine.model, engine.headers())
    with _busy(others, QUEUED.deadline * _QUEUE):
        return _run("An engine with one slot and a full queue", engine, QUEUED, trials)


def markdown(occasion: Occasion, runs: Sequence[Run]) -> str:
    """Render runs, each with its figures, and what they are worth."""
    return "\n\n".join(("# Bounds on age on a real vLLM", str(occasion), *map(_rendered, runs), _WORTH))


def document(occasion: Occasion, runs: Sequence[Run]) -> Json:
    """Give runs as a JSON value."""
    return {"seen_on": occasion.document(), "runs": [asdict(run) for run in runs]}


def _run(title: str, engine: Engine, times: Times, trials: int) -> Run:
    options = ("--max-age", "generations", "--engine-deadline", str(times.deadline))
    with running_gateway(engine, *options, "--abort-margin", str(times.margin)) as gateway:
        plays = [
            partial(_trial, gateway.client(number % TENANTS), times, bounded=number % _CONTROL != 0)
            for number in range(trials)
        ]
        with _sleeper() as late, ThreadPoolExecutor(max_workers=trials) as pool:
            seen = tuple(pool.map(_call, plays))
    return Run(title, times, seen, max(late))


@contextlib.contextmanager
def _sleeper() -> Iterator[Sequence[float]]:
    """Give by how many seconds somebody who sleeps again and again has woken too late so far."""
    done, late = Event(), [0.0]

    def sleep_again_and_again() -> None:
        while not done.is_set():
            due = time.monotonic() + _NAP
            time.sleep(_NAP)
            late.append(time.monotonic() - due)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(sleep_again_and_again)
        try:
            yield late
        finally:
            done.set()


def _call(play: Callable[[], Trial]) -> Trial:
    return play()


def _trial(client: Client, times: Times, *, bounded: bool) -> Trial:
    bound: Json = {"max_age": times.bound} if bounded else {}
    own = intent("tenant", **bound)
    prompt = text(_SENTENCES)
    own["constraints"]["namespace"] = prompt.partition(" ")[0]
    fragments = (message(prompt, "system", own), message("And now?"))
    time.sleep(random.uniform(0, times.spread))  # noqa: S311 - no secret

    start = time.monotonic()
    writer = client.ask(*fragments)
    written = time.monotonic() - start
    time.sleep(random.uniform(0, max(0.0, times.bound * 1.5 - written)))  # noqa: S311
    sent = time.monotonic() - start
    reader = client.ask(*fragments, **random.choice(_WAYS))  # noqa: S311
    answered = time.monotonic() - start
    both = writer.http == reader.http == 200
    return Trial(bounded, written, sent, answered, reader.cached if both else None)


@contextlib.contextmanager
def _busy(client: Client, seconds: float) -> Iterator[None]:
    """Keep so many requests of others in an engine's queue that it takes some `seconds` to get through."""
    done = Event()

    def ask_again_and_again() -> None:
        while not done.is_set():
            with contextlib.suppress(requests.RequestException):
                _ask_for(client, random.randint(*_OTHERS_TOKENS))  # noqa: S311 - no secret

    start, tries = time.monotonic(), 5
    for _ in range(tries):
        _ask_for(client, sum(_OTHERS_TOKENS) // 2)
    others = max(2, round(seconds * tries / (time.monotonic() - start)))
    with ThreadPoolExecutor(others) as pool:
        try:
            for _ in range(others):
                pool.submit(ask_again_and_again)
            yield
        finally:
            done.set()


def _ask_for(client: Client, tokens: int) -> None:
    client.ask(message(text(3)), max_tokens=tokens, ignore_eos=True)


def _most_reused(trials: Sequence[Trial]) -> bool:
    """Whether nine in ten of those that were served reused something; there has to be one."""
    served = [trial for trial in trials if trial.reused is not None]
    return bool(served) and sum(bool(trial.reused) for trial in served) >= 0.9 * len(served)


def _rendered(run: Run) -> str:
    times, end = run.times, float("inf")
    spans = (
        ("well inside the bound", True, 0.0, times.surely_open),
        ("inside, the generation about to close", True, times.surely_open, times.window),
        ("inside, the generation closed", True, times.window, float(times.bound)),
        ("at the bound or past it", True, float(times.bound), end),
        ("inside, no bound (control)", False, 0.0, float(times.bound)),
        ("as late, no bound (control)", False, float(times.bound), end),
    )
    rows = []
    for name, bounded, since, until in spans:
        trials = run.of(bounded=bounded, since=since, until=until)
        served = [trial for trial in trials if trial.reused is not None]
        reused = sum(bool(trial.reused) for trial in served)
        span = f"{since:g} to {until:g}" if until < end else f"{since:g} and more"
        rows.append((name, span, len(trials), len(trials) - len(served), reused))
    longest = max(trial.answered - trial.sent for trial in run.trials)
    told = f"""
        Bound {times.bound} s, deadline {times.deadline:g} s, margin {times.margin:g} s,
        {len(run.trials)} trials.
        Of {len(run.reuses)} reuses under the bound {run.in_time} were surely in time and {run.late} late.
        A reader waited {longest:.2f} s at most; the clocks were at most {run.lag * 1000:.0f} ms late.
        {run.verdict}"""
    header = ("reader sent", "seconds after the writer", "trials", "turned away", "reused")
    return "\n\n".join((f"## {run.title}", table(header, rows), paragraph(told)))


_WORTH: Final = paragraph(
    """*Establishes*: no reuse under the bound was late, however long readers waited in the engine's queue;
    inside the bound there is reuse; and without a bound the engine still had such state later. *Doesn't*:
    that the state leaves the engine's memory. It can only not be found any more."""
)
