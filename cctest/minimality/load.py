"""Reading a vocabulary. What it names has to be there: nothing misspelt is passed over."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from cctest import bundle, datafile
from cctest.catalogue import load_catalogue
from cctest.datafile import DataFile
from cctest.minimality.vocabulary import (
    MOST_SETTINGS,
    Composes,
    Equality,
    Member,
    MemberKind,
    Reader,
    Setting,
    Value,
    Vocabulary,
    Widening,
)
from cctest.probe.case import Role

_SCHEMA: Final = "minimality.schema.json"


def load_vocabulary(path: Path = bundle.MINIMALITY) -> Vocabulary:
    """Read a vocabulary.

    Raises UsageProblem, with file, line and column, for what the schema doesn't allow, for a name that is
    given twice or isn't known, a base that leaves a constraint out, and for more than MOST_SETTINGS settings.
    """
    file = datafile.read(path)
    datafile.require(file, datafile.validator(_SCHEMA), file.parsed.value)
    content: Any = file.parsed.value
    members = tuple(_member(member) for member in content["members"])
    _check_names(file, members, content)
    vocabulary = Vocabulary(
        seconds=content["seconds"],
        base=Setting(
            tuple(
                (member.name, content["base"][member.name])
                for member in members
                if member.kind is MemberKind.CONSTRAINT
            )
        ),
        members=members,
        readers=tuple(_reader(reader) for reader in content["readers"]),
        equal=tuple(
            Equality(
                {member: tuple(values) for member, values in equality["where"].items()},
                tuple(equality["ignoring"]),
                tuple(equality["rules"]),
                equality["because"],
            )
            for equality in content["equal"]
        ),
    )
    count = sum(1 for _ in vocabulary.settings())
    if count > MOST_SETTINGS:
        raise file.problem("/members", f"{count:,} settings", f"at most {MOST_SETTINGS:,} are tried")
    return vocabulary


def _member(entry: Any) -> Member:
    widens = entry.get("widens")
    return Member(
        entry["name"],
        MemberKind(entry["kind"]),
        tuple(Value(value["name"], value["intent"]) for value in entry["values"]),
        Composes(entry.get("composes", Composes.STRICTEST)),
        None if widens is None else Widening(widens["value"], widens["from"]),
    )


def _reader(entry: Any) -> Reader:
    return Reader(
        name=entry["name"],
        role=Role(entry["as"]),
        text=entry["text"],
        similar=entry.get("input") == "similar",
        later=entry.get("later", False),
        intent=entry.get("intent"),
        first=entry.get("first"),
    )


def _check_names(file: DataFile, members: Iterable[Member], content: Any) -> None:
    _check_unique(file, "/members", content["members"])
    _check_unique(file, "/readers", content["readers"])
    for index, entry in enumerate(content["members"]):
        _check_unique(file, f"/members/{index}/values", entry["values"])
    values = {
        member.name: [value.name for value in member.values]
        for member in members
        if member.kind is MemberKind.CONSTRAINT
    }
    if lacking := [name for name in values if name not in content["base"]]:
        raise file.problem("/base", f"`{lacking[0]}` has no value here", "name one for every constraint")
    rules = load_catalogue()
    for pointer, known, name in (
        *_used_in_base(content, values),
        *_used_in_widenings(content, values),
        *_used_in_equalities(content, values),
        *(
            (f"/equal/{index}/rules", list(rules), rule)
            for index, equality in enumerate(content["equal"])
            for rule in equality["rules"]
        ),
    ):
        if name not in known:
            raise file.problem(pointer, f"`{name}` isn't known here", datafile.suggestion(name, known))


_Use = tuple[str, list[str], str]
"""Where a name is used, the names known there, and the name."""


def _used_in_base(content: Any, values: dict[str, list[str]]) -> Iterator[_Use]:
    for member, value in content["base"].items():
        yield "/base", list(values), member
        yield f"/base/{member}", values.get(member, []), value


def _used_in_widenings(content: Any, values: dict[str, list[str]]) -> Iterator[_Use]:
    for index, member in enumerate(content["members"]):
        for value in member.get("widens", {}).values():
            yield f"/members/{index}/widens", values.get(member["name"], []), value


def _used_in_equalities(content: Any, values: dict[str, list[str]]) -> Iterator[_Use]:
    for index, equality in enumerate(content["equal"]):
        for member, named in equality["where"].items():
            yield f"/equal/{index}/where", list(values), member
            for value in named:
                yield f"/equal/{index}/where/{member}", values.get(member, []), value
        for member in equality["ignoring"]:
            yield f"/equal/{index}/ignoring", list(values), member


def _check_unique(file: DataFile, pointer: str, entries: list[Any]) -> None:
    names = [entry["name"] for entry in entries]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise file.problem(f"{pointer}/{index}/name", f"`{name}` is listed twice")
