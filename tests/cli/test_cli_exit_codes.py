"""The exit code of a run follows from its results alone: every combination, written out."""

from itertools import chain, combinations

import pytest

from cctest.cli.outputs import Outputs
from cctest.report.model import Report
from cctest.verdict import Check, Outcome, Result, decide

ALL = tuple(Result)
SUBSETS = tuple(chain.from_iterable(combinations(ALL, size) for size in range(len(ALL) + 1)))


def expected(results: tuple[Result, ...]) -> tuple[str, int]:
    found = set(results)
    if Result.FAIL in found:
        return "nonconformant", 1
    if found <= {Result.ERROR}:
        return "not tested", 4
    if found & {Result.ERROR, Result.INCONCLUSIVE} or not found & {Result.PASS, Result.WARN}:
        return "incomplete", 3
    return "conformant", 0


@pytest.mark.parametrize("blockers", [(), ("one tenant only",)])
@pytest.mark.parametrize("results", SUBSETS, ids=lambda results: "+".join(results) or "nothing")
def test_the_code_follows_from_the_results(
    results: tuple[Result, ...], blockers: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    checks = tuple(Check(f"case-{result}#x", ("RET-1",), result, "why") for result in results)
    report = Report("probe", "2026-12-01T00:00:00+00:00", 0.0, decide(checks, blockers), checks)
    outcome, code = expected(results)
    if blockers and outcome == "conformant":
        outcome, code = "incomplete", 3
    assert Outputs().publish(report) == code
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"{outcome}: ")
    assert report.verdict.outcome is Outcome("incomplete" if code == 4 else outcome)
