"""The inputs of findings, played on our gateway: it takes the readings that `spec/findings.md` says it takes."""

import json
import subprocess
import sys
from pathlib import Path

from cctest.catalogue import load_readings

OURS = {
    "F-15": "clipped",
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
    ours = {name: each for name, each in seen.items() if name.startswith("READ-")}
    assert ours == {name: readings[name].ours for name in ("READ-9", "READ-30", "READ-38", "READ-39")}


def test_which_fault_is_told_shows_only_where_the_first_alone_is_refused(tmp_path: Path) -> None:
    cases = ("--case", "two-faults", "--case", "stricter-neighbour", "--backend", "salt-only")
    assert taken(tmp_path, *cases) == {}
    refusing = taken(tmp_path, *cases, "--serve-option=--on-unenforceable=reject")
    assert refusing == {"READ-24": "invalid-first", "READ-28": "each-intent"}
