"""Known failures as whole commands, against a gateway that takes two tenants for one."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from mixed_up_gateway import cctest, gateway

from cctest.baseline.file import load_baseline

CHECK = "tenant-boundary#foreigner-computes"
RUN = ("probe", "--config", "target.yaml", "--case", "tenant-boundary", "--seed", "1")
KNOWN = f"""\
version: 1
failures:
  # the reason why we are here
  - check: {CHECK}
    reason: Both tenants have one account.
    link: https://example.org/issues/7
    expires: 2999-12-31
"""


def known(folder: Path) -> str:
    """A baseline of all that failed, CHECK first."""
    report = json.loads((folder / "report.json").read_text())
    failed = {check["id"] for check in report["checks"] if check["result"] == "fail"}
    entry = KNOWN.partition("here\n")[2]
    return KNOWN + "".join(entry.replace(CHECK, other) for other in sorted(failed - {CHECK}))


@pytest.fixture(scope="module")
def mixed_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("mixed-up")
    with gateway(folder, mixed_up=True):
        code, _, _ = cctest(folder, *RUN, "--quiet", "--json", "report.json")
        assert code == 1
        yield folder


def test_a_known_failure_ends_in_0_and_is_still_told(mixed_up: Path) -> None:
    (mixed_up / "known.yaml").write_text(known(mixed_up))
    code, out, _ = cctest(
        mixed_up, *RUN, "--baseline", "known.yaml", "--json", "out.json", "--junit", "out.xml"
    )
    assert code == 0
    report = json.loads((mixed_up / "out.json").read_text())
    failed = report["summary"]["fail"]
    assert out.splitlines()[-1].startswith(f"conformant except for {failed} known failures: ")
    assert "Both tenants have one account. (https://example.org/issues/7)" in out
    assert (report["outcome"], report["exit"]) == ("nonconformant", 0)
    assert [each["check"] for each in report["baseline"]["known"]].count(CHECK) == 4
    suite = ET.parse(mixed_up / "out.xml").getroot()[0]
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "0", str(failed))


def test_without_its_baseline_the_same_run_fails(mixed_up: Path) -> None:
    code, out, _ = cctest(mixed_up, *RUN)
    assert code == 1
    assert out.splitlines()[-1].startswith("nonconformant (of the selection): ")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("2999-12-31", "2020-01-01", "expired on 2020-01-01"),
        ("foreigner-computes", "foreigner-compute", "there is no such check; did you mean"),
        ("    reason", "    cell: {place: tools}\n    reason", "FAIL tenant-boundary"),
        ("    reason", "    result: inconclusive\n    reason", "now: 4 fail"),
    ],
    ids=["expired", "unknown", "another-cell", "another-result"],
)
def test_a_baseline_that_does_not_hold_fails_the_run(mixed_up: Path, old: str, new: str, told: str) -> None:
    (mixed_up / "known.yaml").write_text(known(mixed_up).replace(old, new, 1))
    code, out, _ = cctest(mixed_up, *RUN, "--baseline", "known.yaml", "--junit", "out.xml")
    assert code == 1
    assert told in " ".join(out.split())
    assert out.splitlines()[-1].startswith("nonconformant (of the selection): ")
    assert ET.parse(mixed_up / "out.xml").getroot().get("failures") != "0"


def test_a_stale_entry_fails_a_run_in_which_all_is_well(tmp_path: Path) -> None:
    (tmp_path / "known.yaml").write_text(KNOWN)
    with gateway(tmp_path):
        code, out, _ = cctest(tmp_path, *RUN, "--baseline", "known.yaml", "--json", "out.json")
    assert code == 1
    assert "expected fail, and now: 4 pass" in out
    assert out.splitlines()[-1].startswith("conformant, but the baseline doesn't hold (of the selection): ")
    report = json.loads((tmp_path / "out.json").read_text())
    assert (report["outcome"], report["exit"]) == ("conformant", 1)


def test_a_baseline_that_cannot_be_read_ends_in_2_before_anything_is_sent(tmp_path: Path) -> None:
    (tmp_path / "target.yaml").write_text("{target: 'http://127.0.0.1:9', model: m}")
    (tmp_path / "known.yaml").write_text(KNOWN.replace("    link: https://example.org/issues/7\n", ""))
    code, out, err = cctest(tmp_path, *RUN, "--baseline", "known.yaml")
    assert (code, out) == (2, "")
    assert "known.yaml, line 4, column 5, at /failures/0: the member `link` is missing" in err


def test_check_holds_entries_against_the_suite_and_against_a_report(mixed_up: Path) -> None:
    (mixed_up / "known.yaml").write_text(known(mixed_up))
    assert cctest(mixed_up, "baseline", "check", "known.yaml")[0] == 0
    assert cctest(mixed_up, "baseline", "check", "known.yaml", "--report", "report.json")[0] == 0
    (mixed_up / "known.yaml").write_text(KNOWN.replace(CHECK, "tenant-bounday#x"))
    code, out, _ = cctest(mixed_up, "baseline", "check", "known.yaml")
    assert code == 1
    assert "unknown: tenant-bounday#x" in out
    assert "known.yaml, line 4, column 5, at /failures/0: Both tenants" in out


TELL = ("--reason", "one account", "--link", "https://example.org/8", "--expires", "2999-01-01")


def test_update_writes_a_baseline_with_which_the_run_passes(mixed_up: Path) -> None:
    (mixed_up / "new.yaml").unlink(missing_ok=True)
    code, out, _ = cctest(mixed_up, "baseline", "update", "new.yaml", "--report", "report.json", *TELL)
    assert code == 0
    assert re.fullmatch(r"0 dropped, (\d+) added\n\1 entries, 0 that don't hold\n", out)
    entries = load_baseline(mixed_up / "new.yaml").entries
    assert (CHECK, {}) in [(entry.check, entry.cell) for entry in entries]
    assert cctest(mixed_up, *RUN, "--baseline", "new.yaml")[0] == 0


def test_update_drops_what_is_stale_and_keeps_comments(mixed_up: Path) -> None:
    stale = known(mixed_up).replace(CHECK, f"{CHECK}\n    result: inconclusive")
    (mixed_up / "known.yaml").write_text(stale)
    code, out, _ = cctest(mixed_up, "baseline", "update", "known.yaml", "--report", "report.json", *TELL)
    assert (code, out.splitlines()[0]) == (0, "1 dropped, 1 added")
    assert "# the reason why we are here" in (mixed_up / "known.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "--reason and --link and --expires must be given to add tenant-boundary#"),
        (TELL[:4], "--expires must be given"),
        ((*TELL[:2], "--link", "here", *TELL[4:]), "--link: the link is no URL"),
        ((*TELL[:5], "2020-01-01"), "--expires: that day is over"),
        ((*TELL[:5], "soon"), "'soon' does not match the format"),
    ],
)
def test_nothing_is_excused_without_reason_link_and_day(
    mixed_up: Path, arguments: tuple[str, ...], told: str
) -> None:
    (mixed_up / "new.yaml").unlink(missing_ok=True)
    code, _, err = cctest(mixed_up, "baseline", "update", "new.yaml", "--report", "report.json", *arguments)
    assert code == 2
    assert told in err
    assert not (mixed_up / "new.yaml").exists()
