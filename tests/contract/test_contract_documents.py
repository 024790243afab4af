import json
from pathlib import Path
from typing import Any

import pytest
from contract_strategies import documents, mutated
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cctest.bundle import SCHEMAS
from cctest.contract.documents import check_document, core_faults, schema_faults
from cctest.contract.schema import SchemaSet
from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import Kind
from cctest.datafile import contract_schemas

FILES = [SCHEMAS / f"{kind}.schema.json" for kind in Kind]
BUNDLED = contract_schemas()
KINDS = st.sampled_from(Kind)
CONSTRAINTS: Any = {"retention": {"mode": "allow"}, "reuse": "exact", "share_max": "tenant"}


def pointers(value: JsonValue, kind: Kind) -> set[str]:
    return {fault.pointer for fault in schema_faults(value, kind, BUNDLED)}


@given(KINDS.flatmap(lambda kind: st.tuples(st.just(kind), documents(kind))))
def test_valid_documents_pass_both_ways(case: tuple[Kind, Any]) -> None:
    kind, value = case
    assert check_document(value, kind, BUNDLED) == ()


@settings(max_examples=400)
@given(KINDS.flatmap(lambda kind: st.tuples(st.just(kind), mutated(documents(kind)))))
def test_schemas_and_readers_find_fault_with_the_same_members(case: tuple[Kind, Any]) -> None:
    kind, value = case
    assert pointers(value, kind) == {fault.pointer for fault in core_faults(value, kind)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_schemas_are_schemas(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_bytes()))


@pytest.mark.parametrize(
    ("kind", "inner", "expected"),
    [
        (
            Kind.CACHE_INTENT,
            {"version": 1, "constraints": {**CONSTRAINTS, "future": 1}},
            "/constraints/future",
        ),
        (
            Kind.CACHE_INTENT,
            {"version": 1, "constraints": {"reuse": "none", "share_max": "public"}},
            "/constraints",
        ),
        (Kind.CACHE_INTENT, {"version": 1}, ""),
        (Kind.CACHE_INTENT, {"version": True, "constraints": CONSTRAINTS}, "/version"),
        (Kind.CACHE_INTENT, {"version": 1, "constraints": CONSTRAINTS, "id": "é" * 257}, "/id"),
        (
            Kind.CACHE_INTENT,
            {"version": 1, "constraints": {**CONSTRAINTS, "retention": {"mode": "forbid", "max_age": 0}}},
            "/constraints/retention/max_age",
        ),
        (
            Kind.CACHE_INTENT_CAPABILITIES,
            {"versions": [1, 2, 2], "constraints": {}, "on_unenforceable": "bypass"},
            "/versions/2",
        ),
        (Kind.CACHE_STATUS, [{"outcome": "miss"}], "/0"),
    ],
)
def test_faults_point_at_the_member_that_is_wrong(kind: Kind, inner: Any, expected: str) -> None:
    faults = check_document({str(kind): inner}, kind, BUNDLED)
    assert [fault.pointer for fault in faults] == [f"/{kind}{expected}"]
    assert faults[0].rules


def test_wrappers_of_intent_and_capabilities_are_closed() -> None:
    value: JsonValue = {"cache_intent": {"version": 1, "constraints": CONSTRAINTS}, "note": 1}
    assert [fault.pointer for fault in check_document(value, Kind.CACHE_INTENT, BUNDLED)] == ["/note"]


def test_a_chat_response_is_a_document_with_a_status() -> None:
    status: JsonValue = [{"outcome": "miss", "constraint_result": "satisfied"}]
    response: JsonValue = {"choices": [], "usage": {}, "cache_status": status}
    assert check_document(response, Kind.CACHE_STATUS, BUNDLED) == ()


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("value", [None, [], {}, 7])
def test_a_document_without_its_wrapper_is_faulty_as_a_whole(kind: Kind, value: JsonValue) -> None:
    assert [fault.pointer for fault in check_document(value, kind, BUNDLED)] == [""]


def test_faults_come_in_document_order() -> None:
    value: JsonValue = {
        "cache_intent": {
            "zzz": 1,
            "constraints": {"share_max": "x", "reuse": "y", "retention": {"mode": "z"}},
            "id": "",
            "version": 3,
        },
        "aaa": 1,
    }
    order = [
        "/cache_intent/zzz",
        "/cache_intent/constraints/share_max",
        "/cache_intent/constraints/reuse",
        "/cache_intent/constraints/retention/mode",
        "/cache_intent/id",
        "/cache_intent/version",
        "/aaa",
    ]
    for faults in (
        core_faults(value, Kind.CACHE_INTENT),
        schema_faults(value, Kind.CACHE_INTENT, BUNDLED),
        check_document(value, Kind.CACHE_INTENT, BUNDLED),
    ):
        assert [fault.pointer for fault in faults] == order


def test_schema_messages_say_what_would_be_right() -> None:
    value: JsonValue = {"cache_intent": {"version": 1, "constraints": {**CONSTRAINTS, "reuse": "fuzzy"}}}
    (fault,) = schema_faults(value, Kind.CACHE_INTENT, BUNDLED)
    assert fault.message == 'must be one of "none", "exact" or "approximate", not "fuzzy"'


def test_the_intent_of_a_fragment_has_a_schema_of_its_own() -> None:
    reference = "urn:cctest:schema:cache_intent#/$defs/cache_intent"
    assert BUNDLED.faults({"version": 1, "constraints": CONSTRAINTS}, reference) == ()
    assert [fault.pointer for fault in BUNDLED.faults({"version": 1}, reference)] == [""]
    entry = "urn:cctest:schema:cache_status#/$defs/entry"
    assert BUNDLED.faults({"outcome": "miss", "constraint_result": "satisfied"}, entry) == ()


def test_a_schema_without_an_identifier_is_refused() -> None:
    with pytest.raises(ValueError, match=r"needs an \$id"):
        SchemaSet([{"type": "object"}])
