from typing import Any

import pytest
from contract_strategies import INTENT_OBJECTS, mutated
from hypothesis import given

from cctest.contract.intent import (
    CacheIntent,
    Constraints,
    IntentError,
    Retention,
    duplicate_ids,
    read_constraints,
    read_intent,
)
from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import ErrorCode, RetentionMode, Reuse, Scope

REMOVED = object()


def intent(**changes: Any) -> dict[str, Any]:
    """A good intent with members replaced or removed."""
    good: dict[str, Any] = {
        "version": 1,
        "id": "tools",
        "constraints": constraints(),
        "hints": {"reuse_within": 300},
    }
    return {name: value for name, value in {**good, **changes}.items() if value is not REMOVED}


def constraints(**changes: Any) -> dict[str, Any]:
    good: dict[str, Any] = {
        "retention": {"mode": "allow", "max_age": 3600},
        "reuse": "exact",
        "share_max": "tenant",
        "namespace": "tools:v7",
    }
    return {name: value for name, value in {**good, **changes}.items() if value is not REMOVED}


def faults(value: JsonValue) -> list[tuple[str, tuple[str, ...]]]:
    with pytest.raises(IntentError) as caught:
        read_intent(value)
    return [(fault.pointer, fault.rules) for fault in caught.value.faults]


def code(value: JsonValue) -> ErrorCode:
    with pytest.raises(IntentError) as caught:
        read_intent(value)
    return caught.value.code


def test_a_good_intent_is_read_member_by_member() -> None:
    assert read_intent(intent()) == CacheIntent(
        version=1,
        constraints=Constraints(Retention(RetentionMode.ALLOW, 3600), Reuse.EXACT, Scope.TENANT, "tools:v7"),
        id="tools",
        hints={"reuse_within": 300},
    )


def test_only_version_and_constraints_are_needed() -> None:
    bare = intent(id=REMOVED, hints=REMOVED, constraints=constraints(namespace=REMOVED))
    read = read_intent(bare)
    assert (read.id, read.hints, read.constraints.namespace) == (None, {}, None)


@pytest.mark.parametrize(
    ("changes", "pointer", "rule"),
    [
        ({"version": REMOVED}, "", "INT-12"),
        ({"version": 2}, "/version", "INT-4"),
        ({"version": 0}, "/version", "INT-12"),
        ({"version": -1}, "/version", "INT-12"),
        ({"version": "1"}, "/version", "INT-12"),
        ({"version": True}, "/version", "INT-12"),
        ({"version": 1.5}, "/version", "INT-12"),
        ({"version": None}, "/version", "INT-12"),
        ({"id": ""}, "/id", "INT-5"),
        ({"id": "a" * 257}, "/id", "INT-5"),
        ({"id": "\U0001f512" * 257}, "/id", "INT-5"),
        ({"id": "e\u0301" * 129}, "/id", "INT-5"),
        ({"id": None}, "/id", "INT-12"),
        ({"id": 7}, "/id", "INT-12"),
        ({"id": "a\ud800"}, "/id", "INT-12"),
        ({"constraints": REMOVED}, "", "INT-8"),
        ({"constraints": None}, "/constraints", "INT-12"),
        ({"constraints": []}, "/constraints", "INT-12"),
        ({"hints": None}, "/hints", "INT-12"),
        ({"hints": []}, "/hints", "INT-12"),
        ({"Id": "x"}, "/Id", "INT-9"),
        ({"a/b~c": 1}, "/a~1b~0c", "INT-9"),
        ({"namespace": "x"}, "/namespace", "INT-9"),
    ],
)
def test_a_fault_of_the_intent_is_found(changes: dict[str, Any], pointer: str, rule: str) -> None:
    assert faults(intent(**changes)) == [(pointer, (rule,))]


@pytest.mark.parametrize(
    ("changes", "pointer", "rule"),
    [
        ({"retention": REMOVED}, "", "INT-8"),
        ({"reuse": REMOVED}, "", "INT-8"),
        ({"share_max": REMOVED}, "", "INT-8"),
        ({"future_constraint": None}, "/future_constraint", "INT-7"),
        ({"retention": "allow"}, "/retention", "INT-12"),
        ({"retention": {}}, "/retention", "INT-8"),
        ({"retention": {"mode": "allow", "ttl": 5}}, "/retention/ttl", "INT-7"),
        ({"retention": {"mode": "Allow"}}, "/retention/mode", "INT-12"),
        ({"retention": {"mode": True}}, "/retention/mode", "INT-12"),
        ({"retention": {"mode": "forbid", "max_age": 60}}, "/retention/max_age", "INT-12"),
        ({"retention": {"mode": "forbid", "max_age": 0}}, "/retention/max_age", "INT-12"),
        ({"retention": {"mode": "forbid", "max_age": None}}, "/retention/max_age", "INT-12"),
        ({"retention": {"mode": "allow", "max_age": -1}}, "/retention/max_age", "INT-12"),
        ({"retention": {"mode": "allow", "max_age": 0.5}}, "/retention/max_age", "INT-12"),
        ({"retention": {"mode": "allow", "max_age": "60"}}, "/retention/max_age", "INT-12"),
        ({"retention": {"mode": "allow", "max_age": False}}, "/retention/max_age", "INT-12"),
        ({"retention": {"mode": "allow", "max_age": None}}, "/retention/max_age", "INT-12"),
        ({"reuse": "Exact"}, "/reuse", "INT-12"),
        ({"reuse": None}, "/reuse", "INT-12"),
        ({"reuse": ["exact"]}, "/reuse", "INT-12"),
        ({"share_max": "group"}, "/share_max", "INT-12"),
        ({"share_max": "tenant "}, "/share_max", "INT-12"),
        ({"namespace": ""}, "/namespace", "INT-6"),
        ({"namespace": "é" * 257}, "/namespace", "INT-6"),
        ({"namespace": None}, "/namespace", "INT-12"),
        ({"namespace": 7}, "/namespace", "INT-12"),
        ({"namespace": "\udfff"}, "/namespace", "INT-12"),
    ],
)
def test_a_fault_of_the_constraints_is_found(changes: dict[str, Any], pointer: str, rule: str) -> None:
    value = constraints(**changes)
    assert faults(intent(constraints=value)) == [(f"/constraints{pointer}", (rule,))]
    with pytest.raises(IntentError) as caught:
        read_constraints(value, "/x")
    assert [fault.pointer for fault in caught.value.faults] == [f"/x{pointer}"]


