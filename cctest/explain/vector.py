"""Explaining a vector, or one check of it.

A vector's checks have no list of their own: they are what judging it gives, so it is judged on our own core.
Vectors that are generated for each run have the same names and checks in all; what they hold, the seed says.
"""

from collections.abc import Iterator, Mapping

from cctest.explain.page import heading, item, line, term
from cctest.vectors.generated import generate, is_generated
from cctest.vectors.model import Vector
from cctest.vectors.run import run_vector

_ANY_SEED = 0


def generated_vectors() -> dict[str, Vector]:
    """Give vectors with the names of those that are generated for each run, by name."""
    return {vector.name: vector for vector in generate(_ANY_SEED)}


def checks_of(vector: Vector, vectors: Mapping[str, Vector]) -> dict[str, str]:
    """Give what each check of a vector expects, by its identifier; nothing of one that is generated.

    A generated vector has some of the checks that there are of its kind, by the seed which.
    """
    if not is_generated(vector.name):
        return {check.id: check.expected for check in run_vector(vector).checks}
    alike = (one for one in vectors.values() if is_generated(one.name) and one.kind is vector.kind)
    ends = (check.id.partition("#")[2] for one in alike for check in run_vector(one).checks)
    return {f"{vector.name}#{end}": "" for end in ends}


def vector_text(vector: Vector, check: str = "", expected: str = "", *, of_a_finding: bool) -> Iterator[str]:
    """Yield the lines of a vector of the suite or of a finding, or of one check of it."""
    generated = is_generated(vector.name)
    where = "generated for each run, from the seed that the run tells" if generated else vector.where
    yield from line(f"{check or vector.name}: {vector.title or vector.kind}")
    yield from line(f"{'A check of a' if check else 'A'} vector of kind {vector.kind}: {where}.")
    yield from term("rules", ", ".join(vector.rules))
    if expected:
        yield from term("expected", expected)
    yield from heading("Reproduce")
    options = "--findings " if of_a_finding else "--seed SEED " if generated else ""
    yield from item("$", f"cctest vectors {options}--case {vector.name}")
