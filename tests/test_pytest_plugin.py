"""The pytest plugin, in sessions of its own, against gateways in order and out of order."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_server import closed_port
from mixed_up_gateway import gateway, write_target

pytest_plugins = ["pytester"]

HEAVY = ("cctest.pytest_items", "jsonschema", "requests", "rich", "yaml", "click")
CELL = "[[]stream=plain,place=tools[]]"
ONE_CHECK = ("--cctest-case", "tenant-boundary", "-k", "foreigner-computes or test_own")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("sound")
    with gateway(folder):
        yield folder / "target.yaml"


@pytest.fixture(scope="module")
def mixed_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("mixed-up")
    with gateway(folder, mixed_up=True):
        yield folder / "target.yaml"


def session(pytester: pytest.Pytester, *arguments: object) -> pytest.RunResult:
    here = f"--rootdir={pytester.path}"  # or else the target file's folder would have a say in it
    result = pytester.runpytest_subprocess(here, *map(str, arguments), timeout=100)
    assert "canary-token" not in result.stdout.str() + result.stderr.str()
    return result


def test_without_its_options_the_plugin_loads_and_does_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        import sys

        def test_nothing_was_loaded():
            assert "cctest.pytest_plugin" in sys.modules
            assert [name for name in {HEAVY!r} if name in sys.modules] == []
        """
    )
    result = session(pytester, "-p", "no:hypothesispytest", "-p", "no:anyio", "-W", "error")
    result.assert_outcomes(passed=1)
    assert "cctest:" not in result.stdout.str()


def test_each_check_is_an_item_that_passes(pytester: pytest.Pytester, sound: Path) -> None:
    pytester.makepyfile("def test_own(): pass")
    result = session(pytester, "--cctest-config", sound, *ONE_CHECK, "-v")
    result.assert_outcomes(passed=5, deselected=None)
    result.stdout.fnmatch_lines(
        [
            "*collected * items*",
            "*::test_own PASSED*",
            f"cctest::tenant-boundary#foreigner-computes{CELL} PASSED*",
            "conformant (of the selection): http://127.0.0.1:*",
        ]
    )


def test_a_failure_is_told_as_the_report_tells_it(pytester: pytest.Pytester, mixed_up: Path) -> None:
    result = session(pytester, "--cctest-config", mixed_up, *ONE_CHECK)
    result.assert_outcomes(failed=4, deselected=None)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            f"*tenant-boundary#foreigner-computes{CELL}*",
            "FAIL  tenant-boundary#foreigner-computes",
            "  in        place=tools stream=plain",
            "  SHR-1  *The scopes are nested*",
            "  expected  foreigner computes prefix afresh",
            "  seen      prefix was reused",
            "  evidence  usage: *",
            "  reproduce curl *",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_what_is_inconclusive_fails_unless_that_is_allowed(pytester: pytest.Pytester, sound: Path) -> None:
    arguments = ("--cctest-config", sound, "--cctest-case", "sessionless", "-k", "repeat-computes")
    result = session(pytester, *arguments)
    result.assert_outcomes(failed=4, deselected=None)
    result.stdout.fnmatch_lines(["*needs a credential without a session for the same principal*"])
    result = session(pytester, *arguments, "--cctest-allow-inconclusive", "-rx")
    result.assert_outcomes(xfailed=4, deselected=None)
    result.stdout.fnmatch_lines(["XFAIL cctest::sessionless#*needs a credential*"])


def test_an_exchange_that_breaks_is_a_failure_even_where_inconclusive_is_allowed(
    pytester: pytest.Pytester,
) -> None:
    write_target(pytester.path, f"http://127.0.0.1:{closed_port()}")
    arguments = ("--cctest-config", "target.yaml", *ONE_CHECK)
    result = session(pytester, *arguments, "--cctest-allow-inconclusive")
    result.assert_outcomes(failed=4, deselected=None)
    result.stdout.fnmatch_lines(["the target couldn't be probed: * refuses connections"])


def test_a_server_of_another_kind_fails_every_item(pytester: pytest.Pytester) -> None:
    pytester.makefile(
        ".py",
        serve="""
        import http.server, threading

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_error(404)
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_error(404)
            def log_message(self, *arguments):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        """,
    )
    pytester.makeconftest(
        """
        import json, pathlib, serve
        path = pathlib.Path("target.yaml")
        target = json.loads(path.read_text())
        path.write_text(json.dumps({**target, "target": f"http://127.0.0.1:{serve.server.server_port}"}))
        """
    )
    write_target(pytester.path, "http://127.0.0.1:1")
    result = session(pytester, "--cctest-config", "target.yaml", *ONE_CHECK)
    result.assert_outcomes(failed=4, deselected=None)
    result.stdout.fnmatch_lines(["*answers no plain request*"])


