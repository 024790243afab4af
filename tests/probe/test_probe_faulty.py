"""Each faulty implementation is found out by the check that is meant for it, and by nothing unrelated."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from faulty import seams
from faulty.catalogue import BY_NAME, FAULTS, PERMITTED, VARIANTS
from faulty.findings import all_cases, wrong
from faulty.model import Backend, Fault
from faulty.process import probe

from cctest.probe.case import Case
from cctest.report.model import Report

Engine = Callable[[Backend], str | None]

JOBS = 8
"""Exchanges under way at a time: our gateways are fast."""

EACH_FAULT = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)


def probe_of(cases: Callable[[Fault], Iterable[Case]]) -> Callable[[Fault, Engine], Report]:
    return lambda fault, engine: probe(fault.id, cases(fault), jobs=JOBS, engine=engine(fault.backend))


def cases_for(fault: Fault) -> list[Case]:
    """The cases under the fault's rules: those with a check meant for it in all their cells, others in one."""
    meant = {check.split("#")[0] for check in fault.checks}
    tied = [case for case in all_cases() if case.all_rules & set(fault.rules)]
    return [case if case.id in meant else replace(case, axes=first_values(case)) for case in tied]


def first_values(case: Case) -> dict[str, tuple[str, ...]]:
    return {axis: values[:1] for axis, values in case.axes.items()}


@pytest.mark.bundled
@pytest.mark.probes.with_args(probe_of(cases_for))
@EACH_FAULT
def test_a_fault_is_found_where_it_is_and_nowhere_else(fault: Fault, report: Report) -> None:
    assert wrong(fault, report.checks) == []


@pytest.mark.full
@pytest.mark.bundled
@pytest.mark.timeout(300)
@pytest.mark.probes.with_args(probe_of(lambda _: all_cases()))
@EACH_FAULT
def test_the_whole_probe_blames_a_fault_on_no_other_rule(fault: Fault, report: Report) -> None:
    assert wrong(fault, report.checks) == []


def test_the_catalogue_is_large_enough_and_unambiguous() -> None:
    assert len(FAULTS) >= 60
    assert len(VARIANTS) >= 14
    assert len(BY_NAME) == len(FAULTS) + len(VARIANTS) + len(PERMITTED)


@pytest.mark.parametrize("name", [name for name, one in vars(seams).items() if isinstance(one, seams.Seam)])
def test_the_places_that_patches_take_hold_of_are_still_there(name: str) -> None:
    assert callable(getattr(seams, name).found())


def test_faults_of_every_kind_are_there() -> None:
    assert {fault.status for fault in FAULTS} == {"honest", "lies", "silent"}
    assert any(fault.cells for fault in FAULTS)
    assert sum(fault.public is not None for fault in FAULTS) >= 20
    assert sum(fault.backend is Backend.FORWARDING for fault in FAULTS) >= 15


def test_every_check_meant_for_a_fault_exists_and_can_be_run() -> None:
    cases = {check: case for case in all_cases() for check in case.checks}
    assert sorted({check for fault in FAULTS for check in fault.checks} - cases.keys()) == []
    assert [
        (fault.id, check)
        for fault in FAULTS
        for check in fault.checks
        if cases[check].two_ended and fault.backend is Backend.EMBEDDED
    ] == []


def test_every_check_meant_for_a_fault_rests_on_a_rule_that_it_breaks() -> None:
    rules = {
        check: set(expected.rules)
        for case in all_cases()
        for check, expected in zip(case.checks, case.expectations, strict=True)
    }
    assert [
        (fault.id, check) for fault in FAULTS for check in fault.checks if not rules[check] & set(fault.rules)
    ] == []
