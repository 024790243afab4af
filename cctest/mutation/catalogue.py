"""The rule mutants, as data (`vectors/mutants.yaml`)."""

import hashlib
import importlib.util
import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from cctest import bundle, datafile
from cctest.contract.source import child
from cctest.contract.vocabulary import Kind
from cctest.datafile import DataFile
from cctest.mutation.by_vectors import remove
from cctest.mutation.mutant import Edit, Family, Judge, Mutant, SchemaChange, Setup, SourceChange
from cctest.problem import UsageProblem


def load_mutants(path: Path = bundle.MUTANTS) -> tuple[Mutant, ...]:
    """Read the catalogue in its order.

    Raises UsageProblem, with file, line and column, for what the schema doesn't allow, an identifier given
    twice, and a change that doesn't fit the source (the text to replace must occur exactly once).
    """
    file = datafile.read(path)
    datafile.require(file, datafile.validator("mutants.schema.json"), file.parsed.value)
    mutants: dict[str, Mutant] = {}
    for pointer, mutant in _mutants(file):
        if mutant.id in mutants:
            raise file.problem(child(pointer, "id"), f"`{mutant.id}` is listed twice")
        mutants[mutant.id] = mutant
    return tuple(mutants.values())


def _mutants(file: DataFile) -> Iterator[tuple[str, Mutant]]:
    content: Any = file.parsed.value
    for index, item in enumerate(content["mutants"]):
        pointer = f"/mutants/{index}"
        yield pointer, _source_mutant(file, pointer, item)
    for index, item in enumerate(content.get("schemas", ())):
        pointer = f"/schemas/{index}"
        yield pointer, _schema_mutant(file, pointer, item)


def _source_mutant(file: DataFile, pointer: str, item: Mapping[str, Any]) -> Mutant:
    was, becomes = item["replace"], item["with"]
    try:
        source = source_of(item["where"])
    except FileNotFoundError:
        raise file.problem(child(pointer, "where"), "there is no such module") from None
    if source.count(was) != 1:
        message = f"the text to replace occurs {source.count(was)} times in {item['where']}, not once"
        raise file.problem(child(pointer, "replace"), message)
    start = source.index(was)
    return Mutant(
        id=item["id"],
        family=Family.RULE,
        rules=tuple(item["rules"]),
        inverts=item["inverts"],
        change=source_change(item["where"], Edit(start, start + len(was), becomes)),
        setups=(Setup(Judge(item["on"]), tuple(item.get("options", ()))),),
        caught_by=item["caught_by"],
        cells=tuple(item.get("cells", ())),
        entails=tuple(item.get("entails", ())),
        was=was.strip(),
        becomes=becomes.strip(),
    )


def _schema_mutant(file: DataFile, pointer: str, item: Mapping[str, Any]) -> Mutant:
    kind, keyword = Kind(item["schema"]), item["without"]
    try:
        remove(json.loads((bundle.SCHEMAS / f"{kind}.schema.json").read_bytes()), keyword)
    except (LookupError, ValueError):
        raise file.problem(child(pointer, "without"), f"the schema of {kind} has no {keyword}") from None
    return Mutant(
        id=f"{kind}:{keyword}",
        family=Family.SCHEMA,
        rules=tuple(item["rules"]),
        inverts=f"The schema of {kind} lacks {keyword}.",
        change=SchemaChange(kind, keyword),
        setups=(Setup(Judge.VECTORS),),
        caught_by=item["caught_by"],
        was=keyword,
    )


def source_change(path: str, edit: Edit) -> SourceChange:
    """Make the change of a file, named relative to the packages."""
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return SourceChange(module, path, edit, hashlib.sha256(source_of(path).encode()).hexdigest())


@cache
def source_of(path: str) -> str:
    """Read the source of a module of ours, which isn't imported for it. Raises FileNotFoundError."""
    package, _, rest = path.partition("/")
    return Path(_folder_of(package), rest).read_text(encoding="utf-8")


@cache
def _folder_of(package: str) -> str:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UsageProblem(f"{package} isn't installed", hint="pip install 'cctest[gateway]'")
    return spec.submodule_search_locations[0]
