"""Coverage as values: rows of rules and topics, what runs showed of each, and what is missing."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from cctest.catalogue import Requirement
from cctest.verdict import Outcome, Result, Source


class State(StrEnum):
    """Whether a run tested something, or why not."""

    TESTED = "tested"
    UNDECIDED = "undecided"
    """Checks ran, and the evidence that they needed was missing or the exchange broke."""
    UNSUPPORTED = "unsupported"
    """The target says that it doesn't offer this."""
    NOT_RUN = "not run"
    UNOBSERVABLE = "not observable"
    """Nobody can see from outside whether the rule is kept; what was seen of it counts for nothing."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something wasn't tested, or not by all of its checks: the words of `checks` of them.

    `result` is None, and `checks` 0, where no check ran at all.
    """

    message: str
    result: Result | None = None
    checks: int = 0


@dataclass(frozen=True, slots=True)
class Tested:
    """What one run shows of one row: checks by result, those that were decided by evidence, and why not."""

    state: State
    results: Mapping[Result, int]
    evidence: Mapping[Source, int]
    reasons: tuple[Reason, ...] = ()

    @property
    def word(self) -> str:
        """The worst result of a row that was tested; otherwise its state."""
        if self.state is not State.TESTED:
            return str(self.state)
        return next(str(result) for result in DECIDED if self.results.get(result))


DECIDED = (Result.FAIL, Result.WARN, Result.PASS)
"""Results that say something about the target, worst first."""


@dataclass(frozen=True, slots=True)
class Row:
    """One rule, interoperability test or topic: what exercises it, and what each run shows of it, in order.

    `name` is a rule's identifier, a test's number or a topic's name. `checks` are those of `cases`, as
    `case#expectation`; a vector stands for all of its checks. `because` says why nothing can be observed, or
    why no schema can say this.
    """

    name: str
    text: str
    rules: tuple[str, ...]
    vectors: tuple[str, ...]
    cases: tuple[str, ...]
    checks: tuple[str, ...]
    tested: tuple[Tested, ...] = ()
    because: str | None = None


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A row of the table of rules, and the rule."""

    rule: Requirement
    row: Row


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that the suite itself lacks, gets wrong or has lost: which rule, vector or case, and what."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class Run:
    """A run that coverage takes in. `same_suite` is false where it was made with another suite than this."""

    name: str
    command: str
    target: str | None
    outcome: Outcome
    started: str
    same_suite: bool


@dataclass(frozen=True, slots=True)
class Coverage:
    """The whole: three tables over the same runs, and the gaps."""

    runs: tuple[Run, ...]
    rules: tuple[RuleRow, ...]
    interoperability: tuple[Row, ...]
    beyond_schemas: tuple[Row, ...]
    gaps: tuple[Gap, ...]
