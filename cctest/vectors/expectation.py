"""From an expectation and what the core makes of it to a check.

What is expected stands in the vector as a literal, or as a choice: a mapping with `permitted`, whose keys are
the permitted results, each with the option of the open question `reading` (section 12) that it means.
"""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cctest.contract.source import JsonValue
from cctest.vectors.model import Vector, VectorResult
from cctest.verdict import Check, Evidence, Reading, Result, Source


@dataclass(frozen=True, slots=True)
class Observation:
    """What the core made of a vector, compared: `taken` pairs open questions with the option it took."""

    holds: bool
    seen: JsonValue
    message: str
    taken: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that a vector expects. `observe` asks the core, and may raise whatever the core raises."""

    name: str
    expected: JsonValue
    observe: Callable[[], Observation]


def decide(vector: Vector, expectations: Iterable[Expectation], unasserted: int = 0) -> VectorResult:
    """Make one check of each expectation. An exception from the core ends that check alone, as an error."""
    checks: list[Check] = []
    readings: list[Reading] = []
    for expectation in expectations:
        name = f"{vector.name}#{expectation.name}"
        started = time.perf_counter()
        try:
            observation = expectation.observe()
        except Exception as error:  # whatever a broken core raises must not end the run
            observation = Observation(holds=False, seen=None, message=f"{type(error).__name__}: {error}")
            result = Result.ERROR
        else:
            result = Result.PASS if observation.holds else Result.FAIL
        readings.extend(Reading(question, option, name) for question, option in observation.taken)
        seen = "" if result is Result.ERROR else compact(observation.seen)
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
