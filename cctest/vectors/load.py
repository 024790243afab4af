"""Files and folders into vectors. Whatever can't be read, or isn't known, is a problem and never skipped."""

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

from cctest import bundle, datafile
from cctest.contract.source import child
from cctest.datafile import DataFile
from cctest.problem import UsageProblem
from cctest.vectors.kinds.composition import AFTER_FRAGMENT, REFUSED
from cctest.vectors.model import Vector, VectorKind

_SCHEMA: Final = "vectors.schema.json"


def bundled_vectors() -> tuple[Vector, ...]:
    """Give the vectors that ship with cctest."""
    return load_vectors([bundle.VECTORS])


def finding_vectors() -> tuple[Vector, ...]:
    """Give the vectors that tell readings of a finding apart and are no part of the suite."""
    return load_vectors([bundle.FINDING_INPUTS])


def load_vectors(paths: Iterable[Path]) -> tuple[Vector, ...]:
    """Read the vectors of files and folders, in the order given, each file once.

    A folder is searched, subfolders included, for files that end in .yaml, .yml or .json; its subfolder
    `behaviour`, which holds cases for `cctest probe` and no vectors, is left out, and so are our own files on
    mutants.

    Raises UsageProblem, with file, line, column and JSON pointer where there is one, for a path that can't be
    read, a file that isn't strict YAML or JSON or breaks the schema, an unknown kind, a name used twice, and
    a selection without any vector.
    """
    files = {os.path.realpath(found): found for path in paths for found in _files(path)}
    vectors: dict[str, Vector] = {}
    for file in files.values():
        for pointer, vector, data in _vectors(file):
            earlier = vectors.setdefault(vector.name, vector)
            if earlier is not vector:
                raise data.problem(
                    child(pointer, "name"),
                    f"the name `{vector.name}` is used twice",
                    f"first: {earlier.where}",
                )
    if not vectors:
        raise UsageProblem(
            "no vectors were given", hint="name files or folders, or none for the bundled vectors"
        )
    return tuple(vectors.values())


def _files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = False
    for folder, subfolders, names in os.walk(path, onerror=partial(_unreadable, path)):
        subfolders.sort()
        if Path(folder) == path and bundle.BEHAVIOUR.name in subfolders:
            subfolders.remove(bundle.BEHAVIOUR.name)
        for name in sorted(names):
            if Path(folder, name) in (bundle.MUTANTS, bundle.SURVIVORS):
                continue
            if Path(name).suffix.lower() in datafile.SUFFIXES:
                found = True
                yield Path(folder, name)
    if not found:
        raise UsageProblem(
            "the folder holds no vectors", where=str(path), hint=f"looked for {', '.join(datafile.SUFFIXES)}"
        )


def _unreadable(path: Path, error: OSError) -> None:
    raise UsageProblem(f"can't be read: {error.strerror}", where=str(error.filename or path)) from error


def _vectors(path: Path) -> Iterator[tuple[str, Vector, DataFile]]:
    file = datafile.read(path)
    datafile.require(file, datafile.validator(_SCHEMA, "file"), file.parsed.value)
    content: Any = file.parsed.value
    for index, item in enumerate(content["vectors"]):
        pointer = child("/vectors", index)
        datafile.require(file, datafile.validator(_SCHEMA, "head"), item, pointer)
        kind = VectorKind(item["kind"])
        datafile.require(file, datafile.validator(_SCHEMA, kind), item, pointer)
        if kind is VectorKind.COMPOSITION:
            _require_fragments(file, item, pointer)
        yield (
            pointer,
            Vector(
                name=item["name"],
                kind=kind,
                rules=tuple(item.get("rules", ())),
                title=item.get("title", ""),
                content=item,
                where=file.where(pointer),
            ),
            file,
        )


def _require_fragments(file: DataFile, item: Any, pointer: str) -> None:
    """Refuse an expectation about a fragment that the vector doesn't have."""
    last = len(item["fragments"]) - 1
    for name in item["expected"].keys() - {REFUSED}:
        if int(name.removeprefix(AFTER_FRAGMENT)) > last:
            place = child(child(pointer, "expected"), name)
            raise file.problem(
                place, f"`{name}` names no fragment of this vector", f"the last is {AFTER_FRAGMENT}{last}"
            )
