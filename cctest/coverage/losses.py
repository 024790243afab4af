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
    lost: dict[str, list[str]] = {}
    for run, report in runs:
        gone = _of_vectors(suite, report) if report.command == "vectors" else _of_cases(suite, report)
        for name in gone if not run.same_suite else ():
            lost.setdefault(name, []).append(run.name)
    for name, where in lost.items():
        ran = ", ".join(dict.fromkeys(where))
        yield Gap(name, f"was in the run {ran}, and the suite no longer has it")


def _of_vectors(suite: Suite, report: Report) -> Iterator[str]:
    known = {vector.name for vector in suite.vectors}
    for check in report.checks:
        name = check.id.partition("#")[0]
        if name not in known:
            yield f"vector {name}"


def _of_cases(suite: Suite, report: Report) -> Iterator[str]:
    cases = {case.id for case in suite.cases}
    checks = {check for case in suite.cases for check in case.checks} | {TIMING}
    for check in report.checks:
        case = check.id.partition("#")[0]
        if check.id not in checks:
            yield f"check {check.id}" if case in cases else f"case {case}"
