"""How the engine misbehaves on demand: rules that say which requests, how often, and in which way.

A rule is `{"match": TEXT, "times": N or null, "do": {...}}`. It touches only requests whose body holds the
text, so that tests which run side by side don't disturb each other. `do` may have

- `delay`: `{"look_up": S, "first": S, "between": S}`, seconds in a queue before anything is looked up, before
  the first byte, and between chunks. For a client who has left the queue nothing is looked up
- `status`: `{"code": N, "body": "error"|"broken"|"empty", "retry_after": S}` instead of an answer
- `cut`: `{"after": CHUNKS, "how": "close"|"end"|"error"}`: a stream is broken off after so many chunks, with
  the connection, in good order but without `[DONE]`, or by an error event; a plain answer in the middle
- `retain`: false keeps nothing of what is computed
- `usage`: one of `UsageFault`
- `finish_reason`: the reason to give, `length` or `content_filter` say
- `sse`: a list out of `Dialect`
- `answer`: `empty` or `null` instead of the answer's body, with status 200
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeVar

from cctest.contract.source import JsonValue, child
from cctest.instrument.bodytext import holds

RULE_LIMIT: Final = 1_000
"""Most rules at a time."""
DELAY_LIMIT: Final = 600
"""Most seconds of a delay."""

_MEMBERS: Final = frozenset({"delay", "status", "cut", "retain", "usage", "finish_reason", "sse", "answer"})
_E = TypeVar("_E", bound=StrEnum)


class MisbehaviourError(ValueError):
    """The rules can't be read; the message says where and why."""


class ErrorBody(StrEnum):
    """The body of an error response."""

    ERROR = "error"
    BROKEN = "broken"
    EMPTY = "empty"


class CutHow(StrEnum):
    """How an answer is broken off."""

    CLOSE = "close"
    END = "end"
    ERROR = "error"


class UsageFault(StrEnum):
    """What is wrong with the usage."""

    ABSENT = "absent"
    NULL_DETAILS = "null_details"
    STRING = "string"
    BOOLEAN = "boolean"
    """The count is spelt `false`."""
    LARGER_THAN_PROMPT = "larger_than_prompt"
    SPLIT = "split"
    """Spread over three chunks of a stream; a plain answer is unaffected."""
    EVERY_CHUNK = "every_chunk"
    """In every chunk of a stream, asked for or not; a plain answer is unaffected."""


class Dialect(StrEnum):
    """A permitted but rarer way to write a stream."""

    NO_SPACE = "no_space"
    CRLF = "crlf"
    COMMENTS = "comments"
    MULTI_LINE = "multi_line"
    EVENT_NAMES = "event_names"
    """The chunks' events have a name."""
    PINGS = "pings"
    """There are events of another name between the chunks."""
    EMPTY_CHOICES = "empty_choices"
    """Some chunks have no choices."""


class AnswerFault(StrEnum):
    """What comes with status 200 instead of an answer."""

    EMPTY = "empty"
    NULL = "null"


@dataclass(frozen=True, slots=True)
class ErrorStatus:
    """An error status with its body; `retry_after` is in seconds."""

    code: int
    body: ErrorBody = ErrorBody.ERROR
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """Where and how an answer is broken off."""

    after: int
    how: CutHow = CutHow.CLOSE


@dataclass(frozen=True, slots=True)
class Misbehaviour:
    """What is done to one request. `told` is the `do` that it was made of."""

    delay_look_up: float = 0.0
    delay_first: float = 0.0
    delay_between: float = 0.0
    status: ErrorStatus | None = None
    cut: Cut | None = None
    retains: bool = True
    usage: UsageFault | None = None
    finish_reason: str = "stop"
    dialects: frozenset[Dialect] = frozenset()
    answer: AnswerFault | None = None
    told: JsonValue = None


@dataclass(slots=True)
class Rule:
    """Which requests misbehave, and how many more of them (None: any number)."""

    match: str
    do: Misbehaviour
    times: int | None = None

    def to_json(self) -> dict[str, JsonValue]:
        """Give the rule as it was put, with the times that are left."""
        return {"match": self.match, "times": self.times, "do": self.do.told}


