"""Vectors against a mutant of the core, in a forked process that loads the core anew.

A fork keeps what takes long to load and isn't ours. Everything of ours is loaded again in it, so that no part
of it was made by the unchanged source.
"""

import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jiter  # noqa: F401 - loaded before the fork, and so once
import jsonschema.exceptions  # noqa: F401
import referencing.jsonschema  # noqa: F401

from cctest import bundle
from cctest.contract.source import JsonValue, tokens_of
from cctest.mutation.mutant import Change, SchemaChange, SourceChange, described
from cctest.mutation.patching import install
from cctest.vectors.model import Vector

SECONDS: Final = 30.0
"""A run of vectors that takes longer is given up."""

_OURS: Final = ("cctest", "reference_gateway")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run of vectors came to: `(check, result, message)` of each, and whether the change was made.

    `broke` says how the process ended if it gave no checks; `late` that it was given up.
    """

    checks: tuple[tuple[str, str, str], ...] = ()
    applied: bool = False
    broke: str = ""
    late: bool = False


def run_forked(change: Change | None, vectors: Sequence[Vector], *, seconds: float = SECONDS) -> Ran:
    """Run vectors against the core with one change, or none, in a process of its own."""
    plain = [(one.name, str(one.kind), one.rules, one.title, one.content, one.where) for one in vectors]
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        os.close(reader)
        _be_the_child(writer, change, plain)
    os.close(writer)
    try:
        told = _read_all(reader, time.monotonic() + seconds)
    finally:
        os.close(reader)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    if told is None:
        return Ran(late=True)
    if not told:
        return Ran(broke="the process died")
    answer: dict[str, Any] = json.loads(told)
    checks = tuple((check, result, message) for check, result, message in answer["checks"])
    return Ran(checks, answer["applied"], answer["broke"])


def _read_all(reader: int, until: float) -> bytes | None:
    """Read to the end; None where it doesn't come in time."""
    pieces: list[bytes] = []
    while True:
        ready, _, _ = select.select([reader], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            return None
        piece = os.read(reader, 1 << 16)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def _be_the_child(writer: int, change: Change | None, plain: Sequence[tuple[Any, ...]]) -> None:
    """Run the vectors, tell, and end without any of the parent's clean-up."""
    answer: dict[str, Any] = {"checks": [], "applied": change is None, "broke": ""}
    folder = None
    try:
        _forget_our_modules()
        if isinstance(change, SourceChange):
            what = described(change)
            install(what, lambda: answer.update(applied=True))
        elif change is not None:
            folder = _schemas_without(change)
            answer["applied"] = True
        answer["checks"] = _results(plain, folder)
    except BaseException as error:  # whatever a broken core raises, it ends here
        answer["broke"] = f"{type(error).__name__}: {error}"
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
    left = memoryview(json.dumps(answer).encode())
    while left:
        left = left[os.write(writer, left) :]
    os._exit(0)


def _forget_our_modules() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] in _OURS]:
        del sys.modules[name]


def _results(plain: Sequence[tuple[Any, ...]], schemas: Path | None) -> list[tuple[str, str, str]]:
    # Loaded here, in the forked process, where the change is in force.
    import cctest.bundle  # noqa: PLC0415
    from cctest.vectors.model import Vector, VectorKind  # noqa: PLC0415
    from cctest.vectors.run import run_vectors  # noqa: PLC0415

    if schemas is not None:
        cctest.bundle.SCHEMAS = schemas  # type: ignore[misc]
    checks, _, _ = run_vectors(
        Vector(name, VectorKind(kind), rules, title, content, where)
        for name, kind, rules, title, content, where in plain
    )
    return [(check.id, str(check.result), check.message) for check in checks]


def _schemas_without(change: SchemaChange) -> Path:
    """Copy the schemas, one keyword of one left out."""
    folder = Path(tempfile.mkdtemp(prefix="cctest-schemas-"))
    for file in bundle.SCHEMAS.glob("*.json"):
        shutil.copy(file, folder)
    file = folder / f"{change.kind}.schema.json"
    schema = json.loads(file.read_bytes())
    remove(schema, change.pointer)
    file.write_text(json.dumps(schema), encoding="utf-8")
    return folder


def remove(document: JsonValue, pointer: str) -> None:
    """Take a member of an object, or an item of an array, out. Raises LookupError if it isn't there."""
    *path, last = tokens_of(pointer)
    holder: Any = document
    for token in path:
        holder = holder[int(token)] if isinstance(holder, list) else holder[token]
    if isinstance(holder, list):
        del holder[int(last)]
    else:
        del holder[last]
