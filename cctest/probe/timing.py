"""The channel that neither status nor usage shows: whether state of another tenant makes a response faster.

Latency is never the sole evidence of a hit, so a difference is a warning, with its size and its confidence.
Trials are interleaved and every text is fresh. The control is the caller's own warm against cold: where
even these can't be told apart by time, nobody else's can.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from cctest.probe.case import Case, FragmentSpec, Role, Step
from cctest.probe.performing import CHAT_PATH
from cctest.probe.prompt import Setting, build
from cctest.probe.stage import Stage
from cctest.target.exchange import Request
from cctest.verdict import Check, Evidence, Result, Source

TRIALS: Final = 40
"""Trials of four requests each."""

ALPHA: Final = 1e-4
"""Chance of a difference this clear, if there is none, below which it is told."""

_TENANT: Final = "tenant"

CHECK: Final = "timing#no-faster-for-others"
"""The identifier of the one check, which belongs to no case of the suite."""

_CASE: Final = Case(
    id="timing",
    title="State of another tenant makes no response faster",
    rules=("STA-11", "SHR-2"),
    texts={"prefix": 3, "fresh": 3, "question": 0.05},
    intents={
        _TENANT: {
            "version": 1,
            "constraints": {"retention": {"mode": "allow"}, "reuse": "exact", "share_max": "tenant"},
        }
    },
    steps=(),
    expectations=(),
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two samples of seconds, compared by rank.

    `faster` is the share of pairs in which the first sample's value is the smaller one (0.5: no difference);
    `chance` is that of so large a share if both were alike (one-sided Mann-Whitney test, normal
    approximation with tie correction).
    """

    faster: float
    chance: float

    @property
    def clear(self) -> bool:
        """Whether the first sample is plainly faster."""
        return self.chance < ALPHA


def compare(first: Sequence[float], second: Sequence[float]) -> Comparison:
    """Compare two samples by rank. Raises ValueError if one is empty."""
    if not first or not second:
        raise ValueError("both samples need values")
    pooled = [*first, *second]
    ranks: dict[float, float] = {}
    ties = 0
    for value in set(pooled):
        below, equal = sum(other < value for other in pooled), pooled.count(value)
        ranks[value] = below + (equal + 1) / 2
        ties += equal**3 - equal
    n, m, total = len(first), len(second), len(pooled)
    larger = sum(ranks[value] for value in first) - n * (n + 1) / 2
    faster = 1 - larger / (n * m)
    spread = math.sqrt(n * m / 12 * (total + 1 - ties / (total * (total - 1))))
    if spread == 0:
        return Comparison(0.5, 1.0)
    z = (n * m / 2 - larger - 0.5) / spread
    return Comparison(faster, 0.5 * math.erfc(z / math.sqrt(2)))


def timing_check(stage: Stage, trials: int = TRIALS) -> Check:
    """Run the trials and judge them; needs a caller of another tenant."""
    samples: dict[str, list[float]] = {"cold": [], "warm": [], "foreign": [], "unknown": []}
    if Role.OTHER_TENANT not in stage.callers:
        return _check(Result.INCONCLUSIVE, stage.absences[Role.OTHER_TENANT])
    for trial in range(trials):
        for name, seconds in _trial(stage, trial):
            if seconds is None:
                return _check(Result.ERROR, f"a request of trial {trial + 1} was not served")
            samples[name].append(seconds)
    control = compare(samples["warm"], samples["cold"])
    foreign = compare(samples["foreign"], samples["unknown"])
    return _judge(control, foreign, trials)


def _judge(control: Comparison, foreign: Comparison, trials: int) -> Check:
    evidence = (
        Evidence(Source.TIMING, f"own warm against cold: {_in_words(control)}"),
        Evidence(Source.TIMING, f"another tenant's prefix against an unknown one: {_in_words(foreign)}"),
    )
    if foreign.clear:
        message = f"in {trials} trials another tenant's prefix was answered faster than an unknown one"
        return _check(Result.WARN, message, evidence)
    if not control.clear:
        message = f"in {trials} trials time didn't even tell warm from cold, so it tells nobody anything"
        return _check(Result.PASS, message, evidence, vacuous=True)
    return _check(
        Result.PASS, f"in {trials} trials time told warm from cold, but nothing across tenants", evidence
    )


def _trial(stage: Stage, number: int) -> list[tuple[str, float | None]]:
    nonce = hashlib.sha256(f"{stage.nonce}\0timing\0{number}".encode()).hexdigest()[:12]
    setting = Setting(
        case=_CASE,
        cell={},
        nonce=nonce,
        model=stage.model,
        callers=stage.callers,
        unit_words=stage.unit_words,
    )
    outside = [("foreign", "prefix", Role.OTHER_TENANT), ("unknown", "fresh", Role.OTHER_TENANT)]
    order = [("cold", "prefix", Role.SELF), ("warm", "prefix", Role.SELF)]
    order += outside if number % 2 else outside[::-1]
    return [(name, _seconds(stage, setting, text, role)) for name, text, role in order]


def _seconds(stage: Stage, setting: Setting, text: str, role: Role) -> float | None:
    step = Step("ask", role, (FragmentSpec(text, _TENANT), FragmentSpec("question")), body={"max_tokens": 1})
    built = build(setting, step)
    headers = (("Content-Type", "application/json"),)
    request = Request("POST", CHAT_PATH, headers, built.body, setting.callers[role])
    seen = stage.courier.deliver(step, built, request, streamed=False)
    return seen.response.ended - seen.response.started if seen.answered and seen.response else None


def _in_words(comparison: Comparison) -> str:
    return f"faster in {comparison.faster:.0%} of pairs, p = {comparison.chance:.2g}"


def _check(
    result: Result, message: str, evidence: tuple[Evidence, ...] = (), *, vacuous: bool = False
) -> Check:
    return Check(
        id=CHECK,
        rules=_CASE.rules,
        result=result,
        message=message,
        expected="no difference between another tenant's prefix and an unknown one",
        evidence=evidence,
        vacuous=vacuous,
    )
