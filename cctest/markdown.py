"""The fenced JSON blocks of a Markdown file, and where they are."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_FENCE: Final = re.compile(r"(?P<indent>[ \t>]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^`\s]*)")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its text without the fences, and the line and indentation of its first line.

    `above` is the last line before it that isn't blank.
    """

    text: str
    line: int
    indent: int
    above: str = ""


def json_blocks(markdown: str) -> Iterator[Block]:
    """Yield the blocks that are marked `json`; one without an end reaches to the end of the file.

    Fences inside lists and quotes count: what stands before a fence is taken off the block's lines.
    """
    lines = markdown.split("\n")
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        number += 1
        if opening is None:
            continue
        first = number
        while number < len(lines) and not _closes(lines[number], opening["mark"]):
            number += 1
        if opening["info"].lower() == "json":
            indent = len(opening["indent"])
            inside = [_without_indent(line, indent) for line in lines[first:number]]
            before = (line.lstrip(" \t>").rstrip() for line in reversed(lines[: first - 1]))
            above = next(filter(None, before), "")
            yield Block("\n".join(inside), first + 1, indent, above)
        number += 1


def _closes(line: str, mark: str) -> bool:
    stripped = line.strip(" \t>\r")
    return len(stripped) >= len(mark) and stripped == mark[0] * len(stripped)


def _without_indent(line: str, indent: int) -> str:
    """Take off at most `indent` characters of indentation and quote marks."""
    taken = 0
    while taken < min(indent, len(line)) and line[taken] in " \t>":
        taken += 1
    return line[taken:]
