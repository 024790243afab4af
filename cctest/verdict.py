"""Results of checks, what they rest on, and the verdict of a run.

A check is one expectation of one vector or case, in one cell of the axes that it varies over. A verdict
can be green only if every check that it needs was decided.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class Result(StrEnum):
    """What one check came to."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    """A SHOULD was missed, or something happened that no rule covers."""
    UNSUPPORTED = "unsupported"
    """The target says that it doesn't offer this; the check's message quotes where."""
    INCONCLUSIVE = "inconclusive"
    """What the check needed wasn't observed; the message says what was missing."""
    ERROR = "error"
    """The exchange itself broke, so that nothing was learnt."""


class Source(StrEnum):
    """What a verdict rests on, strongest first."""

    ENGINE = "engine"
    """What reached the engine, by the engine's own record."""
    CANARY = "canary"
    """A mark that is unique to each computation and came back a second time."""
    USAGE = "usage"
    """Token counts: `usage.prompt_tokens_details.cached_tokens`."""
    STATUS = "status"
    """The target's own word: `cache_status`."""
    TIMING = "timing"
    RESPONSE = "response"
    """The response as such: HTTP status, error code, document shape."""
    COMPUTATION = "computation"
    """A value computed by the implementation under test from a vector."""


class Outcome(StrEnum):
    """The verdict of a run."""

    CONFORMANT = "conformant"
    NONCONFORMANT = "nonconformant"
    INCOMPLETE = "incomplete"


class Profile(StrEnum):
    """What a check is part of. Both count the same: what a target advertises it must keep."""

    CORE = "core"
    """No capability gates it."""
    EXTENDED = "extended"
    """A capability opens it."""


class Exit(IntEnum):
    """Exit codes of every command."""

    OK = 0
    FAILED = 1
    USAGE = 2
    INCOMPLETE = 3
    UNTESTABLE = 4
    INTERNAL = 70
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Evidence:
    """One observation that a verdict rests on."""

    source: Source
    seen: str


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation, decided.

    `id` is permanent: `case#expectation`. `cell` says where on the axes of the case it was decided
    (for example `{"stream": "streamed", "place": "tools"}`); it is no part of the id. `reproduce` holds the
    exact requests as curl commands, credentials as variables. `vacuous` marks a pass that holds because
    there is nothing that could break it: `message` says why.
    """

    id: str
    rules: tuple[str, ...]
    result: Result
    message: str
    cell: Mapping[str, str] = field(default_factory=dict)
    expected: str = ""
    seen: str = ""
    evidence: tuple[Evidence, ...] = ()
    reproduce: tuple[str, ...] = ()
    seconds: float = 0.0
    vacuous: bool = False
    profile: Profile = Profile.CORE


@dataclass(frozen=True, slots=True)
class Reading:
    """Which of the permitted readings (section 12) an implementation takes, and where that was seen."""

    id: str
    taken: str
    check: str
    cell: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Claim:
    """What an implementation under test says that it is."""

    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a run with the reasons that keep it from being conformant, and its exit code.

    `blockers` are those that the run as a whole lacked, also where a failure outweighs them.
    """

    outcome: Outcome
    exit: Exit
    reasons: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()


def summarise(checks: Sequence[Check]) -> dict[str, int]:
    """Count checks by result, zero included, in the order of `Result`."""
    counts = Counter(check.result for check in checks)
    return {str(result): counts[result] for result in Result}


def decide(checks: Sequence[Check], blockers: Sequence[str] = ()) -> Verdict:
    """Give the verdict of a run.

    Any failure makes it nonconformant, whatever else happened. Otherwise an undecided check, or one of
    `blockers` (things that the run as a whole lacked), makes it incomplete, and so does a run in which
    nothing was shown to hold. Where every check ended in an error the target couldn't be tested.
    """
    counts = Counter(check.result for check in checks)
    if counts[Result.FAIL]:
        failed = _count(counts[Result.FAIL], "failed")
        return Verdict(Outcome.NONCONFORMANT, Exit.FAILED, (failed,), tuple(blockers))
    reasons = list(blockers)
    if counts[Result.ERROR]:
        reasons.append(_count(counts[Result.ERROR], "ended in an error"))
    if counts[Result.INCONCLUSIVE]:
        reasons.append(_count(counts[Result.INCONCLUSIVE], "inconclusive"))
    if counts[Result.ERROR] == len(checks):
        return Verdict(
            Outcome.INCOMPLETE, Exit.UNTESTABLE, (*reasons, "no check was completed"), tuple(blockers)
        )
    if not counts[Result.PASS] + counts[Result.WARN]:
        reasons.append("nothing was shown to hold")
    if reasons:
        return Verdict(Outcome.INCOMPLETE, Exit.INCOMPLETE, tuple(reasons), tuple(blockers))
    return Verdict(Outcome.CONFORMANT, Exit.OK)


def _count(number: int, what: str) -> str:
    return f"{number} check{'' if number == 1 else 's'} {what}"
