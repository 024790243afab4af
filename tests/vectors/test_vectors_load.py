"""What can't be read is told with file, line, column and pointer, and is never an empty green run."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cctest import bounded
from cctest.problem import UsageProblem
from cctest.vectors.load import load_vectors
from cctest.verdict import Exit

DIGEST: dict[str, Any] = {
    "name": "one",
    "kind": "digest",
    "cases": [{"namespaces": [], "digest": None}],
    "expected": {"digests_match": True},
}


def _write(path: Path, *vectors: Any) -> Path:
    path.write_text(json.dumps({"version": 1, "vectors": vectors}, indent=1))
    return path


def _problem(*paths: Path) -> UsageProblem:
    with pytest.raises(UsageProblem) as caught:
        load_vectors(paths)
    assert caught.value.exit is Exit.USAGE
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "pointer", "message"),
    [
        ("version: 1\nvectors:\n  - {name: a, kind: digest", 3, "", ""),
        ("version: 1\nvectors: []\n", 2, "/vectors", "at least one vector"),
        ("version: 2\nvectors: [{}]\n", 1, "/version", "`2` stands where `1` belongs"),
        ("vectors: [{}]\n", 1, "the top", "`version` is missing"),
        ("version: 1\nvectors: {}\n", 2, "/vectors", "array"),
        ("version: 1\nvectors:\n  - kind: digest\n", 3, "/vectors/0", "`name` is missing"),
        (
            "version: 1\nvectors:\n  - name: a\n    kind: digests\n",
            4,
            "/vectors/0/kind",
            "`digests` isn't known",
        ),
        ("version: 1\nvectors:\n  - name: A b\n    kind: digest\n", 3, "/vectors/0/name", "wrong form"),
        ("version: 1\nvectors:\n  - name: a\n    name: b\n", 4, "/vectors/0/name", "name"),
        (
            "version: 1\nvectors:\n  - name: a\n    kind: digest\n    cases: [{namespaces: [], digest: ABC}]\n"
            "    expected: {digests_match: true}\n",
            5,
            "/vectors/0/cases/0/digest",
            "wrong form",
        ),
        (
            "version: 1\nvectors:\n  - name: a\n    kind: document\n    of: cache_status\n    expected: {valid: true}\n",
            3,
            "/vectors/0",
            "exactly one of `raw`, `raw_base64` and `value`",
        ),
        (
            "version: 1\nvectors:\n  - name: a\n    kind: composition\n    fragments: [{}]\n"
            "    expected: {after_fragment_1: null}\n",
            6,
            "/vectors/0/expected/after_fragment_1",
            "names no fragment",
        ),
        (
            "version: 1\nvectors:\n  - name: a\n    kind: composition\n    fragments: [{}]\n"
            "    expected: {after_fragment_0: null}\n    expeted: 1\n",
            7,
            "/vectors/0/expeted",
            "unknown member `expeted`",
        ),
        (
            "version: 1\nvectors:\n  - name: a\n    kind: document\n    of: cache_status\n    value: {}\n"
            "    expected: {valid: true, pointer: /a}\n",
            7,
            "/vectors/0/expected/pointer",
            "no place here",
        ),
    ],
)
def test_a_faulty_file_is_told_by_place(
    tmp_path: Path, text: str, line: int, pointer: str, message: str
) -> None:
    path = tmp_path / "faulty.yaml"
    path.write_text(text)
    problem = str(_problem(path))
    assert f"{path}, line {line}, column " in problem
    assert pointer in problem
    assert message in problem


def test_an_unknown_kind_is_told_with_the_nearest_one(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.json", {"name": "a", "kind": "compositoin"})
    assert "did you mean `composition`?" in str(_problem(path))


def test_a_name_used_twice_is_told_with_both_places(tmp_path: Path) -> None:
    first = _write(tmp_path / "a.json", DIGEST)
    second = _write(tmp_path / "b.json", DIGEST)
    problem = str(_problem(first, second))
    assert f"{second}, line 5, column " in problem
    assert "/vectors/0/name" in problem
    assert f"first: {first}, line " in problem


def test_the_same_file_given_twice_is_read_once(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.json", DIGEST)
    assert [vector.name for vector in load_vectors([path, tmp_path, path])] == ["one"]


def test_a_folder_is_searched_with_its_subfolders(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    _write(tmp_path / "deep" / "a.JSON", DIGEST)
    (tmp_path / "notes.txt").write_text("not looked at")
    (tmp_path / "b.yml").write_text(json.dumps({"version": 1, "vectors": [{**DIGEST, "name": "two"}]}))
    assert [vector.name for vector in load_vectors([tmp_path])] == ["two", "one"]


def test_behavioural_cases_in_a_folder_are_no_vectors(tmp_path: Path) -> None:
    (tmp_path / "behaviour").mkdir()
    (tmp_path / "behaviour" / "case.yaml").write_text("cases: []")
    _write(tmp_path / "a.json", DIGEST)
    assert len(load_vectors([tmp_path])) == 1


def test_an_empty_folder_and_an_empty_selection_are_problems(tmp_path: Path) -> None:
    assert f"{tmp_path}: the folder holds no vectors" in str(_problem(tmp_path))
    assert "no vectors were given" in str(_problem())


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "missing.yaml"
    assert f"{path}: can't be read: No such file or directory" in str(_problem(path))


def test_a_file_of_another_ending_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "vectors.toml"
    path.write_text("")
    assert "neither YAML nor JSON" in str(_problem(path))


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)
    assert "not a regular file" in str(_problem(tmp_path))


def test_a_folder_that_is_named_like_a_file_is_searched_as_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "folder.yaml"
    path.mkdir()
    assert "the folder holds no vectors" in str(_problem(path))


def test_a_dangling_link_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere.yaml")
    assert "can't be read" in str(_problem(tmp_path))


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(bounded.DATA_LIMIT + 1)
    assert "larger than 10,000,000 bytes" in str(_problem(path))


def test_bad_utf_8_is_told_by_place(tmp_path: Path) -> None:
    path = tmp_path / "latin1.json"
    path.write_bytes(b'{"version": 1,\n "vectors": ["caf\xe9"]}')
    assert f"{path}, line 2, column " in str(_problem(path))


def test_a_vector_knows_where_it_stands(tmp_path: Path) -> None:
    path = _write(tmp_path / "a.json", DIGEST)
    [vector] = load_vectors([path])
    assert vector.where == f"{path}, line 4, column 3, at /vectors/0"
