"""`cctest vectors` and `cctest list` as whole commands, and what becomes of their reports."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from junitparser import JUnitXml

from cctest.bundle import SCHEMAS

RIGHT = "b42d2c88b53bb913c2637817ff163308807ac7ba31ecf20bca0631fabccd38e1"


def digest_vector(name: str, digest: str) -> dict[str, Any]:
    return {
        "name": name,
        "kind": "digest",
        "rules": ["DIG-1"],
        "cases": [{"namespaces": ["tools:v7"], "digest": digest}],
        "expected": {"digests_match": True},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file that passes and one in which a check fails."""
    good = {"version": 1, "vectors": [digest_vector("right-digest", RIGHT)]}
    bad = {"version": 1, "vectors": [digest_vector("wrong-digest", RIGHT[::-1])]}
    (tmp_path / "good.json").write_text(json.dumps(good))
    (tmp_path / "bad.json").write_text(json.dumps(bad))
    return tmp_path


def run(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, stdout: int = subprocess.PIPE
) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "cctest", *arguments]
    done = subprocess.run(
        command,
        stdout=stdout,
        stderr=subprocess.PIPE,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    return done.returncode, (done.stdout or b"").decode(), done.stderr.decode()


def test_the_bundled_vectors_pass_in_any_folder(tmp_path: Path) -> None:
    code, out, err = run("vectors", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith("conformant: ")
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_vector_ends_in_1(folder: Path) -> None:
    code, out, _ = run("vectors", "good.json", "bad.json", cwd=folder)
    assert code == 1
    assert "FAIL  wrong-digest#" in out
    assert "DIG-1" in out
    assert out.splitlines()[-1].startswith("nonconformant: 1 pass, 1 fail")


def test_the_reports_say_the_same_as_the_terminal(folder: Path) -> None:
    code, _, _ = run("vectors", ".", "--json", "out.json", "--junit", "out.xml", "-q", cwd=folder)
    assert code == 1
    document = json.loads((folder / "out.json").read_text())
    schema = json.loads((SCHEMAS / "report.schema.json").read_text())
    assert list(Draft202012Validator(schema).iter_errors(document)) == []
    assert (document["command"], document["outcome"], document["exit"]) == ("vectors", "nonconformant", 1)
    assert document["summary"]["fail"] == 1
    junit = JUnitXml.fromfile(str(folder / "out.xml"))
    assert (junit.tests, junit.failures, junit.errors) == (2, 1, 0)


def test_the_report_of_the_bundled_vectors_is_described_by_its_schema(tmp_path: Path) -> None:
    code, out, err = run("vectors", "--json", "-", cwd=tmp_path)
    document = json.loads(out)
    schema = json.loads((SCHEMAS / "report.schema.json").read_text())
    assert list(Draft202012Validator(schema).iter_errors(document)) == []
    assert (code, document["outcome"]) == (0, "conformant")
    assert "conformant: " in err


def test_filters_choose_by_name_and_rule(folder: Path) -> None:
    code, out, _ = run("vectors", ".", "--case", "right-digest", cwd=folder)
    assert code == 0
    assert "1 of 2 vectors were selected" in out
    assert run("vectors", "--rule", "DIG-1", "-q", cwd=folder)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--case", "rigt-digest", "good.json"], "there is no vector 'rigt-digest'\n  did you mean 'right-digest'?"),
        (["--rule", "DIG-11"], "there is no rule 'DIG-11'\n  did you mean 'DIG-1'?"),
        (["--rule", "RET-1", "good.json"], "no vector exercises RET-1"),
        (["none.json"], "none.json: "),
        (["empty"], "empty: "),
        (["huge.json"], "huge.json: "),
        (["broken.yaml"], "broken.yaml, line 2, column "),
        (["--json", "empty"], "empty: is a directory"),
        (["--json", "no/where.json"], "there is no folder 'no'"),
        (["--json", "-", "--junit", "-"], "two reports can't go to one place"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_ends_in_2_and_leaves_nothing(
    folder: Path, arguments: list[str], message: str
) -> None:
    (folder / "empty").mkdir()
    (folder / "huge.json").write_bytes(b" " * 50_000_000)
    (folder / "broken.yaml").write_text("vectors: [\n}")
    before = sorted(folder.iterdir())
    extra = [] if "--json" in arguments else ["--json", "report.json"]
    code, out, err = run("vectors", *arguments, *extra, cwd=folder)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(("file", "code"), [("good.json", 0), ("bad.json", 1)])
def test_a_closed_pipe_does_not_change_the_code(folder: Path, file: str, code: int) -> None:
    for options in ([], ["--json", "-"], ["--junit", "-"]):
        read, write = os.pipe()
        os.close(read)
        done, _, err = run("vectors", file, *options, cwd=folder, stdout=write)
        os.close(write)
        assert done == code
        assert "error" not in err


@pytest.mark.parametrize(("file", "code"), [("good.json", 2), ("bad.json", 1)])
def test_a_full_disk_is_told_and_a_failed_check_still_counts(folder: Path, file: str, code: int) -> None:
    done, out, err = run("vectors", file, "--json", "/dev/full", cwd=folder)
    assert done == code
    assert err == "error: /dev/full: can't be written: No space left on device\n"
    assert "conformant: " in out
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a descriptor is needed
        done, _, err = run("vectors", file, cwd=folder, stdout=full.fileno())
    assert done == code
    assert "No space left" in err


def on_a_terminal(folder: Path, env: Mapping[str, str]) -> bytes:
    master, slave = pty.openpty()
    code, _, _ = run("vectors", "bad.json", cwd=folder, env=env, stdout=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:
            break
        if not chunk:
            break
        shown += chunk
    os.close(master)
    assert code == 1
    return shown


def test_colour_is_for_terminals_that_want_it(folder: Path) -> None:
    assert b"\x1b[" in on_a_terminal(folder, {"NO_COLOR": "", "TERM": "xterm"})
    assert b"\x1b" not in on_a_terminal(folder, {"NO_COLOR": "1", "TERM": "xterm"})
    assert "\x1b" not in run("vectors", "bad.json", cwd=folder)[1]


def test_output_survives_an_ascii_locale(folder: Path) -> None:
    assert run("vectors", cwd=folder, env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"})[0] == 0


def test_the_list_names_what_can_be_run(tmp_path: Path) -> None:
    code, out, _ = run("list", cwd=tmp_path)
    assert code == 0
    for heading in ("vectors (", "cases (", "rules (", "readings ("):
        assert f"\n{heading}" in f"\n{out}"
    code, out, _ = run("list", "rules", "--rule", "DIG-1", cwd=tmp_path)
    assert out.startswith("DIG-1  MUST: ")
    assert len(out.splitlines()) == 1
    code, _, err = run("list", "cases", "--case", "nonsense-nonsense", cwd=tmp_path)
    assert code == 2
    assert "there is no entry" in err


def test_a_command_line_without_its_quotes_is_recognized(tmp_path: Path) -> None:
    code, _, err = run("vectors", "--adapter", "node", "a.mjs", cwd=tmp_path)
    assert (code, "as in --adapter 'node a.mjs'" in err) == (2, True)
