"""`cctest coverage` as a whole command, and coverage as a section of other reports."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cctest.bundle import SCHEMAS

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((SCHEMAS / "report.schema.json").read_text())


def cctest(*arguments: str, cwd: Path, env: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "cctest", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the report of a run over some vectors."""
    folder = tmp_path_factory.mktemp("made")
    code, _, _ = cctest("vectors", "--group", "digest", "--json", "digests.json", cwd=folder)
    assert code == 0
    return folder


def documents(value: dict[str, Any]) -> list[Any]:
    schema = {"$ref": "#/$defs/coverage", "$defs": SCHEMA["$defs"]}
    return list(Draft202012Validator(schema).iter_errors(value))


def test_without_a_report_it_shows_what_exercises_each_rule(tmp_path: Path) -> None:
    code, out, err = cctest("coverage", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert re.search(r"^DIG-1 +MUST +G +D E +\d+ +\d+ +\d+$", out, re.MULTILINE)
    assert out.splitlines()[-1].endswith("each has its vectors and cases")
    assert re.search(r"^duplicate-names: ", out, re.MULTILINE)
    assert re.search(r"^10: Fragments ", out, re.MULTILINE)


def test_with_a_report_it_shows_what_was_tested(made: Path) -> None:
    code, out, err = cctest("coverage", "digests.json", "--json", "coverage.json", cwd=made)
    assert (code, err) == (0, "")
    assert re.search(r"^DIG-1 .* pass \(computation\)$", out, re.MULTILINE)
    assert re.search(r"^BND-9 .* not run$", out, re.MULTILINE)
    coverage = json.loads((made / "coverage.json").read_text())
    assert documents(coverage) == []
    assert [run["name"] for run in coverage["runs"]] == ["digests"]
    assert sum(coverage["totals"][0]["rules"].values()) == len(coverage["rules"]) == 88


def test_every_report_has_its_coverage(made: Path) -> None:
    report = json.loads((made / "digests.json").read_text())
    assert list(Draft202012Validator(SCHEMA).iter_errors(report)) == []
    (run,) = report["coverage"]["runs"]
    assert run["command"] == "vectors"
    _, out, _ = cctest("vectors", "--group", "digest", cwd=made)
    assert re.search(r"^coverage: \d of 88 rules tested; \d\d not run \(", out, re.MULTILINE)


def test_markdown_is_a_document_of_its_own(made: Path) -> None:
    code, out, err = cctest("coverage", "digests.json", "--markdown", "-", cwd=made)
    assert code == 0
    assert out.startswith("# Coverage\n")
    assert "| DIG-1 | MUST | gateway | document, engine |" in out
    assert "each has its vectors and cases" in err
    rows = [line for line in out.splitlines() if line.startswith("| ")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) >= 3 for row in rows)


def test_two_reports_of_one_file_name_are_told_apart(made: Path) -> None:
    (made / "other").mkdir()
    shutil.copy(made / "digests.json", made / "other" / "digests.json")
    code, out, _ = cctest("coverage", "digests.json", "other/digests.json", cwd=made)
    assert code == 0
    assert "other/digests.json: " in out
    assert "together: " in out


def test_what_a_run_had_and_the_suite_has_lost_ends_in_1(made: Path, tmp_path: Path) -> None:
    changed = suite_with(tmp_path, "vectors/digest.yaml", "name: digest-does-not-trim", "name: renamed")
    code, out, _ = cctest("coverage", str(made / "digests.json"), cwd=tmp_path, env=changed)
    assert code == 1
    assert (
        "GAP vector digest-does-not-trim: was in the run digests, and the suite no longer has it"
        in spaced(out)
    )


def suite_with(folder: Path, file: str, old: str, new: str) -> dict[str, str]:
    """Copy cctest with one change of its data; give the environment in which the copy is run."""
    for part in ("cctest", "schemas", "spec", "vectors"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return {"PYTHONPATH": str(folder)}


def spaced(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("vectors/digest.yaml", "NS-3", "NS-33", "names NS-33, which is no rule"),
        ("vectors/behaviour/sharing.yaml", "SHR-4", "SHR-44", "names SHR-44, which is no rule"),
        ("vectors/behaviour/sharing.yaml", "appendix: 8", "appendix: 7", "GAP interoperability test 8: "),
    ],
)
def test_a_gap_in_the_data_ends_in_1_and_is_named(
    tmp_path: Path, file: str, old: str, new: str, told: str
) -> None:
    changed = suite_with(tmp_path, file, old, new)
    code, out, err = cctest("coverage", cwd=tmp_path, env=changed)
    assert (code, err) == (1, "")
    assert told in spaced(out)


def test_what_is_no_report_is_told(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text("{}")
    code, out, err = cctest("coverage", "odd.json", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("error: odd.json, at the top: is no report of this version")
