"""What is handed in is read with a bound and never destroyed: no device, no endless pipe, no input as output."""

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cctest.cli.main import main
from cctest.mutation.state import State
from cctest.problem import UsageProblem
from cctest.report.json_report import json_text
from cctest.report.model import Report
from cctest.report.recorded import load_report
from cctest.verdict import Exit, decide

MEMORY = 4_000_000_000
"""As much as this process may take: what reads without end is stopped by this, and not by the machine."""

ENDLESS = "/dev/zero"
INTENT = """\
{"cache_intent": {"version": 1, "constraints":
  {"retention": {"mode": "allow"}, "reuse": "exact", "share_max": "tenant"}}}
"""

Refused = Callable[..., str]


@pytest.fixture
def refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Refused]:
    """Run a command that is to end in 2, and give what it says."""
    monkeypatch.chdir(folder)
    limit = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, limit[1]))

    def run(*arguments: str) -> str:
        code = main([*arguments])
        said = capsys.readouterr().err
        assert code == Exit.USAGE, said
        return said

    yield run
    resource.setrlimit(resource.RLIMIT_AS, limit)


def piped(module: str, *arguments: str, stdin: int) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        stdin=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def pipe_of(content: bytes) -> int:
    reader, writer = os.pipe()
    os.write(writer, content)
    os.close(writer)
    return reader


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    report = Report("probe", "2026-12-01T00:00:00+00:00", 0.0, decide(()), (), target="http://h", seed=1)
    (tmp_path / "report.json").write_text(json_text(report))
    (tmp_path / "intent.json").write_text(INTENT)
    (tmp_path / "endless.yaml").symlink_to(ENDLESS)
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", ENDLESS),
        ("report", ENDLESS, "--html", "z.html"),
        ("report", "report.json", "--mutation", ENDLESS, "--html", "z.html"),
        ("coverage", ENDLESS),
        ("trace", ENDLESS),
        ("replay", ENDLESS, "forbid", "--bundled"),
        ("mutate", "--mutant", "forbid-ignored", "--earlier", ENDLESS),
        ("mutate", "--mutant", "forbid-ignored", "--state", ENDLESS),
        ("mutate", "--mutant", "forbid-ignored", "--state", "/dev/full"),
        ("vectors", "endless.yaml"),
        ("minimality", "--vocabulary", "endless.yaml"),
        ("baseline", "check", "endless.yaml"),
        ("baseline", "update", "endless.yaml", "--report", "report.json"),
        ("baseline", "update", "known.yaml", "--report", ENDLESS),
        ("probe", "--dry-run", "--config", ENDLESS),
        ("doctor", "--config", ENDLESS),
    ],
    ids=" ".join,
)
def test_a_device_is_never_read(refused: Refused, arguments: tuple[str, ...]) -> None:
    told = refused(*arguments)
    assert ("not a regular file" in told) or ("this is no file" in told)


@pytest.mark.parametrize("member", ["ca_file", "client_certificate", "client_key"])
def test_a_device_is_no_file_of_tls_either(folder: Path, refused: Refused, member: str) -> None:
    certificate = "client_certificate: intent.json, " if member == "client_key" else ""
    (folder / "target.yaml").write_text(f"target: https://h\ntls: {{{certificate}{member}: {ENDLESS}}}\n")
    told = refused("probe", "--dry-run", "--config", "target.yaml")
    assert told.startswith("error: target.yaml:2:")
    assert "this is not a regular file" in told


@pytest.mark.parametrize("arguments", [("validate", "-"), ("coverage", "/dev/stdin")], ids=" ".join)
def test_a_pipe_is_read_to_a_limit(arguments: tuple[str, ...]) -> None:
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as endless:
        assert endless.stdout is not None
        code, _, err = piped("cctest", *arguments, stdin=endless.stdout.fileno())
        endless.kill()
    assert (code, "larger than 10" in err) == (2, True)


def test_a_document_may_come_through_a_pipe() -> None:
    code, out, _ = piped("cctest", "validate", "/dev/stdin", stdin=pipe_of(INTENT.encode()))
    assert (code, out) == (0, "1 document checked, 0 with faults\n")


@pytest.mark.parametrize("content", [b"\0" * 20, b"a" * 5000], ids=["no-token", "too-long"])
def test_what_is_no_token_is_not_hashed(content: bytes) -> None:
    code, out, err = piped("reference_gateway", "hash-token", stdin=pipe_of(content))
    assert (code, out, "a token " in err) == (2, "", True)


