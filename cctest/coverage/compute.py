"""Coverage of a suite and of any number of runs."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from cctest.bundle import suite_digest
from cctest.coverage.gaps import find_gaps
from cctest.coverage.losses import find_losses
from cctest.coverage.model import Coverage, Row, RuleRow, Run, Tested
from cctest.coverage.suite import Suite, cases_with
from cctest.coverage.tested import tested, unobservable
from cctest.report.model import Report
from cctest.verdict import Check


def cover(suite: Suite, reports: Sequence[tuple[str, Report]] = ()) -> Coverage:
    """Compute coverage; each report comes with the name by which the tables are to call it.

    Which checks of a run concern a rule is told by the rules that the report gives for them.
    """
    runs = tuple(_run(name, report) for name, report in reports)
    shown = [report for _, report in reports]
    return Coverage(
        runs=runs,
        rules=tuple(_of_rule(suite, name, shown) for name in suite.rules),
        interoperability=tuple(_of_test(suite, number, shown) for number in suite.topics.interoperability),
        beyond_schemas=tuple(
            _with_runs(suite, _row(suite, topic.name, topic.text, topic.rules, because=topic.because), shown)
            for topic in suite.topics.beyond_schemas
        ),
        gaps=(*find_gaps(suite), *find_losses(suite, tuple(zip(runs, shown, strict=True)))),
    )


def _run(name: str, report: Report) -> Run:
    return Run(
        name=name,
        command=report.command,
        target=report.target,
        outcome=report.verdict.outcome,
        started=report.started,
        same_suite=report.suite_digest == suite_digest(),
    )


def _of_rule(suite: Suite, name: str, reports: Sequence[Report]) -> RuleRow:
    rule = suite.rules[name]
    row = _with_runs(suite, _row(suite, rule.id, rule.text, (rule.id,), because=rule.because), reports)
    if rule.because is not None:
        row = replace(row, tested=tuple(unobservable(each, rule.because) for each in row.tested))
    return RuleRow(rule, row)


def _row(suite: Suite, name: str, text: str, rules: tuple[str, ...], *, because: str | None) -> Row:
    checks = suite.checks_of(rules)
    return Row(
        name=name,
        text=text,
        rules=rules,
        vectors=suite.vectors_of(rules),
        cases=cases_with(checks),
        checks=checks,
        because=because,
    )


def _with_runs(suite: Suite, row: Row, reports: Sequence[Report]) -> Row:
    return replace(row, tested=tuple(_by_rules(suite, row, report) for report in reports))


def _by_rules(suite: Suite, row: Row, report: Report) -> Tested:
    wanted = frozenset(row.rules)
    return _tested(suite, row, report, [check for check in report.checks if wanted & {*check.rules}])


def _of_test(suite: Suite, number: int, reports: Sequence[Report]) -> Row:
    cases = [case for case in suite.cases if case.appendix == number]
    row = Row(
        name=str(number),
        text=suite.topics.interoperability[number],
        rules=tuple(dict.fromkeys(rule for case in cases for rule in case.rules)),
        vectors=(),
        cases=tuple(case.id for case in cases),
        checks=tuple(check for case in cases for check in case.checks),
    )
    return replace(row, tested=tuple(_by_checks(suite, row, report, row.checks) for report in reports))


def _by_checks(suite: Suite, row: Row, report: Report, checks: Collection[str]) -> Tested:
    wanted = frozenset(checks)
    return _tested(suite, row, report, [check for check in report.checks if check.id in wanted])


def _tested(suite: Suite, row: Row, report: Report, checks: Sequence[Check]) -> Tested:
    two_ended = frozenset(case.id for case in suite.cases if case.two_ended)
    return tested(row, report, checks, two_ended)
