"""What the contract leaves to an implementation costs it no vector, whichever way it goes."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from cctest.contract.source import JsonValue
from cctest.vectors.core import Core
from cctest.vectors.implementation import (
    Admission,
    Document,
    Implementation,
    Intent,
    Opinion,
    Party,
    Retained,
    Seconds,
)
from cctest.vectors.load import bundled_vectors
from cctest.vectors.run import run_vectors
from cctest.verdict import Result


class TakesNoHint(Core):
    """Ignores every hint that it may (HNT-1), and clips what is above its maximum (STA-10)."""

    def hints(self, intent: Intent, reuse_within_max: int | None) -> Mapping[str, JsonValue]:
        told = super().hints(intent, reuse_within_max)
        return {name: "clipped" if report == "clipped" else "ignored" for name, report in told.items()}


class LooksInItsOwnPartition(Core):
    """Reads state of its own boundary only (READ-12), and so computes nothing from any other."""

    def admit(self, retained: Retained, requester: Party, now: Seconds, share_max: str) -> Admission:
        answer = super().admit(retained, requester, now, share_max)
        mine = answer.may_read and answer.boundary == retained.scope
        return answer if mine else Admission(may_read=False, boundary=None)


class RepairsSurrogates(Core):
    """Reads a lone surrogate as U+FFFD, as many parsers do; no rule covers it."""

    def validate(self, document: Document) -> tuple[Opinion, ...]:
        told = tuple(super().validate(document))
        return tuple(replace(each, valid=True) if "surrogate" in each.reason else each for each in told)


@pytest.mark.parametrize("implementation", [TakesNoHint(), LooksInItsOwnPartition(), RepairsSurrogates()])
def test_another_permitted_answer_passes_every_vector(implementation: Implementation) -> None:
    checks, _, _ = run_vectors(bundled_vectors(), implementation)
    assert [check.id for check in checks if check.result is not Result.PASS] == []
