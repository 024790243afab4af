"""The outcome of a search: all findings, and whether the vocabulary is minimal."""

from dataclasses import dataclass

from cctest.minimality.behaviour import Observed
from cctest.minimality.composition import judge_composition
from cctest.minimality.constraints import judge_constraints
from cctest.minimality.equalities import judge_equalities
from cctest.minimality.finding import Answer, Finding
from cctest.minimality.hints import judge_hints
from cctest.minimality.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search on a vocabulary came to; `seconds` is what it took."""

    vocabulary: Vocabulary
    observed: Observed
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def objections(self) -> tuple[Finding, ...]:
        """The findings that speak against a member, a value or a stated equality."""
        return tuple(finding for finding in self.findings if finding.answer is Answer.NO)

    @property
    def minimal(self) -> bool:
        """Whether every member and value is worth its place."""
        return not self.objections

    @property
    def behaviours(self) -> int:
        """How many different behaviours the settings have."""
        return len(set(self.observed.singles.values()))


def judge(vocabulary: Vocabulary, observed: Observed, seconds: float = 0.0) -> Outcome:
    """Judge what a search saw."""
    findings = (
        *judge_constraints(vocabulary, observed),
        *judge_composition(vocabulary, observed),
        *judge_hints(vocabulary, observed),
        *judge_equalities(vocabulary, observed),
    )
    return Outcome(vocabulary, observed, findings, seconds)
