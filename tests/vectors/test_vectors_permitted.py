"""What the contract leaves to an implementation costs it no vector, whichever way it goes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import pytest

from cctest.contract.capabilities import read_capabilities
from cctest.contract.intent import read_intent
from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import Kind, OnUnenforceable, RetentionMode, Reuse
from cctest.vectors.core import Core
from cctest.vectors.implementation import (
    Admission,
    Document,
    Implementation,
    Intent,
    Opinion,
    Party,
    Refused,
    Retained,
    Seconds,
    intent_text,
)
from cctest.vectors.load import bundled_vectors
from cctest.vectors.run import run_vectors
from cctest.verdict import Result

UNLISTED: Final = {
    OnUnenforceable.REJECT: "reject",
    OnUnenforceable.BYPASS: "fresh_no_retention_fallback",
}


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


class TakesPlainIntegersOnly(Core):
    """Holds a number with a point or an exponent to be no integer, whatever its value (READ-11)."""

    def validate(self, document: Document) -> tuple[Opinion, ...]:
        told = tuple(super().validate(document))
        plain = document.kind is not Kind.CACHE_INTENT or not _has_point(
            document.text.decode(errors="replace")
        )
        return told if plain else tuple(replace(each, valid=False) for each in told)

    def compose(self, intents: Sequence[Intent | None]) -> Sequence[JsonValue]:
        if any(_has_point(intent_text(each)) for each in intents if each is not None):
            raise Refused("a number with a point")
        return super().compose(intents)

    def intake(self, intent: Intent, capabilities_: JsonValue) -> str:
        return "reject" if _has_point(intent_text(intent)) else super().intake(intent, capabilities_)

    def hints(self, intent: Intent, reuse_within_max: int | None) -> Mapping[str, JsonValue]:
        if _has_point(intent_text(intent)):
            raise Refused("a number with a point")
        return super().hints(intent, reuse_within_max)


def _has_point(text: str) -> bool:
    return re.search(r'"(version|max_age|reuse_within)": ?-?[0-9]+[.eE]', text) is not None


class ForbidsWhatItCannotBound(Core):
    """Keeps nothing where it can't bound the age of what it keeps, which is stricter (INT-1, F-10)."""

    def intake(self, intent: Intent, capabilities_: JsonValue) -> str:
        told = super().intake(intent, capabilities_)
        asked: Any = {} if isinstance(intent, str) else intent.get("constraints")
        listed: Any = capabilities_ and capabilities_["constraints"]  # type: ignore[call-overload, index]
        if not listed or "forbid" not in listed.get("retention_modes", ()) or told == "served":
            return told
        unbound = {**asked, "retention": {"mode": "forbid"}}
        return super().intake({"version": 1, "constraints": unbound}, capabilities_)


class TakesTheListAtItsWord(Core):
    """Holds every value that isn't listed to be unenforceable (F-10, READ-7, READ-27)."""

    def intake(self, intent: Intent, capabilities_: JsonValue) -> str:
        told = super().intake(intent, capabilities_)
        if capabilities_ is None or told != "served":
            return told
        advertised = read_capabilities(capabilities_)
        asked = read_intent(intent).constraints  # type: ignore[arg-type]
        listed = (
            asked.retention.mode in advertised.retention_modes
            and asked.reuse in advertised.reuse
            and asked.share_max in advertised.share_max
        )
        return told if listed else UNLISTED[advertised.on_unenforceable]


class FallsBackWhereThatIsAskedFor(Core):
    """Serves `none` and `forbid` by its fallback, which keeps them whether they are listed or not (F-58)."""

    def intake(self, intent: Intent, capabilities_: JsonValue) -> str:
        told = super().intake(intent, capabilities_)
        if capabilities_ is None or told == "served":
            return told
        asked = read_intent(intent).constraints  # type: ignore[arg-type]
        fallback = asked.reuse is Reuse.NONE or asked.retention.mode is RetentionMode.FORBID
        return UNLISTED[OnUnenforceable.BYPASS] if fallback else told


class KeepsNothingByDefault(Core):
    """Serves `allow` where no mode is listed: to keep nothing is within any leave to (RET-2)."""

    def intake(self, intent: Intent, capabilities_: JsonValue) -> str:
        told = super().intake(intent, capabilities_)
        listed: Any = capabilities_ and capabilities_["constraints"]  # type: ignore[call-overload, index]
        if not listed or "retention_modes" in listed:
            return told
        widened = {**capabilities_, "constraints": {**listed, "retention_modes": ["allow"]}}  # type: ignore[dict-item]
        return super().intake(intent, widened)


class BoundsTheIdOfAnEntry(Core):
    """Takes the id in a status to be bounded as that of an intent is (F-6)."""

    def validate(self, document: Document) -> tuple[Opinion, ...]:
        told = tuple(super().validate(document))
        if document.kind is not Kind.CACHE_STATUS or not re.search(rb'"id":"("|[^"]{257})', document.text):
            return told
        return tuple(replace(each, valid=False) for each in told)


IMPLEMENTATIONS = (
    TakesNoHint,
    LooksInItsOwnPartition,
    RepairsSurrogates,
    TakesPlainIntegersOnly,
    ForbidsWhatItCannotBound,
    TakesTheListAtItsWord,
    FallsBackWhereThatIsAskedFor,
    KeepsNothingByDefault,
    BoundsTheIdOfAnEntry,
)


@pytest.mark.parametrize(
    "implementation", [make() for make in IMPLEMENTATIONS], ids=lambda it: type(it).__name__
)
def test_an_implementation_that_takes_another_answer_gives_another(implementation: Implementation) -> None:
    checks, _, _ = run_vectors(bundled_vectors(), implementation)
    ours, _, _ = run_vectors(bundled_vectors(), Core())
    assert [check.seen for check in checks] != [check.seen for check in ours]


@pytest.mark.parametrize(
    "implementation", [make() for make in IMPLEMENTATIONS], ids=lambda it: type(it).__name__
)
def test_another_permitted_answer_passes_every_vector(implementation: Implementation) -> None:
    checks, _, _ = run_vectors(bundled_vectors(), implementation)
    assert [check.id for check in checks if check.result is not Result.PASS] == []
