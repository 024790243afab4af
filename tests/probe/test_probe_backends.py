"""The reference gateway on its backends and in both modes, probed as anybody's.

The forwarding one is probed from both ends in `tests/gateway/test_gateway_forwarding.py`.
"""

import pytest

from cctest.probe.bundled import Bundled, make_credentials, running_gateway
from cctest.probe.load import load_cases
from cctest.probe.run import ProbePlan, run_probe
from cctest.report.model import Report
from cctest.target.configuration import Configuration
from cctest.verdict import Outcome, Result

pytestmark = pytest.mark.bundled

BOUNDING = ("--max-age", "generations", "--engine-deadline", "0.1", "--abort-margin", "0.05")


def probed(backend: str, *options: str) -> Report:
    """Probe the gateway on one of its backends."""
    credentials = make_credentials()
    cases = tuple(load_cases())
    gateway = Bundled(backend, options=options)
    with running_gateway(credentials, gateway) as url:
        configuration = Configuration(target=url, model=gateway.model(), credentials=credentials)
        plan = ProbePlan(configuration, cases, len(cases), seed=1, jobs=8)
        return run_probe(plan, lambda _: None)


@pytest.mark.parametrize("mode", ["bypass", "reject"])
@pytest.mark.parametrize("backend", ["embedded", "salt-only"])
def test_the_gateway_is_conformant(backend: str, mode: str) -> None:
    report = probed(backend, "--on-unenforceable", mode)
    assert report.verdict.outcome is Outcome.CONFORMANT, report.verdict.reasons


def test_the_gateway_is_conformant_where_it_bounds_ages_by_generations() -> None:
    report = probed("salt-only", *BOUNDING)
    assert report.verdict.outcome is Outcome.CONFORMANT, report.verdict.reasons
    assert any(one.result is Result.PASS for one in report.checks if one.id == "max-age-read#late-computes")


@pytest.mark.parametrize("mode", ["bypass", "reject"])
def test_a_gateway_that_caches_nothing_fails_nothing_and_passes_for_no_isolation(mode: str) -> None:
    report = probed("null", "--on-unenforceable", mode)
    assert report.verdict.outcome is Outcome.INCOMPLETE
    assert not [one.id for one in report.checks if one.result is Result.FAIL]
    isolation = {
        f"{case.id}#{expectation.id}"
        for case in load_cases()
        for expectation in case.expectations
        if expectation.predicate == "not_reused"
    }
    passed = [one for one in report.checks if one.id in isolation and one.result is Result.PASS]
    # What was turned away has left nothing behind; that is no claim about a cache.
    assert not [one.id for one in passed if not one.message.startswith("turned away")]
