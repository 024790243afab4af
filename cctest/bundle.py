"""The data that ships with cctest: vectors, schemas and the rule catalogue; and their digest.

In a wheel they lie inside the package; in a checkout, at the top of the repository.
"""

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

SUITE_VERSION: Final = "1"
"""Version of what is tested, as opposed to the version of the tool."""

_PACKAGE: Final = Path(__file__).resolve().parent
ROOT: Final = _PACKAGE / "_data" if (_PACKAGE / "_data").is_dir() else _PACKAGE.parent
VECTORS: Final = ROOT / "vectors"
BEHAVIOUR: Final = VECTORS / "behaviour"
MUTANTS: Final = VECTORS / "mutants.yaml"
SURVIVORS: Final = VECTORS / "survivors.yaml"
SCHEMAS: Final = ROOT / "schemas"
SPEC: Final = ROOT / "spec"
CATALOGUE: Final = SPEC / "requirements.yaml"
READINGS: Final = SPEC / "readings.yaml"
PREDICATES: Final = SPEC / "predicates.yaml"
TOPICS: Final = SPEC / "topics.yaml"
MINIMALITY: Final = SPEC / "minimality.yaml"
SENTENCES: Final = SPEC / "sentences.md"
"""The record of the normative sentences of the drafts: no part of the suite."""
FINDINGS: Final = SPEC / "findings.md"
FINDING_INPUTS: Final = SPEC / "findings"
"""Vectors and cases that tell readings apart and belong to no verdict: no part of the suite."""


def suite_files() -> Iterator[tuple[str, Path]]:
    """Yield every file of the suite with its name relative to the bundle, sorted by name."""
    found = {CATALOGUE, READINGS}
    for folder in (VECTORS, SCHEMAS):
        found.update(path for path in folder.rglob("*") if path.suffix in {".yaml", ".json"})
    found -= {MUTANTS, SURVIVORS}  # they test the suite, and are no part of it
    yield from sorted((path.relative_to(ROOT).as_posix(), path) for path in found)


@cache
def suite_digest() -> str:
    """SHA-256 over names and bytes of the suite's files: same digest, same tests. 64 hex digits."""
    digest = hashlib.sha256()
    for name, path in suite_files():
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
