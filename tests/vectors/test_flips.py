"""Every rule of the core that is turned round turns the vectors red that cover it, and breaks nothing else."""

import flips_of_composition
import flips_of_digest
import flips_of_documents
import flips_of_state
import flips_of_values
import pytest
from flip import Flip

from cctest.contract import intent
from cctest.vectors.load import bundled_vectors
from cctest.vectors.model import Vector
from cctest.vectors.run import run_vectors
from cctest.verdict import Result

FLIPS = (
    *flips_of_composition.FLIPS,
    *flips_of_digest.FLIPS,
    *flips_of_state.FLIPS,
    *flips_of_documents.FLIPS,
    *flips_of_values.FLIPS,
)


@pytest.fixture(scope="module")
def vectors() -> tuple[Vector, ...]:
    return bundled_vectors()


@pytest.mark.parametrize("flip", FLIPS, ids=lambda flip: flip.name)
def test_a_flipped_rule_turns_the_vectors_that_cover_it_red(
    flip: Flip, vectors: tuple[Vector, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intent, "_plain_intent", lambda value: None)  # the close reader has to notice
    flip.apply(monkeypatch)
    checks, _, _ = run_vectors(vectors)
    red = {check.id.partition("#")[0] for check in checks if check.result is Result.FAIL}
    assert flip.caught_by <= red
    assert not [check.id for check in checks if check.result is Result.ERROR]
    assert len(red) < len(vectors) / 2, "a flip that turns most vectors red shows nothing about one rule"


def test_flips_have_names_of_their_own() -> None:
    assert len({flip.name for flip in FLIPS}) == len(FLIPS)


def test_covering_vectors_exist(vectors: tuple[Vector, ...]) -> None:
    named = frozenset().union(*(flip.caught_by for flip in FLIPS))
    assert named <= {vector.name for vector in vectors}
