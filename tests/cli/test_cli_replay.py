"""`cctest replay` as a whole command: what failed yesterday, today."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from mixed_up_gateway import cctest, gateway, write_target

CHECK = "tenant-boundary#foreigner-computes"


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the report of a run in which tenants weren't told apart, and that gateway."""
    folder = tmp_path_factory.mktemp("failed")
    with gateway(folder, mixed_up=True):
        cases = ("--case", "tenant-boundary", "--case", "status-boundary")
        code, _, _ = cctest(
            folder, "probe", "--config", "target.yaml", *cases, "--seed", "7", "--json", "report.json"
        )
        assert code == 1
        yield folder


def replay(folder: Path, name: str, *arguments: str) -> tuple[int, str, str]:
    return cctest(folder, "replay", "report.json", name, "--config", "target.yaml", *arguments)


@pytest.mark.parametrize("name", ["tenant-boundary", CHECK])
def test_what_still_fails_is_said_to(failed: Path, name: str) -> None:
    code, out, _ = replay(failed, name)
    assert code == 1
    assert f"fail          fail          {CHECK} [place=tools stream=plain]" in out
    assert out.count(f"fail          fail          {CHECK} ") == 4
    assert f"FAIL  {CHECK}" in out
    assert "seed 7" in out


def test_what_was_put_right_is_said_to_be(failed: Path, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text((failed / "report.json").read_text())
    with gateway(tmp_path):
        code, out, _ = replay(tmp_path, "tenant-boundary", "--json", "now.json")
    assert code == 0
    assert f"fail          pass          {CHECK} [place=messages stream=streamed]" in out
    assert "the report was of another target" in out
    now = json.loads((tmp_path / "now.json").read_text())
    assert {check["result"] for check in now["checks"]} == {"pass"}


def test_only_the_cells_that_did_not_pass_are_run_again(failed: Path, tmp_path: Path) -> None:
    report = json.loads((failed / "report.json").read_text())
    for check in report["checks"]:
        if check["cell"]["place"] == "tools":
            check["result"] = "pass"
    (tmp_path / "report.json").write_text(json.dumps(report))
    (tmp_path / "target.yaml").write_text((failed / "target.yaml").read_text())
    _, out, _ = replay(tmp_path, CHECK)
    assert out.count("fail          fail") == 2
    assert "place=tools" not in out
    _, out, _ = replay(tmp_path, CHECK, "--all")
    assert out.count("pass          fail") == 2


def test_what_passed_is_not_run_again_unasked(failed: Path) -> None:
    code, out, err = replay(failed, "status-boundary")
    assert (code, out) == (2, "")
    assert err == "error: status-boundary passed in every cell\n  --all runs it again all the same\n"
    code, out, _ = replay(failed, "status-boundary#tenant", "--all")
    assert code == 0
    assert out.count("pass          pass") == 4


@pytest.mark.parametrize(
    ("change", "name", "told"),
    [
        (lambda report: report, "tenant-bounday", "did you mean 'tenant-boundary'?"),
        (lambda report: report, "forbid", "there is no case or check in the report 'forbid'"),
        (lambda report: {**report, "command": "vectors"}, CHECK, "it has nothing to send again"),
        (lambda report: {**report, "checks": 7}, CHECK, "report.json, at /checks: is no report"),
        (lambda report: {"outcome": "conformant"}, CHECK, "report.json, at the top: is no report"),
        (lambda report: None, CHECK, "is no report of this version"),
        (
            lambda report: {**report, "checks": [{**report["checks"][0], "id": "gone#x"}]},
            "gone#x",
            "this suite has no case 'gone#x' any more",
        ),
        (
            lambda report: {**report, "checks": [{**report["checks"][-1], "cell": {"place": "hold"}}]},
            CHECK,
            "has no cell place=hold any more",
        ),
    ],
)  # fmt: skip
def test_a_report_that_cannot_be_replayed_is_told(
    failed: Path, tmp_path: Path, change: object, name: str, told: str
) -> None:
    report = json.loads((failed / "report.json").read_text())
    report["checks"].sort(key=lambda check: check["id"] == CHECK)
    (tmp_path / "report.json").write_text(json.dumps(change(report)))  # type: ignore[operator]
    write_target(tmp_path, "http://127.0.0.1:9")
    code, out, err = replay(tmp_path, name)
    assert (code, out) == (2, "")
    assert told in err


def test_a_target_is_needed(failed: Path) -> None:
    code, _, err = cctest(failed, "replay", "report.json", "tenant-boundary")
    assert code == 2
    assert "give --target URL, --config FILE or --bundled" in err
