"""The adapters that tests run, and our core beside them."""

import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from cctest.vectors.model import Vector, VectorKind

FOLDER = Path(__file__).resolve().parent
JAVASCRIPT = FOLDER / "javascript" / "adapter.mjs"


def script(name: str, *arguments: str) -> str:
    """Give the command line of a Python script in this folder."""
    return shlex.join([sys.executable, str(FOLDER / name), *arguments])


def javascript() -> str | None:
    """Give the command line of the adapter in JavaScript, if there is one and Node to run it."""
    node = shutil.which("node")
    return shlex.join([node, str(JAVASCRIPT)]) if node and JAVASCRIPT.exists() else None


def vector(name: str, kind: VectorKind, **content: Any) -> Vector:
    return Vector(name, kind, ("RET-3",), "", {"name": name, "kind": str(kind), **content}, "here")
