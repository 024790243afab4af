"""Where the fragments of a step stand in the conversation.

Roles alternate as strict chat templates demand, so that a refusal is about the intent and not about the
conversation. A cell with a `position` puts its one governed fragment among filler, which has an intent of
its own so that ignoring the governed one shows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from cctest.probe.case import Case, FragmentSpec, Place, Step

FEW: Final = 2
MANY: Final = 19
"""Filler fragments beside the governed one: 20 in all, beyond any small fixed bound in an implementation."""

FILLER: Final = "filler"
"""Name of filler texts, followed by a dash and a number."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One fragment in its place; `role` is the message's role, "" for a tool definition.

    `calls` marks an assistant's message that calls the tool whose result comes next.
    """

    spec: FragmentSpec
    place: Place
    role: str = ""
    calls: bool = False


def arrange(case: Case, cell: Mapping[str, str], step: Step) -> tuple[Slot, ...]:
    """Give every fragment of `step` its place; the last one is the user's question by default."""
    *others, last = step.fragments
    usual = Place(cell.get("place", Place.MESSAGES))
    question = Slot(last, last.place or Place.USER, "user")
    if "position" in cell and len(others) == 1:
        return (*_among_filler(case, cell, others[0], usual), question)
    roles = _turns()
    slots = [_slot(spec, spec.place or usual, roles) for spec in others]
    if slots and slots[-1].role == "user" and question.role == "user":
        slots.append(Slot(FragmentSpec(f"{FILLER}-0"), Place.ASSISTANT, "assistant"))
    return (*slots, question)


def _slot(spec: FragmentSpec, place: Place, roles: Iterator[str]) -> Slot:
    return Slot(spec, place, next(roles) if place is Place.MESSAGES else role_of(place))


def role_of(place: Place) -> str:
    """The role of a message in a place that is named after it."""
    match place:
        case Place.TOOLS:
            return ""
        case Place.PARTS | Place.MESSAGES:
            return "user"
        case Place.RESULT:
            return "tool"
    return str(place)


def _turns() -> Iterator[str]:
    """Roles of messages in order; none depends on how many follow, so that steps share beginnings."""
    yield "system"
    while True:
        yield "user"
        yield "assistant"


def _among_filler(case: Case, cell: Mapping[str, str], governed: FragmentSpec, place: Place) -> list[Slot]:
    total = MANY if cell.get("count") == "many" else FEW
    before = {"first": 0, "middle": total // 2, "last": total}[cell["position"]]
    conversation = _Conversation(case, place)
    for _ in range(before):
        conversation.fill()
    conversation.put(governed)
    for _ in range(total - before):
        conversation.fill()
    return conversation.ready_for_question()


class _Conversation:
    """Messages, or tool definitions, that grow one by one and stay a valid conversation."""

    def __init__(self, case: Case, place: Place) -> None:
        self._intent = case.filler
        self._place = place
        self._slots: list[Slot] = []
        self._turn = "user"

    def fill(self, *, calls: bool = False) -> None:
        """Add one filler fragment; only tools have no turns."""
        spec = FragmentSpec(f"{FILLER}-{len(self._slots)}", self._intent)
        if self._place is Place.TOOLS:
            self._slots.append(Slot(spec, Place.TOOLS))
            return
        self._slots.append(Slot(spec, Place(self._turn), self._turn, calls))
        self._turn = "assistant" if self._turn == "user" else "user"

    def put(self, governed: FragmentSpec) -> None:
        """Add the governed fragment, after whatever filler makes it this fragment's turn."""
        needed = {
            Place.USER: "user",
            Place.PARTS: "user",
            Place.ASSISTANT: "assistant",
            Place.RESULT: "assistant",
        }
        wanted = needed.get(self._place, self._turn)
        if self._turn != wanted:
            self.fill()
        if self._place is Place.RESULT:
            self.fill(calls=True)
            self._turn = "assistant"
        elif self._place in needed:
            self._turn = "assistant" if self._turn == "user" else "user"
        self._slots.append(Slot(governed, self._place, role_of(self._place)))

    def ready_for_question(self) -> list[Slot]:
        """The slots, closed by an assistant's turn so that the question can follow."""
        if self._place is not Place.TOOLS and self._turn != "user":
            self.fill()
        return self._slots
