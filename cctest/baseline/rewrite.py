"""Changing a baseline as text, so that comments and layout stay as a person wrote them.

Whole entries are cut out by their lines, and new ones put behind the last. What comes out is read again: if
it doesn't say what was meant, nothing is written.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from cctest.baseline.entry import Entry
from cctest.baseline.file import Baseline, read_baseline
from cctest.contract import strict_yaml
from cctest.contract.source import SourceError
from cctest.datafile import DataFile
from cctest.problem import UsageProblem
from cctest.verdict import Check, Result

EMPTY: Final = """\
# Known failures, for `cctest probe --baseline`. Described by baseline.schema.json.
version: 1
failures: []
"""

_SIMPLE: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9_./#-]*|https?://[A-Za-z0-9_./?=&%+#~-]+|[0-9]{4}-[0-9]{2}-[0-9]{2}"
)
_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_IDLE: Final = re.compile(r"\s*(#.*)?")
"""A line that holds a comment or nothing."""


def rewritten(baseline: Baseline, text: str, dropped: Collection[Entry], added: Sequence[Entry]) -> str:
    """Give the text of a baseline without `dropped` and with `added`.

    `text` is what `baseline` was read from.
    Raises UsageProblem where that can't be done line by line (entries in flow style, for example).
    """
    if baseline.file.path.suffix.lower() == ".json":
        kept = [_document(entry) for entry in baseline.entries if entry not in dropped]
        failures = [*kept, *map(_document, added)]
        return json.dumps({"version": 1, "failures": failures}, indent=2, ensure_ascii=False) + "\n"
    lines = text.removesuffix("\n").split("\n")
    lines = _with(_without(baseline, lines, dropped), added)
    result = "".join(f"{line}\n" for line in lines)
    wanted = [entry for entry in baseline.entries if entry not in dropped] + list(added)
    if _meaning(baseline.file.path, result) != [_content(entry) for entry in wanted]:
        raise UsageProblem(
            "can't be rewritten without disturbing its layout",
            where=str(baseline.file.path),
            hint="write `failures` as a list with one dash a line, or change it by hand: "
            + "; ".join(
                [*(f"drop {entry.check}" for entry in dropped), *(f"add {new.check}" for new in added)]
            ),
        )
    return result


def _without(baseline: Baseline, lines: Sequence[str], dropped: Collection[Entry]) -> list[str]:
    starts = [baseline.file.position(f"/failures/{index}").line - 1 for index in range(len(baseline.entries))]
    gone: set[int] = set()
    for entry, start, limit in zip(baseline.entries, starts, [*starts, len(lines)][1:], strict=True):
        if entry in dropped:
            end = limit
            while end > start and _IDLE.fullmatch(lines[end - 1]):
                end -= 1  # comments in front of the next entry are that entry's
            gone.update(range(start, end))
    left = [line for number, line in enumerate(lines) if number not in gone]
    if dropped and len(dropped) == len(baseline.entries):
        left = [re.sub(r"^failures:(\s|$)", r"failures: []\1", line).rstrip() for line in left]
    return left


def _with(lines: list[str], added: Sequence[Entry]) -> list[str]:
    if not added:
        return lines
    opened = [re.sub(r"^(failures:)\s*\[\s*\]", r"\1", line) for line in lines]
    dash = next((line for line in opened if re.match(r" *- ", line)), "  - ")
    indent = len(dash) - len(dash.lstrip(" "))
    return [*opened, *(f"{' ' * indent}{line}" for entry in added for line in _lines(entry))]


def _lines(entry: Entry) -> Iterator[str]:
    lead = "- "
    for name, value in _document(entry).items():
        yield f"{lead}{name}: {_flow(value)}"
        lead = "  "


def _flow(value: str | Mapping[str, str]) -> str:
    if isinstance(value, str):
        simple = _SIMPLE.fullmatch(value) and value.lower() not in _WORDS
        return value if simple else _quoted(value)
    return f"{{{', '.join(f'{_flow(axis)}: {_flow(each)}' for axis, each in value.items())}}}"


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(char if char.isprintable() else f"\\U{ord(char):08x}" for char in quoted)


def _document(entry: Entry) -> dict[str, Any]:
    document: dict[str, Any] = {"check": entry.check}
    if entry.cell:
        document["cell"] = dict(entry.cell)
    if entry.result is not Result.FAIL:
        document["result"] = str(entry.result)
    return document | {"reason": entry.reason, "link": entry.link, "expires": entry.expires.isoformat()}


def _content(entry: Entry) -> Mapping[str, Any]:
    return {"result": "fail", **_document(entry)}


def _meaning(path: Path, text: str) -> list[Mapping[str, Any]] | None:
    try:
        return [_content(entry) for entry in read_baseline(DataFile(path, strict_yaml.parse(text))).entries]
    except (SourceError, UsageProblem):
        return None


def entries_for(checks: Sequence[Check], ran: Sequence[Check], like: Entry) -> Iterator[Entry]:
    """Yield the fewest simple entries that cover `checks` and nothing else of `ran`.

    Each is one check: in every cell, in the cells with one value of one axis, or in one cell. Reason, link
    and day are those of `like`.
    """
    outcomes = dict.fromkeys((check.id, check.result) for check in checks)
    for name, result in outcomes:
        cells = [check.cell for check in checks if check.id == name and check.result is result]
        everywhere = [check.cell for check in ran if check.id == name]
        for cell in _cover(cells, everywhere):
            yield Entry(name, result, like.reason, like.link, like.expires, cell)


def _cover(
    cells: Sequence[Mapping[str, str]], everywhere: Sequence[Mapping[str, str]]
) -> list[Mapping[str, str]]:
    if len(cells) == len(everywhere):
        return [{}]
    for axis, value in dict.fromkeys(pair for cell in cells for pair in cell.items()):
        if cells == [cell for cell in everywhere if cell.get(axis) == value]:
            return [{axis: value}]
    return list(cells)
