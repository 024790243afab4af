"""Stand-alone documents of the contract in files: found, told apart and checked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path
from typing import Final, Protocol

from cctest import bounded
from cctest.chat_intents import IN_CHAT, intents_of_chat
from cctest.contract import strict_json, strict_yaml
from cctest.contract.documents import check_document
from cctest.contract.source import Fault, JsonValue, Parsed, Position, SourceError
from cctest.contract.vocabulary import Kind
from cctest.datafile import contract_schemas
from cctest.markdown import json_blocks
from cctest.problem import UsageProblem

STDIN: Final = "-"

_FRAGMENT_MEMBERS: Final = frozenset({"role", "content", "function", "type"})
_INVALID: Final = re.compile(r"(?:<!--|\{::comment\})\s*invalid: (?P<rule>\w+-\d+)\s*(?:-->|\{:/comment\})")
"""What stands above an example in Markdown that breaks a rule on purpose."""
_WHOLE: Final = Position(1, 1)


class _Parse(Protocol):
    def __call__(self, data: bytes | str, /) -> Parsed: ...


class Format(Enum):
    """How a file is read."""

    JSON = auto()
    YAML = auto()
    MARKDOWN = auto()


_FORMATS: Final = {
    ".json": Format.JSON,
    ".yaml": Format.YAML,
    ".yml": Format.YAML,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
}


@dataclass(frozen=True, slots=True)
class Source:
    """A file that was read."""

    name: str
    content: bytes
    format: Format


@dataclass(frozen=True, slots=True)
class Finding:
    """One document and what is wrong with it, in order; each fault has a position.

    `kind` is None for a block that wasn't checked; `reason` says why.
    """

    source: str
    position: Position
    kind: Kind | None
    faults: tuple[Fault, ...] = ()
    reason: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """Tell it for people, one line per fault: `file:line:column: pointer: message [rules]`."""
        if self.kind is None:
            return (f"{self._place(self.position)}: not validated: {self.reason}",)
        return tuple(self._line(fault) for fault in self.faults)

    def _line(self, fault: Fault) -> str:
        pointer = f"{fault.pointer}: " if fault.pointer else ""
        rules = f" [{', '.join(fault.rules)}]" if fault.rules else ""
        return f"{self._place(fault.position or self.position)}: {pointer}{fault.message}{rules}"

    def _place(self, position: Position) -> str:
        return f"{self.source}:{position.line}:{position.column}"


def read_source(name: str) -> Source:
    """Read a file, or standard input for `-`. Raises UsageProblem if that can't be done."""
    content = bounded.read_stdin() if name == STDIN else bounded.read(Path(name))
    return Source(name, content, _FORMATS.get(Path(name).suffix.lower()) or _guess(content))


def _guess(content: bytes) -> Format:
    if content.lstrip()[:1] in (b"{", b"["):
        return Format.JSON
    return Format.MARKDOWN if b"```" in content or b"~~~" in content else Format.YAML


def find_documents(source: Source, kind: Kind | None = None) -> tuple[Finding, ...]:
    """Check every document of a source: one in JSON or YAML, any number in Markdown.

    `kind` says what the documents are; without it the wrapper member tells, and a chat request counts as a
    document for each intent in it. Raises UsageProblem for a file that is no JSON or YAML, or that holds none
    of the three objects.
    """
    if source.format is Format.MARKDOWN:
        return tuple(_in_markdown(source, kind))
    parse = strict_json.parse if source.format is Format.JSON else strict_yaml.parse
    findings = tuple(_check(source.name, parse, source.content, kind))
    if findings[0].kind is None:
        place = findings[0].position
        raise UsageProblem(findings[0].reason, where=f"{source.name}:{place.line}:{place.column}")
    return findings


def _in_markdown(source: Source, kind: Kind | None) -> Iterator[Finding]:
    try:
        text = source.content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source.content.count(b"\n", 0, error.start) + 1
        raise UsageProblem("is no UTF-8", where=f"{source.name}:{line}") from None
    for block in json_blocks(text):
        findings = tuple(_check(source.name, strict_json.parse, block.text, kind))
        marked = _INVALID.fullmatch(block.above)
        if marked:
            findings = (_on_purpose(findings, marked["rule"]),)
        for finding in findings:
            yield _moved(finding, block.line - 1, block.indent)


def _on_purpose(findings: tuple[Finding, ...], rule: str) -> Finding:
    """Judge an example that is marked as invalid: it is right if it breaks that rule and nothing else."""
    first = findings[0]
    faults = [fault for finding in findings for fault in finding.faults]
    if {name for fault in faults for name in fault.rules} == {rule}:
        return replace(first, faults=())
    found = "; ".join(fault.message for fault in faults) or first.reason or "it is valid"
    fault = Fault("", f"is marked as breaking {rule} and nothing else: {found}")
    return replace(first, kind=first.kind or Kind.CACHE_INTENT, faults=(fault,))


def _check(name: str, parse: _Parse, content: bytes | str, kind: Kind | None) -> Iterator[Finding]:
    """Yield a finding for each document; a text without any gives one that says why, and no kind."""
    try:
        parsed = parse(content)
    except SourceError as error:
        yield _unreadable(name, error.fault, kind)
        return
    found = kind or _kind_of(parsed.value)
    if found is not None:
        faults = check_document(_document(parsed.value, found), found, contract_schemas())
        yield Finding(name, _WHOLE, found, tuple(_placed(fault, parsed) for fault in faults))
        return
    intents = tuple(intents_of_chat(parsed.value))
    for place, faults in intents:
        position = parsed.nearest(place) or _WHOLE
        yield Finding(name, position, Kind.CACHE_INTENT, tuple(_placed(fault, parsed) for fault in faults))
    if not intents:
        yield Finding(name, _WHOLE, None, reason=f"holds none of {', '.join(Kind)} at its top level")


def _unreadable(name: str, fault: Fault, kind: Kind | None) -> Finding:
    """Tell a text that is no JSON or YAML; a name given twice is a fault of the document around it."""
    place = fault.position or _WHOLE
    found = kind or next((each for each in Kind if fault.pointer.startswith(f"/{each}")), None)
    if found is None and IN_CHAT.match(fault.pointer):
        found = Kind.CACHE_INTENT
    if fault.rules and found is not None:
        return Finding(name, place, found, (fault,))
    return Finding(name, place, None, reason=fault.message)


def _kind_of(value: JsonValue) -> Kind | None:
    return next((kind for kind in Kind if kind in value), None) if isinstance(value, dict) else None


def _document(value: JsonValue, kind: Kind) -> JsonValue:
    """Take the intent off a chat fragment, whose other members are none of the contract's business."""
    if (
        kind is Kind.CACHE_INTENT
        and isinstance(value, dict)
        and kind in value
        and _FRAGMENT_MEMBERS & value.keys()
    ):
        return {str(kind): value[kind]}
    return value


def _placed(fault: Fault, parsed: Parsed) -> Fault:
    return replace(fault, position=fault.position or parsed.nearest(fault.pointer) or _WHOLE)


def _moved(finding: Finding, lines: int, columns: int) -> Finding:
    def move(position: Position) -> Position:
        return Position(position.line + lines, position.column + columns)

    return replace(
        finding,
        position=move(finding.position),
        faults=tuple(replace(fault, position=move(fault.position or _WHOLE)) for fault in finding.faults),
    )
