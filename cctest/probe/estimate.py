"""What a probe will cost, told before anything is sent."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from cctest.probe.callers import UNCREDENTIALED, cast
from cctest.probe.case import Case, Role
from cctest.probe.cells import Cell, cells_of
from cctest.probe.prompt import ANSWER_TOKENS, UNIT_WORDS, Setting, build
from cctest.probe.settlement import ATTEMPTS
from cctest.probe.settling import PAUSES
from cctest.target.configuration import Configuration
from cctest.target.credential import Credential

REQUEST_SECONDS: Final = 0.3
"""Assumed for one request, since nothing is known of the target."""

BYTES_PER_TOKEN: Final = 4
"""Assumed of the target's tokenizer."""

SURVEY_REQUESTS: Final = 3 + 2 * len(PAUSES) + 1
"""Requests before the first case, at most: `cctest.probe.preflight`, and twice each pause of `settling`.

Each credential has one more, for `cctest.probe.acceptance`.
"""

_SURVEY_UNITS: Final = 2 * len(PAUSES) + 3
"""Length of their texts, in units."""

_WORD_BYTES: Final = 7
"""Bytes of a made-up word with its space."""

_ANY_NONCE: Final = "0" * 12


@dataclass(frozen=True, slots=True)
class Cost:
    """What cells come to: `tokens` in prompts; `wait` and `span` are the longest of any cell, in seconds.

    `wait` is idle, `span` is from a cell's first request to its last answer. Of `cells`, `silent` ones send
    nothing: a caller that they need isn't in the configuration, or they need an instrumented engine.
    """

    cells: int = 0
    silent: int = 0
    requests: int = 0
    tokens: int = 0
    wait: float = 0.0
    span: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            self.cells + other.cells,
            self.silent + other.silent,
            self.requests + other.requests,
            self.tokens + other.tokens,
            max(self.wait, other.wait),
            max(self.span, other.span),
        )


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of a probe by case group and in all, and the seconds that it takes.

    Everything is for one attempt at each cell; `attempts` is how many there are at most. `at_a_time` is the
    number of exchanges under way together.
    """

    groups: Mapping[str, Cost]
    total: Cost
    seconds: float
    at_a_time: int
    attempts: int = ATTEMPTS

    @property
    def answer_tokens(self) -> int:
        """The most tokens that answers may have."""
        return self.total.requests * ANSWER_TOKENS


def estimate(
    configuration: Configuration,
    cases: Iterable[Case],
    jobs: int,
    *,
    full: bool = False,
    engine: bool = False,
) -> Estimate:
    """Estimate what a probe of these cases costs. Sends nothing.

    `engine` says whether an instrumented engine will be attached, without which two-ended cases are left out.
    """
    callers = cast(configuration.credentials)
    groups: dict[str, Cost] = {}
    for cell in cells_of(cases, full=full):
        cost = _cost(cell, configuration, callers, engine=engine)
        groups[cell.case.group] = groups.get(cell.case.group, Cost()) + cost
    words = _SURVEY_UNITS * max(UNIT_WORDS, configuration.min_prompt_tokens or 0)
    requests = SURVEY_REQUESTS + len(configuration.credentials)
    survey = Cost(requests=requests, tokens=words * _WORD_BYTES // BYTES_PER_TOKEN)
    total = sum(groups.values(), survey)
    at_a_time = min(jobs, configuration.rate.concurrency or jobs)
    rate = configuration.rate.requests_per_second
    seconds = max(
        total.requests * REQUEST_SECONDS / at_a_time, total.requests / rate if rate else 0.0, total.span
    )
    return Estimate(groups, total, seconds, at_a_time)


def _cost(
    cell: Cell, configuration: Configuration, callers: Mapping[Role, Credential], *, engine: bool
) -> Cost:
    if (cell.case.two_ended and not engine) or cell.case.roles(cell.at) - callers.keys() - UNCREDENTIALED:
        return Cost(cells=1, silent=1)
    setting = Setting(
        case=cell.case,
        cell=cell.at,
        nonce=_ANY_NONCE,
        model=configuration.model or "",
        callers=callers,
        unit_words=max(UNIT_WORDS, configuration.min_prompt_tokens or 0),
    )
    bodies = [build(setting, step).body for step in cell.case.steps]
    wait, span = _time(cell.case)
    tokens = sum(len(body) // BYTES_PER_TOKEN for body in bodies)
    return Cost(cells=1, requests=len(bodies), tokens=tokens, wait=wait, span=span)


def _time(case: Case) -> tuple[float, float]:
    """Give the longest wait for one request, and the time from the first request to the last answer."""
    now, longest = 0.0, 0.0
    answered: dict[str, float] = {}
    for step in case.steps:
        if step.after is not None:
            due = answered[step.after.step] + step.after.seconds
            longest = max(longest, due - now)
            now = max(now, due)
        now += REQUEST_SECONDS
        answered[step.id] = now
    return longest, now
