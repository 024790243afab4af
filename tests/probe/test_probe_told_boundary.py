"""What the suite makes of the boundary that a status tells (STA-7)."""

from collections.abc import Iterator
from typing import Any

import pytest

from cctest.contract.vocabulary import Scope
from cctest.probe.case import Case
from cctest.probe.load import load_cases


def judged(case: Case) -> Iterator[tuple[str, str, Scope]]:
    """Each step and text whose `effective_share` is judged, and the widest that is permitted of it."""
    for expectation in case.expectations:
        entries: Any = expectation.arguments.get("entries") or {}
        for text, members in entries.items() if expectation.predicate == "status_says" else ():
            if "effective_share" in members:
                widest = max((Scope(word) for word in members["effective_share"]), key=lambda it: it.rank)
                yield str(expectation.step), text, widest


CASES = [case for case in load_cases() if any(judged(case))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_boundary_is_judged_only_where_no_state_was_made_under_a_wider_one(case: Case) -> None:
    """Else who reads such state (READ-12) and tells of its boundary would fail, which is permitted (F-62)."""
    order = [step.id for step in case.steps]
    for judged_step, text, widest in judged(case):
        for step in case.steps[: order.index(judged_step)]:
            for fragment in step.fragments:
                if fragment.text == text and fragment.intent is not None:
                    intent: Any = case.intents[fragment.intent]
                    asked = Scope(intent["constraints"]["share_max"])
                    assert asked.rank <= widest.rank, (judged_step, step.id)


def test_there_are_such_cases() -> None:
    assert "status-boundary" in {case.id for case in CASES}