@pytest.mark.parametrize("value", [None, [], "x", 1, True])
def test_what_is_no_object_is_no_intent(value: JsonValue) -> None:
    assert faults(value) == [("", ("INT-12",))]
    assert code(value) is ErrorCode.INVALID


@pytest.mark.parametrize("label", ["a", "a" * 255, "a" * 256, "\U0001f512" * 256, "e\u0301" * 128, " ", "\0"])
def test_labels_hold_1_to_256_code_points(label: str) -> None:
    read = read_intent(intent(id=label, constraints=constraints(namespace=label)))
    assert read.id == read.constraints.namespace == label


@pytest.mark.parametrize("max_age", [0, 1, 60.0, 2**53 + 1, 10**100])
def test_max_age_may_be_any_integer_from_0(max_age: float) -> None:
    value = constraints(retention={"mode": "allow", "max_age": max_age})
    read = read_intent(intent(version=1.0, constraints=value))
    assert read.constraints.retention.max_age == max_age
    assert type(read.constraints.retention.max_age) is int
    assert type(read.version) is int


@pytest.mark.parametrize(
    "hints",
    [
        {"reuse_within": -1},
        {"reuse_within": "300"},
        {"reuse_within": True},
        {"future": {"a": [1]}},
        {"": None},
        {},
    ],
)
def test_hints_are_kept_as_they_came(hints: dict[str, Any]) -> None:
    assert read_intent(intent(hints=hints)).hints == hints


def test_every_fault_is_listed() -> None:
    value = intent(
        version="1",
        id="",
        extra=0,
        constraints={"retention": {"mode": "x", "max_age": -1}, "reuse": "y", "z": 0},
    )
    assert sorted(faults(value)) == [
        ("/constraints", ("INT-8",)),
        ("/constraints/retention/max_age", ("INT-12",)),
        ("/constraints/retention/mode", ("INT-12",)),
        ("/constraints/reuse", ("INT-12",)),
        ("/constraints/z", ("INT-7",)),
        ("/extra", ("INT-9",)),
        ("/id", ("INT-5",)),
        ("/version", ("INT-12",)),
    ]


def test_an_unsupported_version_decides_the_code_whatever_else_is_wrong() -> None:
    assert code(intent(version=2)) is ErrorCode.UNSUPPORTED_VERSION
    assert code(intent(version=2.0, constraints=None, extra=1)) is ErrorCode.UNSUPPORTED_VERSION
    assert code(intent(version=10**3000)) is ErrorCode.UNSUPPORTED_VERSION
    assert code(intent(version=0)) is ErrorCode.INVALID
    assert code(intent(version=1, extra=1)) is ErrorCode.INVALID


def test_messages_say_what_would_be_right() -> None:
    with pytest.raises(IntentError, match='must be one of none, exact or approximate, not "fuzzy"'):
        read_intent(intent(constraints=constraints(reuse="fuzzy")))
    with pytest.raises(IntentError, match="may have version, constraints, id or hints"):
        read_intent(intent(extra=1))
    with pytest.raises(IntentError, match="1 to 256 characters, not 300"):
        read_intent(intent(id="s" * 300))


def test_pointers_start_where_the_intent_stands() -> None:
    with pytest.raises(IntentError) as caught:
        read_intent(intent(id=7), "/messages/0/cache_intent")
    assert caught.value.faults[0].pointer == "/messages/0/cache_intent/id"


def test_duplicate_ids_are_reported_with_the_first_use() -> None:
    shared = read_constraints(constraints())
    labels = ["a", None, "b", "a", "a", "A", "b"]
    intents = [CacheIntent(1, shared, label) for label in labels]
    assert duplicate_ids([*intents, None]) == [(0, 3, "a"), (0, 4, "a"), (2, 6, "b")]


def test_absent_ids_are_no_duplicates() -> None:
    value: JsonValue = {"version": 1, "constraints": constraints()}
    assert duplicate_ids([read_intent(value), read_intent(value), None]) == []


@given(INTENT_OBJECTS | mutated(INTENT_OBJECTS))
def test_an_intent_is_read_alike_with_a_close_look_and_without(value: Any) -> None:
    # An integral float stands for the integer (READ-11), and only the close look knows that.
    if not isinstance(value, dict) or type(value.get("version")) is not int or value["version"] != 1:
        return
    answers: list[Any] = []
    for version in (1, 1.0):
        try:
            answers.append(read_intent({**value, "version": version}, "/x"))
        except IntentError as error:
            answers.append((error.faults, error.code))
    assert answers[0] == answers[1]
