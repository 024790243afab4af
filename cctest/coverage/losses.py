"""What earlier runs did and the suite can't do any more: identifiers of checks are permanent."""

from collections.abc import Iterator, Sequence

from cctest.coverage.model import Gap, Run
from cctest.coverage.suite import Suite
from cctest.probe.timing import CHECK as TIMING
from cctest.report.model import Report


def find_losses(suite: Suite, runs: Sequence[tuple[Run, Report]]) -> Iterator[Gap]:
    """Yield each vector, case or check that runs of another version of the suite had and this one lacks.

    A run of this very suite lost nothing: what it had beyond the suite was somebody's own vectors.
    """
    vectors = {vector.name for vector in suite.vectors}
    cases = {case.id for case in suite.cases}
    checks = {check for case in suite.cases for check in case.checks} | {TIMING}
    lost: dict[str, list[str]] = {}
    for run, report in runs:
        for check in dict.fromkeys(check.id for check in report.checks if not run.same_suite):
            holder = check.partition("#")[0]
            if holder not in vectors and check not in checks:
                lost.setdefault(check if holder in cases else holder, []).append(run.name)
    for name, where in lost.items():
        ran = ", ".join(dict.fromkeys(where))
        yield Gap(name, f"was in the run {ran}, and the suite no longer has it")