def test_collecting_sends_nothing_and_is_the_same_every_time(pytester: pytest.Pytester) -> None:
    write_target(pytester.path, f"http://127.0.0.1:{closed_port()}")
    arguments = ("--cctest-config", "target.yaml", "--cctest-group", "retention", "--collect-only", "-q")
    first, second = (
        [line for line in session(pytester, *arguments).outlines if line.startswith("cctest::")]
        for _ in range(2)
    )
    assert first == second
    assert all(re.fullmatch(r"cctest::[a-z-]+#[a-z-]+(\[[a-z=,-]+\])?", line) for line in first)
    assert len(first) == len(set(first)) > 10


def test_only_what_is_selected_is_probed(pytester: pytest.Pytester, sound: Path) -> None:
    result = session(pytester, "--cctest-config", sound, "-k", "no-intent and plain and tools", "-q")
    result.assert_outcomes(passed=1, deselected=None)
    result.stdout.fnmatch_lines(["conformant (of the selection): http://127.0.0.1:*, 1 pass, *"])


def test_a_warning_is_a_warning_of_pytest_s(pytester: pytest.Pytester, sound: Path) -> None:
    pytester.makeconftest(
        """
        import dataclasses
        import cctest.probe.run as run
        from cctest.verdict import Result

        def pytest_configure(config):
            import cctest.pytest_items as items
            probe = items.run_probe
            def with_warnings(plan, progress):
                report = probe(plan, progress)
                results = iter((Result.WARN, Result.UNSUPPORTED, Result.ERROR, Result.PASS))
                checks = []
                for check in report.checks:
                    if check.id.endswith("#foreigner-computes"):
                        result = next(results)
                        check = dataclasses.replace(check, result=result, message=f"made {result}")
                    checks.append(check)
                return dataclasses.replace(report, checks=tuple(checks))
            items.run_probe = with_warnings
        """
    )
    arguments = ("--cctest-config", sound, *ONE_CHECK, "--cctest-allow-inconclusive")
    result = session(pytester, *arguments, "-rs")
    result.assert_outcomes(passed=2, skipped=1, failed=1, warnings=1, deselected=None)
    result.stdout.fnmatch_lines(["*ConformanceWarning: WARN  tenant-boundary*", "SKIPPED*made unsupported"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("--cctest-case", "tenant-boundary"),
            "--cctest-case needs --cctest-config FILE or --cctest-target URL",
        ),
        (("--cctest-full",), "--cctest-full needs --cctest-config"),
        (("--cctest-config", "none.yaml"), "none.yaml: can't be read"),
        (("--cctest-target", "nowhere"), "the target is no http or https URL"),
        (("--cctest-target", "http://127.0.0.1:1", "--cctest-case", "tenant-bounday"), "did you mean"),
        (("--cctest-target", "http://127.0.0.1:1", "--cctest-group", "x*"), "no group fits 'x*'"),
    ],
)
def test_a_mistake_in_the_call_is_a_usage_error(
    pytester: pytest.Pytester, arguments: tuple[str, ...], told: str
) -> None:
    result = session(pytester, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{told.replace('[', '[[]')}*"])


def test_under_xdist_all_checks_stay_on_one_worker(pytester: pytest.Pytester, sound: Path) -> None:
    pytester.makepyfile("def test_own(): pass")
    arguments = ("--cctest-config", sound, *ONE_CHECK, "-n", "2")
    result = session(pytester, *arguments, "--dist", "loadfile", "-v")
    result.assert_outcomes(passed=5, deselected=None)
    workers = {line.split("]")[0] for line in result.outlines if "PASSED" in line and "cctest::" in line}
    assert len(workers) == 1
    result = session(pytester, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*add --dist loadfile, which keeps all checks on one worker*"])


def test_the_entry_point_is_what_this_tests(pytester: pytest.Pytester) -> None:
    shown = pytester.run(sys.executable, "-m", "pytest", "--help")
    shown.stdout.fnmatch_lines(["*--cctest-config=FILE*"])
