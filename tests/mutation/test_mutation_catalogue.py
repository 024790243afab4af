"""The rule mutants: how many, for which rules, and that each names a check that is there for it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cctest import bundle
from cctest.catalogue import Level, Observable, Party, load_catalogue
from cctest.contract.source import child
from cctest.contract.vocabulary import Kind
from cctest.mutation.catalogue import load_mutants
from cctest.mutation.mutant import Family, Judge, Mutant, SchemaChange
from cctest.probe.load import load_cases
from cctest.problem import UsageProblem
from cctest.vectors.load import bundled_vectors

MUTANTS = load_mutants()
CASES = load_cases()
RULES_OF: dict[str, tuple[str, ...]] = {vector.name: vector.rules for vector in bundled_vectors()} | {
    check: expected.rules
    for case in CASES
    for check, expected in zip(case.checks, case.expectations, strict=True)
}
RELAXING = frozenset(
    [
        "type",
        "enum",
        "const",
        "minLength",
        "maxLength",
        "minimum",
        "minItems",
        "uniqueItems",
        "items",
        "$ref",
        "not",
        "if",
        "then",
        "additionalProperties",
    ]
)
"""Keywords without which more documents are valid."""


def must_be_kept_by_an_implementation() -> list[str]:
    return [
        rule.id
        for rule in load_catalogue().values()
        if rule.level is Level.MUST
        and {Party.GATEWAY, Party.ENGINE} & {*rule.binds}
        and Observable.NONE not in rule.observable
    ]


def test_there_are_enough() -> None:
    assert len([mutant for mutant in MUTANTS if mutant.family is Family.RULE]) >= 80
    assert {mutant.setups[0].judge for mutant in MUTANTS} == set(Judge)
    assert any("stream" in cell for mutant in MUTANTS for cell in mutant.cells)
    assert any("place" in cell for mutant in MUTANTS for cell in mutant.cells)


@pytest.mark.parametrize("rule", must_be_kept_by_an_implementation())
def test_each_rule_has_a_mutant_whose_check_rests_on_it(rule: str) -> None:
    assert [
        mutant.id for mutant in MUTANTS if rule in mutant.rules and rule in RULES_OF[mutant.caught_by or ""]
    ]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.id)
def test_the_named_check_exists_rests_on_a_broken_rule_and_can_be_run(mutant: Mutant) -> None:
    assert mutant.caught_by is not None
    assert {*RULES_OF[mutant.caught_by]} & {*mutant.rules}
    assert {*mutant.rules} <= load_catalogue().keys()
    of_a_case = "#" in mutant.caught_by
    assert of_a_case is (mutant.setups[0].judge is not Judge.VECTORS)
    two_ended = {check for case in CASES if case.two_ended for check in case.checks}
    assert mutant.setups[0].judge is Judge.FORWARDING or mutant.caught_by not in two_ended


def keywords(schema: dict[str, Any], pointer: str = "") -> Iterator[str]:
    for name, value in schema.items():
        place = child(pointer, name)
        if name in RELAXING:
            yield place
        if name == "required":
            yield from (child(place, index) for index, _ in enumerate(value))
        if name in ("properties", "$defs"):
            for inner, held in value.items():
                yield from keywords(held, child(place, inner))
        elif name in ("items", "then", "additionalProperties") and isinstance(value, dict):
            yield from keywords(value, place)


@pytest.mark.parametrize("kind", Kind)
def test_each_keyword_of_the_contract_schemas_is_left_out_in_turn(kind: Kind) -> None:
    schema = json.loads((bundle.SCHEMAS / f"{kind}.schema.json").read_bytes())
    changes = [mutant.change for mutant in MUTANTS]
    left_out = {one.pointer for one in changes if isinstance(one, SchemaChange) and one.kind is kind}
    assert left_out == {*keywords(schema)}


def test_a_change_that_no_longer_fits_is_told_with_its_place(tmp_path: Any) -> None:
    text = bundle.MUTANTS.read_text(encoding="utf-8")
    moved = tmp_path / "mutants.yaml"
    moved.write_text(text.replace('replace: "min(bounds, default=None)"', 'replace: "min(limits)"', 1))
    with pytest.raises(UsageProblem, match=r"occurs 0 times in cctest/contract/composition\.py") as told:
        load_mutants(moved)
    assert "mutants.yaml, line" in told.value.where
