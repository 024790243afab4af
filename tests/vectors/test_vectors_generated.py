"""Vectors that are made at run time: repeatable, new for each seed, within what every reading permits, and sharp."""

import json
from typing import Any

import flips_of_composition
import flips_of_digest
import pytest
from flip import Flip

from cctest.contract.digest import namespace_digest
from cctest.datafile import validator
from cctest.vectors.generated import COMPOSITIONS, DIGESTS, generate, is_generated
from cctest.vectors.load import bundled_vectors
from cctest.vectors.model import Vector, VectorKind
from cctest.vectors.oracle import digest_of
from cctest.vectors.run import run_vectors
from cctest.verdict import Result

SEEDS = range(8)
MADE = [vector for seed in SEEDS for vector in generate(seed)]


def namespaces_of(vector: Vector) -> list[str]:
    if vector.kind is VectorKind.DIGEST:
        return [name for case in vector.content["cases"] for name in case["namespaces"]]
    constraints = [fragment.get("constraints", {}) for fragment in vector.content["fragments"]]
    return [each["namespace"] for each in constraints if "namespace" in each]


NAMESPACES = [name for vector in MADE for name in namespaces_of(vector)]


def test_the_core_agrees_with_the_oracle() -> None:
    checks, _, unasserted = run_vectors(MADE)
    assert [(check.id, check.message) for check in checks if check.result is not Result.PASS] == []
    assert unasserted == 0


def test_the_oracle_gives_the_digests_that_the_contract_lists() -> None:
    listed = "1e580f8419432c52b25da19e15f98d7e8676fab09e6c26c55e8363696f70cb5e"
    assert digest_of(["caf\u00e9:v1"]) == listed
    assert digest_of([]) is namespace_digest([]) is None


def test_a_seed_makes_the_same_vectors_again_and_another_makes_others() -> None:
    assert generate(1) == generate(1)
    one, other = ([json.dumps(vector.content) for vector in generate(seed)] for seed in (1, 2))
    assert not {*one} & {*other}
    assert len({*one}) == len(one) == DIGESTS + COMPOSITIONS == 128


def test_generated_vectors_have_the_shape_of_others_and_names_of_their_own() -> None:
    schema = validator("vectors.schema.json")
    made = generate(4)
    faults = schema.iter_errors({"version": 1, "vectors": [vector.content for vector in made]})
    assert [fault.message for fault in faults] == []
    assert all(is_generated(vector.name) for vector in made)
    assert not any(is_generated(vector.name) for vector in bundled_vectors())


def test_no_namespace_is_empty_or_longer_than_256_however_characters_are_counted() -> None:
    assert all(0 < len(name) <= len(name.encode()) <= 256 for name in NAMESPACES)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_namespaces_have_characters_of_so_many_bytes(size: int) -> None:
    assert any(len(letter.encode()) == size for name in NAMESPACES for letter in name)


@pytest.mark.parametrize("part", ["\u0301", ":", "7", "\x00", "\U0001f512", "\u212a"])
def test_namespaces_have_what_is_easily_got_wrong(part: str) -> None:
    assert any(part in name for name in NAMESPACES)


def test_namespaces_reach_the_bound_in_characters_and_in_bytes() -> None:
    assert any(len(name) == 256 for name in NAMESPACES)
    assert any(len(name) < len(name.encode()) == 256 for name in NAMESPACES)


def test_fragments_have_every_word_gaps_and_bounds_beyond_a_double() -> None:
    fragments = [each for vector in MADE for each in vector.content.get("fragments", ())]
    constraints: list[Any] = [each["constraints"] for each in fragments if each]
    assert {} in fragments
    assert {each["reuse"] for each in constraints} == {"none", "exact", "approximate"}
    assert len({each["share_max"] for each in constraints}) == 5
    assert {each["retention"]["mode"] for each in constraints} == {"allow", "forbid"}
    bounds = {each["retention"].get("max_age") for each in constraints}
    assert {None, 0, 2**53 + 1} <= bounds


def test_nothing_is_public_where_a_fragment_says_nothing() -> None:
    for vector in MADE:
        fragments = vector.content.get("fragments", ())
        if {} in fragments:
            assert "public" not in json.dumps(fragments)


FLIPS = (*flips_of_composition.FLIPS, *flips_of_digest.FLIPS)


@pytest.mark.parametrize("flip", FLIPS, ids=lambda flip: flip.name)
@pytest.mark.parametrize("seed", [1, 2])
def test_generated_vectors_alone_find_a_rule_that_is_turned_round(
    flip: Flip, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    flip.apply(monkeypatch)
    checks, _, _ = run_vectors(generate(seed))
    assert any(check.result is Result.FAIL for check in checks)
