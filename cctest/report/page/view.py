"""What the page shows of a report: grouped, and in the order in which it is read."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from cctest.catalogue import Section
from cctest.coverage.model import Coverage, RuleRow
from cctest.report.model import Report, cell_name, of_profile
from cctest.report.repeats import by_reason, repeated
from cctest.verdict import Check, Exit, Outcome, Profile, Result

_REASONED = (Result.ERROR, Result.INCONCLUSIVE, Result.WARN, Result.UNSUPPORTED)


@dataclass(frozen=True, slots=True)
class Told:
    """One check that failed, with the cells in which it did so in the same way."""

    check: Check
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Excuse:
    """Checks of one result that give the same reason, by identifier with the number of cells."""

    message: str
    checks: Mapping[str, int]


def counts(report: Report) -> dict[str, dict[Result, int]]:
    """Count checks by profile and result; vectors have no profiles. Results that are nowhere are left out."""
    rows = {"all": report.checks}
    if report.command == "probe":
        rows = {str(profile): of_profile(report, profile) for profile in Profile} | rows
    there = [result for result in Result if any(check.result is result for check in report.checks)]
    return {
        name: {result: sum(check.result is result for check in checks) for result in there}
        for name, checks in rows.items()
    }


def failures(report: Report) -> list[Told]:
    """Give every check that failed, once for all the cells in which it came out the same way."""
    groups = repeated(check for check in report.checks if check.result is Result.FAIL)
    return [Told(group[0], tuple(cell_name(check.cell) for check in group if check.cell)) for group in groups]


def excuses(report: Report) -> Iterator[tuple[Result, list[Excuse]]]:
    """Yield the other results but passes, each with its reasons."""
    for result in _REASONED:
        reasons = by_reason(report.checks, result)
        if reasons:
            yield (
                result,
                [
                    Excuse(message, Counter(check.id for check in checks))
                    for message, checks in reasons.items()
                ],
            )


def sections(coverage: Coverage) -> Iterator[tuple[Section, list[RuleRow]]]:
    """Yield the rules by section of the contract."""
    for section, rows in groupby(coverage.rules, key=lambda each: each.rule.section):
        yield section, list(rows)


def excused(report: Report) -> bool:
    """Whether the run ended well although it isn't conformant: a baseline knew what went wrong."""
    return report.verdict.exit is Exit.OK and report.verdict.outcome is not Outcome.CONFORMANT


def percent(part: float | None) -> str:
    """Spell a part of one: `97.5 %`, never rounded up to 100."""
    return "-" if part is None else f"{int(part * 1000) / 10:g} %"
