"""Which permitted readings a run showed, and the finding about each."""

from dataclasses import dataclass

from cctest.findings import Finding, finding_of
from cctest.report.model import Report


@dataclass(frozen=True, slots=True)
class TakenReading:
    """A reading, the option taken, the checks in which that was seen, and the finding about it."""

    id: str
    taken: str
    checks: tuple[str, ...]
    finding: Finding | None


def taken_readings(report: Report) -> list[TakenReading]:
    """Give what was taken, each option once, by the number of the reading."""
    seen: dict[tuple[str, str], dict[str, None]] = {}
    for reading in report.readings:
        seen.setdefault((reading.id, reading.taken), {})[reading.check] = None
    ordered = sorted(seen, key=lambda taken: (_number(taken[0]), taken))
    return [TakenReading(name, taken, tuple(seen[name, taken]), finding_of(name)) for name, taken in ordered]


def _number(reading: str) -> int:
    digits = reading.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0
