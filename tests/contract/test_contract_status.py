from typing import Any

import pytest
from contract_strategies import STATUS_ARRAYS
from hypothesis import given

from cctest.contract.source import DocumentError, JsonValue
from cctest.contract.status import StatusEntry, read_status, to_json
from cctest.contract.vocabulary import HintReport, Outcome, RetentionReport, Scope

MISS: dict[str, Any] = {"outcome": "miss", "constraint_result": "satisfied"}


def faults(value: JsonValue) -> list[tuple[str, tuple[str, ...]]]:
    with pytest.raises(DocumentError) as caught:
        read_status(value)
    return [(fault.pointer, fault.rules) for fault in caught.value.faults]


@pytest.mark.parametrize("label", ["", "a" * 257])
def test_the_id_of_an_entry_has_no_bound_of_its_own(label: str) -> None:
    assert read_status([{**MISS, "id": label}])[0].id == label


def test_a_full_entry_is_read_and_spelt() -> None:
    value: JsonValue = [
        {
            "id": "tools",
            "outcome": "exact_hit",
            "effective_share": "tenant",
            "retention": "retained",
            "hints": {"reuse_within": "clipped"},
            "constraint_result": "satisfied",
        }
    ]
    entry = StatusEntry(
        Outcome.EXACT_HIT,
        "tools",
        Scope.TENANT,
        RetentionReport.RETAINED,
        {"reuse_within": HintReport.CLIPPED},
    )
    assert read_status(value) == (entry,)
    assert to_json([entry]) == value


def test_absent_members_stay_absent() -> None:
    assert read_status([MISS]) == (StatusEntry(Outcome.MISS),)
    assert to_json([StatusEntry(Outcome.MISS)]) == [MISS]
    assert read_status([]) == ()


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"outcome": "hit"}, "/0/outcome"),
        ({"id": None}, "/0/id"),
        ({"effective_share": "group"}, "/0/effective_share"),
        ({"retention": "forbid"}, "/0/retention"),
        ({"hints": []}, "/0/hints"),
        ({"hints": {"reuse_within": "used"}}, "/0/hints/reuse_within"),
        ({"extra": 1}, "/0/extra"),
    ],
)
def test_a_fault_of_the_shape_is_found(changes: dict[str, Any], pointer: str) -> None:
    assert faults([{**MISS, **changes}]) == [(pointer, ("STA-12",))]


@pytest.mark.parametrize("result", ["violated", "Satisfied", True, None, ["satisfied"]])
def test_the_constraint_result_is_always_satisfied(result: JsonValue) -> None:
    assert faults([{**MISS, "constraint_result": result}]) == [("/0/constraint_result", ("STA-8", "STA-12"))]


def test_outcome_and_constraint_result_are_needed() -> None:
    assert faults([MISS, {}]) == [("/1", ("STA-12",)), ("/1", ("STA-8", "STA-12"))]


@pytest.mark.parametrize("value", [None, {}, "x"])
def test_what_is_no_array_is_no_status(value: JsonValue) -> None:
    assert faults(value) == [("", ("STA-12",))]


def test_every_entry_is_looked_at() -> None:
    assert [pointer for pointer, _ in faults([7, MISS, {**MISS, "id": 7}])] == ["/0", "/2/id"]


@given(STATUS_ARRAYS)
def test_a_status_survives_being_spelt_and_read(value: Any) -> None:
    read = read_status(value)
    assert read_status(to_json(read)) == read
