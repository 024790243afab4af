"""The adapter in JavaScript with one fault patched into a copy of it: the vector that is to find the fault does."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from under_test import FOLDER, JAVASCRIPT

from cctest import datafile
from cctest.adapter.implementation import Adapter
from cctest.adapter.session import Session
from cctest.vectors.load import bundled_vectors
from cctest.vectors.model import Vector
from cctest.vectors.run import run_vectors
from cctest.verdict import Result

SECONDS = 60.0
VECTORS = bundled_vectors()
FEWEST = 10


@dataclass(frozen=True, slots=True)
class Fault:
    """A text in a module of the adapter, what a copy gets in its place, and the vector that has to fail."""

    name: str
    module: str
    text: str
    instead: str
    found_by: str


def seeded(entry: Any) -> Fault:
    return Fault(entry["name"], entry["module"], entry["replace"], entry["with"], entry["found_by"])


DATA: Any = datafile.read(FOLDER / "javascript_faults.yaml").parsed.value
FAULTS = [seeded(entry) for entry in DATA["faults"]]


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None:
        assert not os.environ.get("NODE_REQUIRED"), "there is no node"
        pytest.skip("there is no node: no fault was tried in the adapter in JavaScript")
    return found


def failed_vectors(node: str, adapter: Path, vectors: Iterable[Vector]) -> set[str]:
    """Name the vectors that fail. An error instead of an answer would show nothing about a fault."""
    with Session(shlex.join([node, str(adapter)]), SECONDS) as session:
        checks, _, _ = run_vectors(vectors, Adapter(session))
    assert {check.result for check in checks} <= {Result.PASS, Result.FAIL}
    return {check.id.partition("#")[0] for check in checks if check.result is Result.FAIL}


def copy_with(fault: Fault, folder: Path) -> Path:
    shutil.copytree(JAVASCRIPT.parent, folder)
    module = folder / fault.module
    source = module.read_text("utf-8")
    assert source.count(fault.text) == 1, f"{fault.name}: the text has to occur once in {fault.module}"
    module.write_text(source.replace(fault.text, fault.instead), "utf-8")
    return folder / JAVASCRIPT.name


def test_there_are_enough_faults_and_each_is_a_different_one() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= FEWEST
    assert len({(fault.module, fault.instead) for fault in FAULTS}) == len(FAULTS)


def test_no_vector_fails_without_a_fault(node: str) -> None:
    assert failed_vectors(node, JAVASCRIPT, VECTORS) == set()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_reported_by_the_name_of_a_vector(node: str, fault: Fault, tmp_path: Path) -> None:
    [expected] = [vector for vector in VECTORS if vector.name == fault.found_by]
    alike = [vector for vector in VECTORS if vector.kind is expected.kind]
    assert expected.name in failed_vectors(node, copy_with(fault, tmp_path / "faulty"), alike)


def test_the_command_names_the_vector_that_finds_a_fault(node: str, tmp_path: Path) -> None:
    [fault] = [each for each in FAULTS if each.name == "record-lengths-in-utf-16-units"]
    command = shlex.join([node, str(copy_with(fault, tmp_path / "faulty"))])
    done = subprocess.run(
        [sys.executable, "-m", "cctest", "vectors", "--adapter", command, "--seed", "1"],
        capture_output=True,
        text=True,
        cwd=FOLDER.parent.parent,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 1
    assert fault.found_by in done.stdout
    assert "generated-digest-" in done.stdout
