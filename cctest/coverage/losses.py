"""What earlier runs did and the suite can't do any more: checks and their ties are permanent."""

from collections.abc import Iterator, Sequence

from cctest.coverage.model import Gap, Run
from cctest.coverage.suite import Suite, judging, rules_of
from cctest.probe.timing import CHECK as TIMING
from cctest.report.model import Report
from cctest.vectors.generated import is_generated


def find_losses(suite: Suite, runs: Sequence[tuple[Run, Report]]) -> Iterator[Gap]:
    """Yield each vector, case or check that runs of another version of the suite had and this one lacks.

    The rules that each was tied to count as well. A run of this very suite lost nothing: what it had beyond
    the suite was somebody's own vectors.
    """
    lost: dict[tuple[str, str], list[str]] = {}
    for run, report in runs:
        gone = _of_vectors(suite, report) if report.command == "vectors" else _of_cases(suite, report)
        for loss in gone if not run.same_suite else ():
            lost.setdefault(loss, []).append(run.name)
    for (name, rule), where in lost.items():
        ran = ", ".join(dict.fromkeys(where))
        if rule:
            yield Gap(name, f"was tied to {rule} in the run {ran}, and no longer names it")
        else:
            yield Gap(name, f"was in the run {ran}, and the suite no longer has it")


def _of_vectors(suite: Suite, report: Report) -> Iterator[tuple[str, str]]:
    """Yield names of what is gone, each with the rule that it lost, or with an empty one if all of it did."""
    known = {vector.name: rules_of(vector) for vector in suite.vectors}
    for check in report.checks:
        name = check.id.partition("#")[0]
        if name not in known and not is_generated(name):
            yield f"vector {name}", ""
        for rule in check.rules:
            if rule not in known.get(name, check.rules):
                yield f"vector {name}", rule


def _of_cases(suite: Suite, report: Report) -> Iterator[tuple[str, str]]:
    cases = {case.id for case in suite.cases}
    checks = {check: rules for case in suite.cases for check, rules in judging(case)}
    for check in report.checks:
        case = check.id.partition("#")[0]
        if check.id not in checks and check.id != TIMING:
            yield (f"check {check.id}" if case in cases else f"case {case}"), ""
        for rule in check.rules:
            if rule not in checks.get(check.id, check.rules):
                yield f"check {check.id}", rule
