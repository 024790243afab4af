"""Who asks what, and when, in a mixed load of tenants; and what the application lets each request reuse.

All prompts begin with the same public tools. Each tenant has a system prompt of its own, each of its
principals a note that nobody else may read, and each request a question. Requests come by a Poisson process.
Some tenants ask far more often than others: the second half as often as the first, the third a third as
often. One request in ten repeats the bytes of an earlier one, sent by a colleague or by a stranger: what
somebody does who has guessed a text, and would like to have it confirmed.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from reference_gateway.live.chat import Json, intent, message, text, tool
from reference_gateway.live.gateway import PRINCIPALS

TENANTS: Final = 20

_TOOLS: Final = 8
_TOOL_SENTENCES: Final = 20
_SYSTEM_SENTENCES: Final = 10
_NOTE_SENTENCES: Final = 5
_QUESTION_SENTENCES: Final = 3
_REPEATED: Final = 10
"""Every so many requests one repeats another's bytes."""


@dataclass(frozen=True, slots=True)
class Someone:
    """A principal of a tenant."""

    tenant: int
    principal: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request that `sender` sends `at` so many seconds: texts of `author`, and a question by its number."""

    at: float
    sender: Someone
    author: Someone
    question: int


def arrivals(seconds: float, rate: float, seed: int) -> tuple[Arrival, ...]:
    """Draw the requests of so many seconds, `rate` a second on average; the same for the same seed."""
    drawn = random.Random(seed)  # noqa: S311 - no secret
    weights = [1 / (1 + tenant) for tenant in range(TENANTS)]
    found: list[Arrival] = []
    at = drawn.expovariate(rate)
    while at < seconds:
        number = len(found)
        if number % _REPEATED == _REPEATED - 1:
            found.append(_repeating(at, drawn.choice(found), number, drawn))
        else:
            (tenant,) = drawn.choices(range(TENANTS), weights)
            someone = Someone(tenant, drawn.choice(PRINCIPALS))
            found.append(Arrival(at, someone, someone, number))
        at += drawn.expovariate(rate)
    return tuple(found)


def _repeating(at: float, earlier: Arrival, number: int, drawn: random.Random) -> Arrival:
    """Let a colleague of its sender and a stranger repeat a request, in turn."""
    own = earlier.sender
    if number // _REPEATED % 2:
        (colleague,) = (principal for principal in PRINCIPALS if principal != own.principal)
        sender = Someone(own.tenant, colleague)
    else:
        others = [tenant for tenant in range(TENANTS) if tenant != own.tenant]
        sender = Someone(drawn.choice(others), own.principal)
    return Arrival(at, sender, earlier.author, earlier.question)


class Texts:
    """The texts of a load, made when they are first asked for; nobody has sent them before."""

    def __init__(self) -> None:
        self._systems: dict[int, Json] = {}
        self._notes: dict[Someone, Json] = {}
        self._questions: dict[int, Json] = {}

    @cached_property
    def tools(self) -> tuple[Json, ...]:
        """The public ones, which come first in all prompts."""
        return tuple(
            tool(f"tool_{number}", text(_TOOL_SENTENCES), intent("public")) for number in range(_TOOLS)
        )

    def prompt(self, arrival: Arrival) -> tuple[Json, ...]:
        """Give the fragments of a request: tools, system prompt, note, question."""
        author, number = arrival.author, arrival.question
        system = self._systems.get(author.tenant) or message(
            text(_SYSTEM_SENTENCES), "system", intent("tenant")
        )
        note = self._notes.get(author) or message(text(_NOTE_SENTENCES), "user", intent("principal"))
        question = self._questions.get(number) or message(
            text(_QUESTION_SENTENCES), "user", intent("principal")
        )
        self._systems[author.tenant], self._notes[author], self._questions[number] = system, note, question
        return (*self.tools, system, note, question)


def shared_parts(reader: Someone, writer: Someone) -> int:
    """Give how many of tools, system prompt, note and question a reader may be lent, in that order: 1 to 4.

    That is by what the application says of each; a reader is lent no more than is the same in both prompts.
    """
    if reader.tenant != writer.tenant:
        return 1
    return 4 if reader == writer else 2


def authors(load: Sequence[Arrival]) -> dict[Someone, Arrival]:
    """Give a request of each whose texts are sent."""
    return {arrival.author: arrival for arrival in load}