def test_a_line_without_end_is_no_token() -> None:
    with Path(ENDLESS).open("rb") as zeros:
        code, _, err = piped("reference_gateway", "hash-token", stdin=zeros.fileno())
    assert (code, "a token is of visible ASCII" in err) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "report.json", "--html", "report.json"),
        ("report", "report.json", "--markdown", "./report.json"),
        ("report", "report.json", "--html", "link.json"),
        ("report", "link.json", "--html", "report.json"),
        ("report", "report.json", "--html", "hard.json"),
        ("report", "other.json", "--mutation", "report.json", "--html", "report.json"),
        ("coverage", "other.json", "report.json", "--json", "report.json"),
        ("trace", "report.json", "--html", "report.json"),
        ("trace", "report.json", "--sentences", "report.json"),
        ("replay", "report.json", "forbid", "--bundled", "--json", "report.json"),
        ("replay", "other.json", "forbid", "--config", "report.json", "--junit", "report.json"),
        ("vectors", "report.json", "--json", "report.json"),
        ("minimality", "--vocabulary", "report.json", "--json", "report.json"),
        ("baseline", "update", "report.json", "--report", "report.json"),
        ("mutate", "--state", "report.json", "--json", "report.json"),
        ("mutate", "--earlier", "report.json", "--markdown", "report.json"),
    ],
    ids=" ".join,
)
def test_no_result_replaces_what_it_is_made_of(
    folder: Path, refused: Refused, arguments: tuple[str, ...]
) -> None:
    file = folder / "report.json"
    (folder / "link.json").symlink_to(file)
    (folder / "hard.json").hardlink_to(file)
    before = file.read_bytes()
    assert "this file is read, and would be replaced by the result" in refused(*arguments)
    assert file.read_bytes() == before


def test_a_result_may_replace_an_earlier_one(folder: Path) -> None:
    for _ in range(2):
        assert main(["report", str(folder / "report.json"), "--html", str(folder / "report.html")]) == Exit.OK


@pytest.mark.parametrize(
    "content",
    [
        b"my thesis\n",
        b"\xff\xfe\x00binary",
        b'{"key": "x", "and": "more"}\n',
        b'["key"]\n',
        b"\n\nkept\n",
        b"[" * 100_000,
        json.dumps({"schema_version": 1}).encode(),
    ],
    ids=["prose", "binary", "another-object", "list", "empty-lines", "deep", "report"],
)
def test_a_file_that_holds_no_state_is_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "thesis"
    file.write_bytes(content)
    with pytest.raises(
        UsageProblem, match="thesis: is no state of a run of `cctest mutate`; it was left alone"
    ):
        State(file, (), whole=False)
    assert file.read_bytes() == content


def test_a_directory_is_called_one(folder: Path, refused: Refused) -> None:
    (folder / "sub.yaml").mkdir()
    for arguments in (
        ("baseline", "check", "sub.yaml"),
        ("baseline", "check", "."),
        ("minimality", "--vocabulary", "."),
        ("report", ".", "--html", "x.html"),
        ("mutate", "--earlier", "."),
        ("validate", "."),
        ("probe", "--dry-run", "--config", "."),
    ):
        assert "this is a directory" in refused(*arguments), arguments


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no report: it is empty"),
        (b"\xff\xfe", "is no report: line 1, column 1: "),
        (b"<html>", "is no report: line 1, column 1: "),
        (b'{"a": 1,}', "is no report: line 1, column 9: "),
        (b"[" * 100_000, "is no report: "),
        (b"[]", "is no report of this version: "),
    ],
    ids=["empty", "binary", "html", "comma", "deep", "list"],
)
def test_what_is_no_report_is_told_in_our_words(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "odd").write_bytes(content)
    with pytest.raises(UsageProblem) as told:
        load_report(tmp_path / "odd")
    assert said in str(told.value)
    assert not re.search("codec|Expecting|recursion", str(told.value))
    assert told.value.hint == "`cctest probe --json FILE` writes one"


def test_where_mutants_are_shown_is_true(refused: Refused) -> None:
    assert "generated mutants are made for no rule" in refused("mutate", "--generated", "--rule", "DIG-1")
    assert "vectors/mutants.yaml has every mutant" in refused("mutate", "--mutant", "nonsense")
