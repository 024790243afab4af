"""The vectors that ship: how many, which rules they name, that both answers occur, and that the core passes."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cctest import bundle, datafile
from cctest.catalogue import Observable, load_catalogue, load_readings
from cctest.vectors.expectation import is_choice
from cctest.vectors.load import bundled_vectors
from cctest.vectors.model import Vector, VectorKind
from cctest.vectors.run import run_vectors
from cctest.verdict import Result, Source

VECTORS = bundled_vectors()
GROUPS = {"INT", "RET", "REU", "SHR", "NS", "HNT", "CMP", "DIG", "POL"}

ONE_SIDED = {
    "INT-1": "stricter service is permitted, weaker service is other rules' subject",
    "INT-4": "the one supported version is in every accepted intent",
    "INT-7": "accepted intents have no unknown constraint",
    "INT-9": "accepted intents have no unknown member",
    "INT-13": "an id changes nothing",
    "RET-2": "a permission can't be broken",
    "HNT-1": "a permission can't be broken",
    "HNT-2": "policies with and without hints are equal",
    "CMP-9": "a permission can't be broken",
    "HNT-3": "clipped or not, no constraint is refused",
}
"""Rules of which vectors can show one side only, and why."""


def _answers(vector: Vector) -> set[bool]:
    """Say whether a vector expects something to be granted (True), refused (False), or both."""
    content: Any = vector.content
    expected = content.get("expected", {})
    match vector.kind:
        case VectorKind.DOCUMENT:
            return {True, False} if is_choice(expected) else {expected["valid"]}
        case VectorKind.IDENTITY:
            return {expected["cache_match"]}
        case VectorKind.ELIGIBILITY:
            return {case["eligible"] for case in content["cases"]}
        case VectorKind.ADMISSION:
            readable = expected["may_read"]
            return {True, False} if is_choice(readable) else {readable}
        case VectorKind.FAIL_CLOSED:
            return (
                {True, False}
                if is_choice(expected)
                else {result == "served" for result in expected["result"]}
            )
        case VectorKind.COMPOSITION | VectorKind.DIGEST:
            # A computed value is compared whole: any other value is refused by the same expectation.
            return {True, False}
        case VectorKind.HINT_TOLERANCE:
            return {True}


def test_every_bundled_vector_passes() -> None:
    checks, _, _ = run_vectors(VECTORS)
    assert [(check.id, check.message) for check in checks if check.result is not Result.PASS] == []


def test_there_are_at_least_130_vectors_and_every_kind_has_some() -> None:
    assert len(VECTORS) >= 130
    assert set(Counter(vector.kind for vector in VECTORS)) == set(VectorKind)


def test_each_vector_names_known_rules() -> None:
    known = load_catalogue()
    assert [(vector.name, rule) for vector in VECTORS for rule in vector.rules if rule not in known] == []
    assert [vector.name for vector in VECTORS if not vector.rules] == []


@pytest.mark.parametrize(
    "rule",
    [
        rule.id
        for rule in load_catalogue().values()
        if rule.group in GROUPS and Observable.DOCUMENT in rule.observable
    ],
)
def test_a_rule_that_a_document_can_show_is_shown_both_ways(rule: str) -> None:
    answers = [answer for vector in VECTORS if rule in vector.rules for answer in _answers(vector)]
    assert answers, f"no vector exercises {rule}"
    if rule not in ONE_SIDED:
        assert set(answers) == {True, False}, f"{rule} is shown one way only"


def test_check_ids_are_unique_and_evidence_is_a_computation() -> None:
    checks, _, _ = run_vectors(VECTORS)
    assert len({check.id for check in checks}) == len(checks)
    assert {evidence.source for check in checks for evidence in check.evidence} == {Source.COMPUTATION}
    for check in checks:
        json.loads(check.expected)
        json.loads(check.seen)


def test_choices_name_known_readings_and_options() -> None:
    readings = load_readings()
    for choice in _choices([vector.content for vector in VECTORS]):
        if "reading" not in choice:
            continue
        keys = {option.key for option in readings[choice["reading"]].options}
        for options in choice["permitted"].values():
            assert {options} <= keys if isinstance(options, str) else set(options) <= keys


def _choices(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        inside = [choice for member in value.values() for choice in _choices(member)]
        return [value, *inside] if is_choice(value) else inside
    if isinstance(value, list):
        return [choice for item in value for choice in _choices(item)]
    return []


def test_the_core_takes_the_readings_that_the_catalogue_says_are_ours() -> None:
    _, taken, _ = run_vectors(VECTORS)
    readings = load_readings()
    literal = {"READ-12": "yes", "READ-19": "public", "READ-27": "narrowed"}
    assert {reading.id: reading.taken for reading in taken} == {
        reading.id: literal.get(reading.id, readings[reading.id].ours) for reading in taken
    }


@pytest.mark.parametrize(
    "path",
    sorted({*bundle.VECTORS.glob("*.*")} - {bundle.MUTANTS, bundle.SURVIVORS}),
    ids=lambda path: path.name,
)
def test_each_file_conforms_to_the_published_schema(path: Path) -> None:
    schema = json.loads((bundle.SCHEMAS / "vectors.schema.json").read_bytes())
    Draft202012Validator.check_schema(schema)
    errors = Draft202012Validator(schema).iter_errors(datafile.read(path).parsed.value)
    assert [error.message for error in errors] == []


def test_digests_agree_with_the_values_that_the_contract_lists() -> None:
    listed = {
        ("tools:v7",): "b42d2c88b53bb913c2637817ff163308807ac7ba31ecf20bca0631fabccd38e1",
        ("tools:v7", "agent:v4"): "747083201bfe64956b7607c3202ad0a21214b11de2404d188f30455d4f773dcc",
        ("ab", "c"): "430fb1b4ac43316eca81fab27a1930ab8eff8fef6a1dc7903dce44bbc2790dc5",
        ("a", "bc"): "5310a58788781ab25d5ad7c3f85035824b4eb7bdfa394e0ac2186271472b5492",
        ("x", "x"): "2482947ba48b87c50278e640b28cc6d15a2aee7f5345f290c6956cacf9bdda99",
        ("café:v1",): "1e580f8419432c52b25da19e15f98d7e8676fab09e6c26c55e8363696f70cb5e",
    }
    ours = {
        tuple(case["namespaces"]): case["digest"]
        for vector in VECTORS
        if vector.kind is VectorKind.DIGEST and vector.content["expected"]["digests_match"]
        for case in vector.content["cases"]
    }
    assert {namespaces: ours[namespaces] for namespaces in listed} == listed
