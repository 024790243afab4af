"""`cctest minimality` as a whole command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cctest import bundle, datafile
from cctest.bundle import ROOT, SCHEMAS
from cctest.cli.main import main

pytestmark = pytest.mark.bundled


def run(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "cctest", "minimality", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=100, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_every_member_of_version_1_is_worth_its_place(tmp_path: Path) -> None:
    code, out, err = run("--json", "out.json", "--markdown", "out.md", cwd=tmp_path)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1].startswith(
        "minimal: 4 constraints with 15 values, 1 hint, 180 settings with 74 behaviours"
    )
    document = json.loads((tmp_path / "out.json").read_text())
    schema = json.loads((SCHEMAS / "minimality-report.schema.json").read_text())
    assert list(Draft202012Validator(schema).iter_errors(document)) == []
    assert (document["minimal"], document["exit"]) == (True, 0)
    (scopes,) = [
        finding
        for finding in document["findings"]
        if (finding["member"], finding["question"]) == ("share_max", "discriminates")
    ]
    assert scopes["text"].startswith("5 values, 5 behaviours")
    # What the rules themselves make equal is said, not hidden.
    assert {finding["value"] for finding in document["findings"] if finding["answer"] == "equal by rule"} == {
        None,
        "forbid",
        "max-age-0",
    }
    assert [
        finding["value"] for finding in document["findings"] if finding["answer"] == "by report only"
    ] == ["request"]
    assert (tmp_path / "out.md").read_text() == (ROOT / "reports" / "minimality.md").read_text()


@pytest.fixture
def redundant(tmp_path: Path) -> Path:
    """A vocabulary in which `tenancy` is another word for `tenant`."""
    content = json.loads(json.dumps(datafile.read(bundle.MINIMALITY).parsed.value))
    (scopes,) = [member for member in content["members"] if member["name"] == "share_max"]
    scopes["values"] = [value for value in scopes["values"] if value["name"] in {"session", "tenant"}]
    scopes["values"].append({"name": "tenancy", "intent": {"constraints": {"share_max": "tenant"}}})
    (retention,) = [member for member in content["members"] if member["name"] == "retention"]
    retention["values"] = retention["values"][1:2]
    retention["values"].append(
        {"name": "forbid", "intent": {"constraints": {"retention": {"mode": "forbid"}}}}
    )
    content["members"] = [retention, scopes]
    retention["values"][0]["intent"]["constraints"]["reuse"] = "exact"
    retention["values"][1]["intent"]["constraints"]["reuse"] = "exact"
    content["base"] = {"retention": "allow", "share_max": "tenant"}
    content["readers"] = [
        reader for reader in content["readers"] if reader["name"] in {"again", "other-session"}
    ]
    content["equal"] = [
        {
            "where": {"retention": ["forbid"]},
            "ignoring": ["share_max"],
            "rules": ["RET-1"],
            "because": "nothing is left",
        }
    ]
    path = tmp_path / "vocabulary.json"
    path.write_text(json.dumps(content))
    return path


def test_a_redundant_value_ends_in_1_and_is_shown_with_its_inputs(redundant: Path) -> None:
    code, out, err = run("--vocabulary", redundant.name, "--json", "-", cwd=redundant.parent)
    assert code == 1
    assert json.loads(out)["minimal"] is False
    assert "NO  share_max=tenancy: not needed" in err
    assert '"share_max": "tenant"' in err
    assert err.splitlines()[-1].startswith("not minimal (")


def test_quiet_leaves_one_line(redundant: Path) -> None:
    code, out, err = run("--vocabulary", redundant.name, "-q", cwd=redundant.parent)
    assert (code, err, len(out.splitlines())) == (1, "", 1)


def test_a_member_that_the_gateway_refuses_ends_in_2(redundant: Path) -> None:
    content = redundant.read_text().replace('{"share_max": "tenant"}', '{"share_max": "tenant", "pin": true}')
    redundant.write_text(content)
    code, _, err = run("--vocabulary", redundant.name, cwd=redundant.parent)
    assert code == 2
    assert "share_max=ten" in err
    assert "cache_intent_invalid" in err


def test_a_vocabulary_that_is_not_there_ends_in_2(tmp_path: Path) -> None:
    code, _, err = run("--vocabulary", "none.yaml", cwd=tmp_path)
    assert code == 2
    assert "none.yaml" in err


def test_a_machine_that_is_too_busy_ends_in_3(
    redundant: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cctest.minimality.trial.ATTEMPTS", 0)
    assert main(["minimality", "--vocabulary", str(redundant)]) == 3
    assert capsys.readouterr().err == "undecided: the machine is too busy for a max_age of 2 s\n"
