import os
from pathlib import Path

import pytest

from cctest.problem import UsageProblem
from cctest.report.destination import check_destinations, write_report


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_a_report_replaces_a_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old and longer")
    write_report(str(path), "né\udc80w")
    assert path.read_bytes() == "né".encode() + rb"\udc80" + b"w"
    assert names(tmp_path) == ["report.json"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    write_report(str(link), "x")
    assert link.is_symlink()
    assert (tmp_path / "real").read_text() == "x"


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_report("/dev/null", "x")
    assert not Path("/dev/null").is_file()


def test_a_full_device_is_a_problem() -> None:
    check_destinations(["/dev/full"])
    with pytest.raises(UsageProblem, match="No space left"):
        write_report("/dev/full", "x")


def test_nothing_is_left_when_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    (tmp_path / "report").write_text("old")
    with pytest.raises(UsageProblem, match="No space left"):
        write_report(str(tmp_path / "report"), "new")
    assert names(tmp_path) == ["report"]
    assert (tmp_path / "report").read_text() == "old"


def test_destinations_are_checked_before_the_run(tmp_path: Path) -> None:
    check_destinations([str(tmp_path / "a"), str(tmp_path / "b"), "-"])
    for paths, message in (
        ([str(tmp_path)], "is a directory"),
        ([str(tmp_path / "none" / "a")], "there is no folder"),
        (["-", "-"], "one place"),
        ([str(tmp_path / "a"), str(tmp_path / "x" / ".." / "a")], "one place"),
    ):
        with pytest.raises(UsageProblem, match=message):
            check_destinations(paths)
    assert names(tmp_path) == []
