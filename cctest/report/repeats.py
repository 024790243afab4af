"""Checks that came out alike, put together, so that a report tells each thing once."""

from collections.abc import Iterable

from cctest.verdict import Check, Result


def repeated(checks: Iterable[Check]) -> list[list[Check]]:
    """Put together the cells in which one check came out the same way."""
    groups: dict[tuple[str, str, str, str], list[Check]] = {}
    for check in checks:
        groups.setdefault((check.id, check.message, check.expected, check.seen), []).append(check)
    return list(groups.values())


def by_reason(checks: Iterable[Check], result: Result) -> dict[str, list[Check]]:
    """Put together the checks of one result that give the same reason for it."""
    reasons: dict[str, list[Check]] = {}
    for check in checks:
        if check.result is result:
            reasons.setdefault(check.message, []).append(check)
    return reasons
