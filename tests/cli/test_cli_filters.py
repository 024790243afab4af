"""--case, --rule, --group and --exclude, as whole commands."""

import json
from pathlib import Path

import pytest
from mixed_up_gateway import cctest


def listed(folder: Path, *arguments: str) -> list[str]:
    code, out, err = cctest(folder, "list", "cases", *arguments)
    assert code == 0, err
    return [line.split()[0] for line in out.splitlines()]


def test_cases_are_found_by_group_rule_and_glob(tmp_path: Path) -> None:
    sharing = listed(tmp_path, "--group", "sharing")
    assert "tenant-boundary" in sharing
    assert "forbid" not in sharing
    assert listed(tmp_path, "--case", "tenant-b*") == ["tenant-boundary"]
    assert "forbid-first" in listed(tmp_path, "--rule", "RET-*", "--group", "retention", "--case", "forbid*")
    assert "tenant-boundary" not in listed(tmp_path, "--group", "sharing", "--exclude", "*-boundary")


def test_a_rule_s_family_and_a_vector_s_kind_are_groups(tmp_path: Path) -> None:
    code, out, _ = cctest(tmp_path, "list", "rules", "--group", "DIG")
    assert (code, [line.split()[0] for line in out.splitlines()]) == (0, ["DIG-1", "DIG-2", "DIG-3"])
    code, out, _ = cctest(tmp_path, "vectors", "--group", "digest", "-q")
    assert code == 0
    assert out.startswith("conformant (of the selection): ")


def test_an_excluded_check_is_not_judged_and_that_is_said(tmp_path: Path) -> None:
    run = ("probe", "--bundled", "--case", "status-boundary", "--exclude", "status-boundary#*t")
    code, out, _ = cctest(tmp_path, *run, "--json", "out.json")
    assert code == 0
    told = "excluded, and so not judged: status-boundary#request, status-boundary#tenant"
    assert told in " ".join(out.split())
    judged = {check["id"] for check in json.loads((tmp_path / "out.json").read_text())["checks"]}
    assert judged == {"status-boundary#session", "status-boundary#principal"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--group", "sharng"), "there is no group 'sharng'\n  did you mean 'sharing'?"),
        (("--exclude", "tenant-bounday"), "did you mean 'tenant-boundary'?"),
        (("--exclude", "tenant-boundary#x"), "there is no check 'tenant-boundary#x'"),
        (("--rule", "ret-3"), "did you mean 'RET-3'?"),
        (("--case", "zzz*"), "no case fits 'zzz*'"),
        (
            ("--case", "forbid", "--group", "sharing"),
            "no case among forbid of group sharing is left",
        ),
        (("--case", "forbid", "--exclude", "f*"), "no case among forbid is left once f* is excluded"),
    ],
)
def test_a_selection_of_nothing_ends_in_2(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    code, out, err = cctest(tmp_path, "probe", "--bundled", *arguments)
    assert (code, out) == (2, "")
    assert told in err
