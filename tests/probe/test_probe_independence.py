"""The order of a run, its seed and its jobs decide nothing."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import pytest
from faulty.findings import all_cases
from faulty.process import probe

from cctest.probe.bundled import EMBEDDED, make_credentials, running_gateway
from cctest.probe.run import ProbePlan, run_probe
from cctest.report.model import Report
from cctest.target.configuration import Configuration
from cctest.verdict import Check

Verdicts = Mapping[tuple[str, frozenset[tuple[str, str]]], str]

JOBS = 4
RUNS = [pytest.param(3, id="3"), pytest.param(10, id="10", marks=pytest.mark.full)]


@contextmanager
def bundled_gateway() -> Iterator[Callable[[int], Report]]:
    """Give what probes one gateway with a seed."""
    credentials = make_credentials()
    cases = all_cases()
    with running_gateway(credentials) as url:
        configuration = Configuration(target=url, model=EMBEDDED, credentials=credentials)
        yield lambda seed: run_probe(ProbePlan(configuration, cases, len(cases), seed, JOBS), lambda _: None)


def verdicts(checks: Iterable[Check]) -> Verdicts:
    return {(check.id, frozenset(check.cell.items())): str(check.result) for check in checks}


@pytest.mark.bundled
@pytest.mark.timeout(900)
@pytest.mark.parametrize("runs", RUNS)
def test_runs_in_any_order_come_to_the_same_verdicts(runs: int) -> None:
    with bundled_gateway() as probed:
        reports = [probed(seed) for seed in range(runs)]

    first, *others = (verdicts(report.checks) for report in reports)
    assert len(first) == len(reports[0].checks)
    for seed, other in enumerate(others, start=1):
        assert {check: (first.get(check), other.get(check)) for check in differing(first, other)} == {}, seed


@pytest.mark.full
@pytest.mark.bundled
@pytest.mark.timeout(900)
def test_a_fault_is_found_in_the_same_cells_in_any_order() -> None:
    first, *others = (
        verdicts(probe("boundary-overlooked-on-tools", all_cases(), seed=seed, jobs=JOBS).checks)
        for seed in range(3)
    )
    assert "fail" in first.values()
    assert [differing(first, other) for other in others] == [set(), set()]


def differing(one: Verdicts, other: Verdicts) -> set[tuple[str, frozenset[tuple[str, str]]]]:
    return {check for check in one.keys() | other.keys() if one.get(check) != other.get(check)}
