"""The inputs of findings, played on our gateway: it takes the readings that `spec/findings.md` says it takes."""

import json
import subprocess
import sys
from pathlib import Path

from cctest.catalogue import load_readings
from cctest.findings import load_findings
from cctest.probe.load import finding_cases

OURS = {
    "F-15": "ignored",
    "F-17": "declared-order",
    "F-47": "version-first",
    "F-52": "declared",
    "F-53": "no-reuse",
    "F-56": "accepted",
    "F-60": "contributes",
    "F-63": "retained",
    "F-65": "user",
    "F-69": "no-bound",
    "F-70": "absent",
    "F-71": "default-policy",
    "F-72": "ignored",
    "F-73": "approximate-hit",
    "F-74": "new-interval",
    "F-76": "rejected",
    "F-77": "default-policy",
    "F-78": "stays-narrow",
    "F-79": "stays",
    "F-80": "retained",
}


SILENT = {"F-13", "F-54", "F-62", "F-75", "F-82"}
"""Findings whose inputs show no reading on it as it comes: it refuses, or never does what they are about."""


def taken(folder: Path, *options: str) -> dict[str, str]:
    path = folder / "report.json"
    command = [sys.executable, "-m", "cctest", "probe", "--bundled", "--findings", "--seed", "1", "--quiet"]
    run = subprocess.run([*command, *options, "--json", path], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    report = json.loads(path.read_text())
    assert report["partial"]
    return {reading["id"]: reading["taken"] for reading in report["readings"] if reading["id"] != "READ-13"}


def test_our_gateway_takes_what_the_findings_say(tmp_path: Path) -> None:
    readings = load_readings()
    seen = taken(tmp_path)
    assert {name: each for name, each in seen.items() if name.startswith("F-")} == OURS
    inputs = {each.id for case in finding_cases() for each in case.readings if each.id.startswith("F-")}
    assert inputs - seen.keys() == SILENT
    assert [name for name in SILENT if "no reading" not in load_findings()[name].parts["Our choice"]] == []
    ours = {name: each for name, each in seen.items() if name.startswith("READ-")}
    assert ours == {name: readings[name].ours for name in ("READ-9", "READ-30", "READ-38", "READ-39")}


def test_which_fault_is_told_shows_only_where_the_first_alone_is_refused(tmp_path: Path) -> None:
    cases = ("--case", "two-faults", "--case", "stricter-neighbour", "--backend", "salt-only")
    assert taken(tmp_path, *cases) == {}
    refusing = taken(tmp_path, *cases, "--serve-option=--on-unenforceable=reject")
    assert refusing == {"READ-24": "invalid-first", "READ-28": "each-intent"}


def test_from_when_a_bound_counts_shows_where_the_engine_bounds_ages(tmp_path: Path) -> None:
    chosen = ("--case", "bound-while-computing", "--backend", "vllm")
    assert taken(tmp_path, *chosen, "--engine-regions") == {"F-54": "from-the-beginning"}


def test_approximate_shows_either_reading_where_reuse_is_exact(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    command = [sys.executable, "-m", "cctest", "probe", "--bundled", "--backend", "salt-only", "--seed", "1"]
    command += ["--quiet", "--case", "approximate-never-exact", "--json", str(path)]
    for options, expected in (
        ((), "exact"),
        (("--serve-option=--approximate", "--serve-option=unenforceable"), "unenforceable"),
    ):
        subprocess.run([*command, *options], capture_output=True, check=True)
        shown = {reading["id"]: reading["taken"] for reading in json.loads(path.read_text())["readings"]}
        assert shown["READ-7"] == expected
