"""The findings: what the contract's text leaves undetermined, entry by entry of `spec/findings.md`."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from cctest import bundle
from cctest.problem import UsageProblem

PARTS: Final = (
    "Text at issue",
    "Readings",
    "Observable",
    "Input that tells them apart",
    "Run",
    "Our choice",
    "Proposed change",
)
"""What every finding has, in this order."""

_HEADING: Final = re.compile(r"### (?P<id>F-[1-9]\d*)(?: \((?P<reading>READ-[1-9]\d*)\))?: (?P<title>\S.*)")
_PART: Final = re.compile(rf"\*\*({'|'.join(PARTS)})\.\*\* ")


@dataclass(frozen=True, slots=True)
class Finding:
    """One entry. `reading` is the open question of section 12 that it is about, None for one of our own.

    `parts` has the text of each of `PARTS`, on one line, in Markdown.
    """

    id: str
    title: str
    reading: str | None
    parts: Mapping[str, str]

    @property
    def anchor(self) -> str:
        """The part of an address that leads to the entry, whatever its title is."""
        return self.id.lower()

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that run the input."""
        return tuple(re.findall(r"`([^`]+)`", self.parts["Run"]))


@cache
def load_findings(path: Path = bundle.FINDINGS) -> Mapping[str, Finding]:
    """Read the findings by identifier, in the order of the file.

    Raises UsageProblem, with file and line, for an entry that lacks a part or its anchor, and for an
    identifier or a reading that has two entries.
    """
    findings: dict[str, Finding] = {}
    for line, before, text in _entries(path.read_text("utf-8")):
        where = f"{path}:{line}"
        finding = _finding(text, where)
        if before != f'<a id="{finding.anchor}"></a>':
            raise UsageProblem(
                f'{finding.id} has no anchor: <a id="{finding.anchor}"></a> above it', where=where
            )
        if finding.id in findings:
            raise UsageProblem(f"{finding.id} is there twice", where=where)
        findings[finding.id] = finding
    return findings


def finding_of(reading: str) -> Finding | None:
    """Give the finding about an open question, named as READ-n or as the finding itself."""
    findings = load_findings()
    of_reading = {finding.reading: finding for finding in findings.values()}
    return findings.get(reading) or of_reading.get(reading)


def _entries(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each entry with its line and the line above it."""
    lines = text.splitlines()
    starts = [index for index, line in enumerate(lines) if line.startswith("### ")]
    for index in starts:
        following = (end for end, line in enumerate(lines) if end > index and line.startswith(("#", "<a ")))
        yield index + 1, _above(lines, index), lines[index : next(following, len(lines))]


def _above(lines: list[str], index: int) -> str:
    return next((line for line in reversed(lines[:index]) if line), "")


def _finding(lines: list[str], where: str) -> Finding:
    heading = _HEADING.fullmatch(lines[0])
    if heading is None:
        raise UsageProblem(
            f"`{lines[0]}` should be `### F-n: title` or `### F-n (READ-n): title`", where=where
        )
    _, *pieces = _PART.split(" ".join(" ".join(lines[1:]).split()))
    names, texts = pieces[::2], pieces[1::2]
    if tuple(names) != PARTS:
        raise UsageProblem(f"{heading['id']} should have, in this order: {', '.join(PARTS)}", where=where)
    parts = dict(zip(names, (text.strip() for text in texts), strict=True))
    return Finding(heading["id"], heading["title"], heading["reading"], parts)
