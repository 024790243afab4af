"""What a search comes to: answers to questions about members and values, each with concrete inputs."""

from dataclasses import dataclass
from enum import StrEnum

from cctest.minimality.behaviour import Behaviour, Observation, Subject


class Question(StrEnum):
    """What is asked about a member, a value, or the vocabulary as a whole."""

    DISCRIMINATES = "discriminates"
    """Do its values, everything else being equal, behave differently?"""
    IRREDUCIBLE = "irreducible"
    """Is there, whatever one value it is fixed to, a behaviour that no setting of the others gives?"""
    NEEDED = "needed"
    """Is a behaviour lost without this value?"""
    WIDENS = "widens"
    """Does the value differ from the narrower one only on input that this one can't serve?"""
    COMPOSED = "composed"
    """Do two fragments reach every composed value, and nothing else?"""
    REPORTED = "reported"
    """Is the hint reported?"""
    CLIPPED = "clipped"
    """Can its value be told by where clipping begins?"""
    HARMLESS = "harmless"
    """Does the hint change nothing but its report?"""
    STATED = "equal as stated"
    """Are settings equal that are so by the rules?"""
    UNSTATED = "otherwise different"
    """Are all other settings different?"""


class Answer(StrEnum):
    """How a question was answered."""

    YES = "yes"
    BY_REPORT = "by report only"
    """Yes, but only `cache_status` shows it: what the cache does is the same."""
    BY_RULE = "equal by rule"
    """No, and the rules themselves say so."""
    NO = "no"


@dataclass(frozen=True, slots=True)
class Witness:
    """Two requests, in settings, and what the observation `seen_by` (None: no difference) was after each."""

    one: Subject
    other: Subject
    seen_by: str | None = None
    one_saw: str = ""
    other_saw: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer. `value` is None where it is about a member, `member` is empty where about all of them."""

    question: Question
    answer: Answer
    member: str
    text: str
    value: str | None = None
    witnesses: tuple[Witness, ...] = ()

    @property
    def about(self) -> str:
        """What the finding is about."""
        return self.member if self.value is None else f"{self.member}={self.value}"


def alike(one: Subject, other: Subject) -> Witness:
    """Make the witness of two settings that nobody can tell apart."""
    return Witness(one, other)


def told_apart(one: Subject, seen: Behaviour, other: Subject, other_seen: Behaviour) -> Witness:
    """Make the witness of two settings that differ, by the observation that tells most."""
    name = seen.differences(other_seen)[0]
    mine, theirs = seen[name], other_seen[name]
    return Witness(one, other, name, *_sides(mine, theirs))


def _sides(one: Observation, other: Observation) -> tuple[str, str]:
    """Say of two observations what differs: the effect, or else the reports."""
    if one.effect is not other.effect:
        return str(one.effect), str(other.effect)
    return one.report, other.report
