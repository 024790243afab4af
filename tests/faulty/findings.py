"""What a probe found of a fault, held against what it was meant to find."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from cctest.probe.case import Case
from cctest.probe.load import load_cases
from cctest.verdict import Check, Result, Source

from .model import Fault

_RED = (Result.FAIL, Result.ERROR)


@cache
def all_cases() -> tuple[Case, ...]:
    """Every case that the probe has."""
    return load_cases()


@cache
def levels() -> Mapping[str, str]:
    """The level of each check."""
    return {
        check: expected.level
        for case in all_cases()
        for check, expected in zip(case.checks, case.expectations, strict=True)
    }


def wrong(fault: Fault, checks: Sequence[Check]) -> list[str]:
    """Say where the probe missed the fault, blamed it on something else, or broke it."""
    return [
        *(f"{check} isn't among the checks that were run" for check in _not_run(fault, checks)),
        *_cells_that_differ(fault, checks),
        *_failures_of_other_rules(fault, checks),
        *exchanges_that_broke(checks),
    ]


def _not_run(fault: Fault, checks: Sequence[Check]) -> list[str]:
    return sorted(set(fault.checks) - {check.id for check in checks})


def _cells_that_differ(fault: Fault, checks: Iterable[Check]) -> Iterator[str]:
    """Cells in which a check meant for the fault misses it, or shows it where it isn't."""
    for check in checks:
        if check.id not in fault.checks:
            continue
        meant = Result.WARN if levels()[check.id] == "SHOULD" else fault.result
        if (check.result is meant) != fault.shows_in(check.cell):
            yield f"{check.id} {dict(check.cell)} {check.result}: {check.message}"


def _failures_of_other_rules(fault: Fault, checks: Iterable[Check]) -> list[str]:
    return sorted(
        {
            f"{check.id} rests on {', '.join(check.rules)}: {check.message}; {check.seen}"
            for check in checks
            if check.result in _RED and not set(check.rules) & set(fault.rules)
        }
    )


def exchanges_that_broke(checks: Iterable[Check]) -> list[str]:
    """A crash or a server error is no detection, save where the engine was told to fail."""
    provoked = {case.id for case in all_cases() if any(step.misbehaviour for step in case.steps)}
    return sorted(
        {
            f"{check.id} broke: {check.message}; {check.seen}"
            for check in checks
            if check.result is Result.ERROR
            or ("HTTP 5" in f"{check.seen} {check.message}" and check.id.split("#")[0] not in provoked)
        }
    )


def failures(checks: Iterable[Check]) -> list[str]:
    """What is red."""
    return sorted(
        {
            f"{check.id} {dict(check.cell)} {check.result}: {check.message}; {check.seen}"
            for check in checks
            if check.result in _RED
        }
    )


def isolation(checks: Iterable[Check]) -> list[Check]:
    """The isolation checks: those that something isn't reused."""
    known = {
        check
        for case in all_cases()
        for check, expected in zip(case.checks, case.expectations, strict=True)
        if expected.predicate == "not_reused"
    }
    return [check for check in checks if check.id in known]


def plain_passes(checks: Iterable[Check]) -> list[str]:
    """Checks that pass, and not vacuously.

    A caller who is turned away, or refused, was kept out, whatever is cached: a pass that rests on the
    response as such isn't counted.
    """
    return sorted(
        {
            check.id
            for check in checks
            if check.result is Result.PASS
            and not check.vacuous
            and {evidence.source for evidence in check.evidence} != {Source.RESPONSE}
        }
    )
