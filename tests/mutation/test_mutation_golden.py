"""Golden values: another expected value turns the vector red."""

from cctest.mutation.golden import alterations, judge_golden
from cctest.mutation.mutant import Status
from cctest.vectors.load import bundled_vectors

VECTORS = bundled_vectors()


def test_every_altered_golden_value_turns_its_vector_red() -> None:
    verdicts = judge_golden(VECTORS)
    assert [one.mutant for one in verdicts if one.status is not Status.KILLED] == []
    assert len(verdicts) > 700


def test_every_vector_that_leaves_no_choice_has_a_golden_value() -> None:
    without = [vector.name for vector in VECTORS if not [*alterations(vector)]]
    assert all("permitted" in str(vector.content) for vector in VECTORS if vector.name in without)
