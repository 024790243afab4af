"""The rules of the contract and the readings that it leaves open, as data (`spec/*.yaml`)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from cctest import bundle, datafile
from cctest.datafile import DataFile


class Level(StrEnum):
    """How binding a rule is (BCP 14)."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class Party(StrEnum):
    """Who has to keep a rule."""

    APPLICATION = "application"
    GATEWAY = "gateway"
    ENGINE = "engine"
    HOST_PROTOCOL = "host protocol"


class Observable(StrEnum):
    """Where a test can see whether a rule is kept."""

    DOCUMENT = "document"
    """A JSON object on its own, or a computation from one."""
    RESPONSE = "response"
    ENGINE = "engine"
    TIMING = "timing"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the contract."""

    number: str
    name: str

    def __str__(self) -> str:
        return f"{self.number} {self.name}"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One rule. `because` says why nothing can be observed; it is None where something can."""

    id: str
    level: Level
    section: Section
    text: str
    binds: tuple[Party, ...]
    observable: tuple[Observable, ...]
    because: str | None = None

    @property
    def group(self) -> str:
        """The rule's family: `RET` for `RET-3`."""
        return self.id.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Option:
    """One permitted answer; reports record its `key`."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class ReadingRule:
    """A question that the contract leaves open. `ours` is the key of the answer that our own parts take."""

    id: str
    question: str
    rules: tuple[str, ...]
    options: tuple[Option, ...]
    ours: str | None = None


def load_catalogue(path: Path = bundle.CATALOGUE) -> Mapping[str, Requirement]:
    """Read the rules by identifier, in the order of the contract.

    Raises UsageProblem, with file, line and column, for anything that the schema doesn't allow (an unknown
    level, say) and for an identifier given twice.
    """
    file = datafile.read(path)
    datafile.require(file, datafile.validator("requirements.schema.json"), file.parsed.value)
    rules: dict[str, Requirement] = {}
    for pointer, requirement in _requirements(file):
        if requirement.id in rules:
            raise file.problem(f"{pointer}/id", f"`{requirement.id}` is listed twice")
        rules[requirement.id] = requirement
    return rules


def _requirements(file: DataFile) -> Iterator[tuple[str, Requirement]]:
    for place, chapter in enumerate(_content(file)["sections"]):
        section = Section(chapter["number"], chapter["name"])
        for index, rule in enumerate(chapter["rules"]):
            yield (
                f"/sections/{place}/rules/{index}",
                Requirement(
                    id=rule["id"],
                    level=Level(rule["level"]),
                    section=section,
                    text=rule["text"],
                    binds=tuple(map(Party, rule["binds"])),
                    observable=tuple(map(Observable, rule["observable"])),
                    because=rule.get("because"),
                ),
            )


def load_readings(path: Path = bundle.READINGS) -> Mapping[str, ReadingRule]:
    """Read the open questions by identifier. Raises UsageProblem as `load_catalogue` does."""
    file = datafile.read(path)
    datafile.require(file, datafile.validator("readings.schema.json"), file.parsed.value)
    readings: dict[str, ReadingRule] = {}
    for index, entry in enumerate(_content(file)["readings"]):
        pointer = f"/readings/{index}"
        options = tuple(Option(option["key"], option["text"]) for option in entry["options"])
        keys = [option.key for option in options]
        ours = entry.get("ours")
        if entry["id"] in readings:
            raise file.problem(f"{pointer}/id", f"`{entry['id']}` is listed twice")
        if len(set(keys)) < len(keys):
            raise file.problem(f"{pointer}/options", "two options have the same key")
        if ours is not None and ours not in keys:
            raise file.problem(f"{pointer}/ours", f"`{ours}` is no option", datafile.suggestion(ours, keys))
        readings[entry["id"]] = ReadingRule(
            entry["id"], entry["question"], tuple(entry["rules"]), options, ours
        )
    return readings


def _content(file: DataFile) -> Any:
    """Give the value, whose shape the schema has just checked."""
    return file.parsed.value
