"""The built wheel as a new user gets it: an empty environment, an empty folder, nothing of the checkout."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}

pytestmark = [pytest.mark.wheel, pytest.mark.timeout(600)]


def run(*command: str | Path, cwd: Path, timeout: float = 300) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**ENVIRONMENT, "HOME": str(cwd)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of a fresh environment that has the wheel and the gateway's extra."""
    venv = tmp_path_factory.mktemp("env") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    pip = subprocess.run(
        [str(venv / "bin" / "python"), "-m", "pip", "install", "-q", f"{wheel}[gateway]"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert pip.returncode == 0, pip.stderr
    return venv / "bin"


def test_data_ships_inside_the_package(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("vectors", "vectors/behaviour", "schemas"):
        here = {path.name for path in (ROOT / folder).iterdir() if path.is_file()}
        there = {Path(name).name for name in names if Path(name).parent == Path("cctest/_data", folder)}
        assert here == there
    assert {"cctest/_data/spec/requirements.yaml", "cctest/_data/spec/readings.yaml"} <= names
    assert {f"cctest/_data/spec/{path.name}" for path in (ROOT / "spec").glob("*.md")} <= names
    assert not [name for name in names if name.startswith("tests/")]


def test_vectors_run_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    result = run(installed / "cctest", "vectors", "--json", "report.json", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert report["outcome"] == "conformant"
    assert report["summary"]["pass"] == len(report["checks"]) > 120
    page = run(installed / "cctest", "report", "report.json", "--html", "page.html", cwd=tmp_path)
    assert (page.returncode, page.stdout, page.stderr) == (0, "", "")
    assert "<style>\n:root {" in (tmp_path / "page.html").read_text(encoding="utf-8")
    for command in ("coverage", "trace"):
        told = run(installed / "cctest", command, "report.json", "--quiet", cwd=tmp_path)
        assert (told.returncode, told.stderr) == (0, "")


def test_the_bundled_gateway_is_conformant_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    result = run(installed / "cctest", "probe", "--bundled", cwd=tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[-1].startswith("conformant: ")
    assert list(tmp_path.iterdir()) == []


def test_the_wheels_suite_is_the_checkouts(installed: Path, tmp_path: Path) -> None:
    here = run(sys.executable, "-m", "cctest", "--version", cwd=ROOT)
    there = run(installed / "cctest", "--version", cwd=tmp_path)
    assert there.stdout == here.stdout
    assert "suite" in there.stdout
