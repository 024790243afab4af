from typing import Any

import pytest
from contract_strategies import CAPABILITIES_OBJECTS, CONSTRAINTS
from hypothesis import given

from cctest.contract.capabilities import (
    Capabilities,
    read_capabilities,
    to_json,
    unenforceable,
)
from cctest.contract.intent import Constraints, Retention, read_constraints
from cctest.contract.source import DocumentError, JsonValue
from cctest.contract.vocabulary import OnUnenforceable, RetentionMode, Reuse, Scope

LEAST: dict[str, Any] = {"versions": [1], "constraints": {}, "on_unenforceable": "reject"}
FULL = Capabilities(
    versions=(1,),
    retention_modes=tuple(RetentionMode),
    retention_max_age=True,
    reuse=tuple(Reuse),
    share_max=tuple(Scope),
    namespace=True,
    on_unenforceable=OnUnenforceable.BYPASS,
)


def faults(value: JsonValue) -> list[tuple[str, tuple[str, ...]]]:
    with pytest.raises(DocumentError) as caught:
        read_capabilities(value)
    return [(fault.pointer, fault.rules) for fault in caught.value.faults]


def test_what_is_absent_is_unsupported() -> None:
    assert read_capabilities(LEAST) == Capabilities(
        versions=(1,),
        retention_modes=(),
        retention_max_age=False,
        reuse=(),
        share_max=(),
        namespace=False,
        on_unenforceable=OnUnenforceable.REJECT,
        status=None,
        per_fragment_share=None,
        hints={},
    )
    assert read_capabilities(LEAST).reuse_within_max is None


def test_on_unenforceable_must_be_advertised() -> None:
    rules = ("CAP-2", "CAP-7")
    assert faults({"versions": [1], "constraints": {}}) == [("", rules)]
    assert faults({**LEAST, "on_unenforceable": "ignore"}) == [("/on_unenforceable", rules)]


@pytest.mark.parametrize(
    ("changes", "pointers"),
    [
        ({"versions": []}, ["/versions"]),
        ({"versions": 1}, ["/versions"]),
        ({"versions": [0]}, ["/versions/0"]),
        ({"versions": [1, True, "1", 1.5]}, ["/versions/1", "/versions/2", "/versions/3"]),
        ({"versions": [1, 2, 1.0]}, ["/versions/2"]),
        ({"constraints": None}, ["/constraints"]),
        ({"constraints": {"future": True}}, ["/constraints/future"]),
        ({"constraints": {"retention_modes": []}}, ["/constraints/retention_modes"]),
        ({"constraints": {"retention_modes": ["allow", "allow"]}}, ["/constraints/retention_modes/1"]),
        ({"constraints": {"reuse": ["exact", "fuzzy"]}}, ["/constraints/reuse/1"]),
        ({"constraints": {"share_max": "tenant"}}, ["/constraints/share_max"]),
        ({"constraints": {"namespace": 1}}, ["/constraints/namespace"]),
        ({"constraints": {"retention_max_age": None}}, ["/constraints/retention_max_age"]),
        ({"status": "yes"}, ["/status"]),
        ({"per_fragment_share": 0}, ["/per_fragment_share"]),
        ({"hints": []}, ["/hints"]),
        ({"hints": {"reuse_within_max": -1}}, ["/hints/reuse_within_max"]),
        ({"hints": {"reuse_within_max": True}}, ["/hints/reuse_within_max"]),
        ({"extra": 1}, ["/extra"]),
    ],
)
def test_a_fault_of_the_shape_is_found(changes: dict[str, Any], pointers: list[str]) -> None:
    assert faults({**LEAST, **changes}) == [(pointer, ("CAP-7",)) for pointer in pointers]


def test_what_is_no_object_has_no_further_faults() -> None:
    assert faults(None) == [("", ("CAP-7",))]


def test_hints_are_open() -> None:
    read = read_capabilities({**LEAST, "hints": {"reuse_within_max": 600.0, "future": [1]}})
    assert read.reuse_within_max == 600
    assert read.hints["future"] == [1]


@given(CAPABILITIES_OBJECTS)
def test_capabilities_survive_being_spelt_and_read(value: Any) -> None:
    read = read_capabilities(value)
    assert read_capabilities(to_json(read)) == read


@given(CONSTRAINTS)
def test_with_everything_advertised_everything_is_enforceable(constraints: Constraints) -> None:
    assert unenforceable(FULL, constraints) == ()


def test_with_nothing_advertised_every_member_is_lacking() -> None:
    asked = Constraints(Retention(RetentionMode.FORBID), Reuse.NONE, Scope.REQUEST, "n")
    assert unenforceable(read_capabilities(LEAST), asked) == (
        "/constraints/retention_modes",
        "/constraints/reuse",
        "/constraints/share_max",
        "/constraints/namespace",
    )


def limited(**changes: Any) -> Capabilities:
    advertised: dict[str, Any] = {
        "retention_modes": ["allow"],
        "reuse": ["exact"],
        "share_max": ["principal", "tenant"],
    }
    return read_capabilities({**LEAST, "constraints": {**advertised, **changes}})


@pytest.mark.parametrize(
    ("asked", "lacking"),
    [
        ({}, None),
        ({"reuse": "approximate", "share_max": "public"}, None),
        ({"retention": {"mode": "allow", "max_age": 60}}, "/constraints/retention_max_age"),
        ({"retention": {"mode": "allow", "max_age": 0}}, "/constraints/retention_max_age"),
        ({"retention": {"mode": "forbid"}}, "/constraints/retention_modes"),
        ({"reuse": "none"}, "/constraints/reuse"),
        ({"share_max": "session"}, "/constraints/share_max"),
        ({"namespace": "n"}, "/constraints/namespace"),
    ],
)
def test_a_constraint_needs_its_own_value_or_a_stricter_one(asked: Any, lacking: str | None) -> None:
    plain: dict[str, Any] = {"retention": {"mode": "allow"}, "reuse": "exact", "share_max": "tenant"}
    constraints = read_constraints({**plain, **asked})
    assert unenforceable(limited(), constraints) == (() if lacking is None else (lacking,))


def test_where_nothing_is_retained_any_bound_is_kept() -> None:
    asked = Constraints(Retention(RetentionMode.ALLOW, 60), Reuse.EXACT, Scope.TENANT)
    assert unenforceable(limited(retention_modes=["forbid"]), asked) == ()
