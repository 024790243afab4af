"""Reading a baseline, and what an entry of it may name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from cctest import datafile
from cctest.baseline.entry import Entry
from cctest.datafile import DataFile
from cctest.verdict import Result

SCHEMA: Final = "baseline.schema.json"


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline as read; `file` holds the text positions of its entries, in the same order."""

    file: DataFile
    entries: tuple[Entry, ...]


def load_baseline(path: Path) -> Baseline:
    """Read a baseline.

    Raises UsageProblem, with file, line and column, for what breaks `baseline.schema.json`, for a day that
    isn't in the calendar, and for an entry given twice.
    """
    return read_baseline(datafile.read(path))


def read_baseline(file: DataFile) -> Baseline:
    """Make a baseline of a file that was parsed; raises as `load_baseline` does."""
    datafile.require(file, datafile.validator(SCHEMA), file.parsed.value)
    entries = tuple(_entries(file))
    _require_distinct(file, entries)
    return Baseline(file, entries)


def _entries(file: DataFile) -> Iterator[Entry]:
    content: Any = file.parsed.value
    for index, item in enumerate(content["failures"]):
        pointer = f"/failures/{index}"
        try:
            expires = date.fromisoformat(item["expires"])
        except ValueError:
            raise file.problem(f"{pointer}/expires", f"there is no day {item['expires']}") from None
        yield Entry(
            check=item["check"],
            result=Result(item.get("result", Result.FAIL)),
            reason=item["reason"],
            link=item["link"],
            expires=expires,
            cell=item.get("cell", {}),
            where=file.where(pointer),
        )


def _require_distinct(file: DataFile, entries: Sequence[Entry]) -> None:
    seen: dict[tuple[str, frozenset[tuple[str, str]]], int] = {}
    for index, entry in enumerate(entries):
        earlier = seen.setdefault((entry.check, frozenset(entry.cell.items())), index)
        if earlier != index:
            raise file.problem(
                f"/failures/{index}",
                f"the baseline speaks of {entry.check} in these cells twice",
                f"first: {file.where(f'/failures/{earlier}')}",
            )