@dataclass(slots=True)
class Rules:
    """The rules in force: the first one that a body matches applies. One that is used up is gone."""

    rules: list[Rule] = field(default_factory=list)

    def put(self, new: list[Rule]) -> None:
        """Add rules; earlier ones with the same text are replaced. Raises MisbehaviourError."""
        replaced = {rule.match for rule in new}
        rules = [rule for rule in self.rules if rule.match not in replaced] + new
        if len(rules) > RULE_LIMIT:
            raise MisbehaviourError(f"there would be {len(rules)} rules, and {RULE_LIMIT} are allowed")
        self.rules = rules

    def remove(self, match: str | None) -> None:
        """Remove the rules with this text, or all."""
        self.rules = [rule for rule in self.rules if match is not None and rule.match != match]

    def take(self, body: bytes) -> Misbehaviour:
        """Give what is to be done to a request with this body, and count it."""
        for rule in self.rules:
            if holds(body, rule.match):
                if rule.times is not None:
                    rule.times -= 1
                    self.rules = [kept for kept in self.rules if kept.times != 0]
                return rule.do
        return Misbehaviour()


def read_rules(value: JsonValue) -> list[Rule]:
    """Read a list of rules. Raises MisbehaviourError."""
    if not isinstance(value, list):
        raise MisbehaviourError("the rules must be an array")
    return [_rule(item, f"/{index}") for index, item in enumerate(value)]


def _rule(value: JsonValue, at: str) -> Rule:
    members = _object(value, at, {"match", "times", "do"})
    match = members.get("match")
    if not isinstance(match, str):
        raise MisbehaviourError(f"{at}/match: must be a string")
    times = members.get("times")
    count = None if times is None else _integer(times, f"{at}/times", 1, 1_000_000)
    return Rule(match, _misbehaviour(members.get("do"), f"{at}/do"), count)


def _misbehaviour(value: JsonValue, at: str) -> Misbehaviour:
    members = _object(value, at, _MEMBERS)
    delay = _object(members.get("delay", {}), f"{at}/delay", {"look_up", "first", "between"})
    retains = members.get("retain", True)
    if not isinstance(retains, bool):
        raise MisbehaviourError(f"{at}/retain: must be true or false")
    reason = members.get("finish_reason", "stop")
    if not isinstance(reason, str):
        raise MisbehaviourError(f"{at}/finish_reason: must be a string")
    dialects = members.get("sse", [])
    if not isinstance(dialects, list):
        raise MisbehaviourError(f"{at}/sse: must be an array")
    return Misbehaviour(
        delay_look_up=_seconds(delay.get("look_up", 0), f"{at}/delay/look_up"),
        delay_first=_seconds(delay.get("first", 0), f"{at}/delay/first"),
        delay_between=_seconds(delay.get("between", 0), f"{at}/delay/between"),
        status=_status(members["status"], f"{at}/status") if "status" in members else None,
        cut=_cut(members["cut"], f"{at}/cut") if "cut" in members else None,
        retains=retains,
        usage=_one_of(UsageFault, members["usage"], f"{at}/usage") if "usage" in members else None,
        finish_reason=reason,
        dialects=frozenset(_one_of(Dialect, name, f"{at}/sse") for name in dialects),
        answer=_one_of(AnswerFault, members["answer"], f"{at}/answer") if "answer" in members else None,
        told=value,
    )


def _status(value: JsonValue, at: str) -> ErrorStatus:
    members = _object(value, at, {"code", "body", "retry_after"})
    after = members.get("retry_after")
    return ErrorStatus(
        code=_integer(members.get("code"), f"{at}/code", 400, 599),
        body=_one_of(ErrorBody, members.get("body", "error"), f"{at}/body"),
        retry_after=None if after is None else _integer(after, f"{at}/retry_after", 0, 86_400),
    )


def _cut(value: JsonValue, at: str) -> Cut:
    members = _object(value, at, {"after", "how"})
    after = _integer(members.get("after"), f"{at}/after", 0, 1_000)
    return Cut(after, _one_of(CutHow, members.get("how", "close"), f"{at}/how"))


def _object(value: JsonValue, at: str, names: Collection[str]) -> dict[str, JsonValue]:
    if not isinstance(value, dict):
        raise MisbehaviourError(f"{at}: must be an object")
    for name in value:
        if name not in names:
            raise MisbehaviourError(f"{child(at, name)}: unknown; known: {', '.join(sorted(names))}")
    return value


def _integer(value: JsonValue, at: str, least: int, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise MisbehaviourError(f"{at}: must be an integer from {least} to {most}")
    return value


def _seconds(value: JsonValue, at: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= DELAY_LIMIT:
        raise MisbehaviourError(f"{at}: must be seconds, from 0 to {DELAY_LIMIT}")
    return float(value)


def _one_of(kind: type[_E], value: JsonValue, at: str) -> _E:
    for member in kind:
        if value == member:
            return member
    raise MisbehaviourError(f"{at}: must be one of {', '.join(kind)}")
