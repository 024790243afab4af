"""No conforming implementation gets a failure, however it differs from ours."""

from collections.abc import Callable

import pytest
from faulty.catalogue import VARIANTS
from faulty.findings import all_cases, failures, isolation, plain_passes
from faulty.model import Backend, Variant
from faulty.process import probe

from cctest.report.model import Report

Engine = Callable[[Backend], str | None]

PAIRS = [(variant, backend) for variant in VARIANTS for backend in variant.backends]


def spelt(pair: tuple[Variant, Backend]) -> str:
    return f"{pair[0].id}-{pair[1].name.lower()}"


def whole_probe(pair: tuple[Variant, Backend], engine: Engine) -> Report:
    variant, backend = pair
    return probe(variant.id, all_cases(), jobs=variant.jobs, engine=engine(backend))


@pytest.mark.bundled
@pytest.mark.timeout(300)
@pytest.mark.probes.with_args(whole_probe)
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair[0].reuses], ids=spelt)
def test_a_conforming_implementation_gets_no_failure(pair: tuple[Variant, Backend], report: Report) -> None:
    assert failures(report.checks) == []


@pytest.mark.bundled
@pytest.mark.timeout(300)
@pytest.mark.probes.with_args(whole_probe)
@pytest.mark.parametrize("pair", [pair for pair in PAIRS if not pair[0].reuses], ids=spelt)
def test_where_no_reuse_shows_no_isolation_check_passes_plainly(
    pair: tuple[Variant, Backend], report: Report
) -> None:
    checks = isolation(report.checks)

    assert failures(report.checks) == []
    assert len(checks) > 300
    assert plain_passes(checks) == []
    by_engine = pair[1] is Backend.FORWARDING
    assert any(check.vacuous for check in checks) == by_engine, "only an engine's record can show it"


def test_at_least_six_conforming_implementations_stand_in_front_of_an_engine() -> None:
    assert sum(Backend.FORWARDING in variant.backends for variant in VARIANTS) >= 6
    assert {backend for variant, backend in PAIRS if not variant.reuses} == {*Backend}
