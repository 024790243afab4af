"""Which cells of a case's axes are run: every pair of values by default, the whole product on request."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from cctest.probe.case import Case


@dataclass(frozen=True, slots=True)
class Cell:
    """One case at one point of its axes."""

    case: Case
    at: Mapping[str, str]


def cells_of(cases: Iterable[Case], *, full: bool = False) -> Iterator[Cell]:
    """Yield the cells of every case: a pairwise cover of its axes, or their product if `full`."""
    for case in cases:
        for at in product(case.axes) if full else pairwise(case.axes):
            yield Cell(case, at)


def product(axes: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Yield every combination of values."""
    for values in itertools.product(*axes.values()):
        yield dict(zip(axes, values, strict=True))


def pairwise(axes: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Yield combinations such that every two values of different axes meet in one of them.

    Greedy and deterministic: the combination that meets most new pairs comes next, the first in the order
    of the product among equals. With one axis or two it is the product.
    """
    candidates = list(product(axes))
    open_pairs = set().union(*(_pairs(candidate) for candidate in candidates)) if len(axes) > 1 else set()
    if not open_pairs:
        yield from candidates
        return
    while open_pairs:
        best = max(candidates, key=lambda candidate: len(_pairs(candidate) & open_pairs))
        open_pairs -= _pairs(best)
        yield best


def _pairs(at: Mapping[str, str]) -> frozenset[tuple[tuple[str, str], ...]]:
    return frozenset(itertools.combinations(at.items(), 2))
