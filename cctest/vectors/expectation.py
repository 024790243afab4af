"""From an expectation and what the implementation under test makes of it to a check.

What is expected stands in the vector as a literal, or as a choice: a mapping with `permitted`, whose keys are
the permitted results, each with the option of the open question `reading` (section 12) that it means.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from cctest.contract.source import JsonValue
from cctest.vectors.implementation import AnswerError, NotOffered, Refused
from cctest.vectors.model import Vector, VectorResult
from cctest.verdict import Check, Evidence, Reading, Result, Source

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Observation:
    """What came of a vector, compared: `taken` pairs open questions with the option that was taken."""

    holds: bool
    seen: JsonValue
    message: str
    taken: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that a vector expects. `observe` asks the implementation; it may raise whatever that does."""

    name: str
    expected: JsonValue
    observe: Callable[[], Observation]


def decide(vector: Vector, expectations: Iterable[Expectation], unasserted: int = 0) -> VectorResult:
    """Make one check of each expectation.

    What isn't offered is unsupported, and a refused intent is a failure. Any other exception from the
    implementation ends that check alone, as an error.
    """
    checks: list[Check] = []
    readings: list[Reading] = []
    for expectation in expectations:
        name = f"{vector.name}#{expectation.name}"
        started = time.perf_counter()
        result, observation = _observed(expectation)
        readings.extend(Reading(question, option, name) for question, option in observation.taken)
        seen = compact(observation.seen) if result in (Result.PASS, Result.FAIL) else ""
        checks.append(
            Check(
                id=name,
                rules=vector.rules,
                result=result,
                message=observation.message,
                expected=compact(expectation.expected),
                seen=seen,
                evidence=(Evidence(Source.COMPUTATION, seen or observation.message),),
                seconds=time.perf_counter() - started,
            )
        )
    return VectorResult(tuple(checks), tuple(readings), unasserted)


def _observed(expectation: Expectation) -> tuple[Result, Observation]:
    try:
        observation = expectation.observe()
    except NotOffered as declined:
        return Result.UNSUPPORTED, Observation(holds=False, seen=None, message=str(declined))
    except Refused as refusal:
        return Result.FAIL, Observation(holds=False, seen=None, message=f"an intent was refused: {refusal}")
    except AnswerError as error:
        return Result.ERROR, Observation(holds=False, seen=None, message=str(error))
    except Exception as error:  # whatever a broken implementation raises must not end the run
        message = f"{type(error).__name__}: {error}"
        return Result.ERROR, Observation(holds=False, seen=None, message=message)
    return Result.PASS if observation.holds else Result.FAIL, observation


def once(ask: Callable[[], _T]) -> Callable[[], _T]:
    """Ask at most once, when the first expectation needs the answer. An exception is an answer, too."""
    answers: list[_T] = []
    raised: list[Exception] = []

    def answer() -> _T:
        if raised:
            raise raised[0]
        if not answers:
            try:
                answers.append(ask())
            except Exception as error:
                raised.append(error)
                raise
        return answers[0]

    return answer


def compare(subject: str, expected: Any, seen: JsonValue) -> Observation:
    """Compare a result with a literal or a choice; `subject` says in words what it is a result of."""
    if not is_choice(expected):
        holds = seen == expected and isinstance(seen, bool) is isinstance(expected, bool)
        verb = "is" if holds else f"should be {word(expected)} and is"
        return Observation(holds, seen, f"{subject} {verb} {word(seen)}")
    permitted = expected["permitted"]
    if word(seen) not in permitted:
        return Observation(
            holds=False,
            seen=seen,
            message=f"{subject} should be {' or '.join(permitted)} and is {word(seen)}",
        )
    message = f"{subject} is {word(seen)}, which the contract permits"
    return Observation(holds=True, seen=seen, message=message, taken=_taken(expected, word(seen)))


def is_choice(expected: Any) -> bool:
    """Tell a choice from a literal."""
    return isinstance(expected, Mapping) and "permitted" in expected


def _taken(choice: Mapping[str, Any], seen: str) -> tuple[tuple[str, str], ...]:
    """Name the option that was taken, if the result leaves only one."""
    options = choice["permitted"][seen]
    if "reading" not in choice or not isinstance(options, str):
        return ()
    return ((choice["reading"], options),)


def word(value: JsonValue) -> str:
    """Spell a value for a message, and as a key of `permitted`."""
    return value if isinstance(value, str) else compact(value)


def compact(value: JsonValue) -> str:
    """Spell a value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
