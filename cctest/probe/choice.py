"""Which cases a run is about, by case, rule, group and exclusion."""

from collections.abc import Sequence
from typing import Final

from cctest.catalogue import load_catalogue
from cctest.probe.case import Case
from cctest.selection import Filter, Wanted

_BY_CASE: Final[Filter[Case]] = Filter(
    "case",
    lambda case: case.id,
    lambda case: case.all_rules,
    lambda case: case.group,
    lambda case: case.checks,
    Case.without,
)


def choose(everything: Sequence[Case], wanted: Wanted) -> tuple[Case, ...]:
    """Give the wanted cases, without the checks that were excluded.

    Raises UsageProblem for a name that nobody knows, and where nothing is left.
    """
    return _BY_CASE.narrow(everything, wanted, load_catalogue())


def left_out(everything: Sequence[Case], chosen: Sequence[Case]) -> tuple[str, ...]:
    """Say which checks of the chosen cases were excluded, if any were."""
    whole = {case.id: set(case.checks) for case in everything}
    gone = sorted(check for case in chosen for check in whole[case.id].difference(case.checks))
    return (f"excluded, and so not judged: {', '.join(gone)}",) if gone else ()
