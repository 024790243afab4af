"""The report as a page, in a real browser: it reads well, needs nothing, and nothing in it runs."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from in_chromium import DESKTOP, PHONE, Scheme, Size, faults_of_access, heard_from, opened
from playwright.sync_api import Browser

from cctest.coverage.compute import cover
from cctest.coverage.suite import Suite, bundled_suite
from cctest.report.json_report import json_text
from cctest.report.model import Report
from cctest.report.page.mutation import load_mutation
from cctest.report.page.render import page_html
from cctest.verdict import Check, Evidence, Reading, Result, Source, decide

pytestmark = pytest.mark.timeout(300)

HOSTILE = "<img src=x onerror=alert(1)> {{ 7 * 7 }} \u202egpj.exe \x1b[31m \ud800 & ]]>"
MUTATION: dict[str, Any] = {
    "baseline": [{"setup": "vectors", "passed": 642}],
    "notes": ["2 of 299 mutants were selected"],
    "summary": {
        "rule": {"total": 1, "score": 1.0, "statuses": {"killed": 1, "survived": 0}},
        "generated": {"total": 2, "score": 0.9996, "statuses": {"killed": 1, "killed by another check": 1}},
    },
    "mutants": [
        {
            "id": "forbid-is-kept",
            "family": "rule",
            "rules": ["RET-1"],
            "inverts": "State under forbid is kept <img src=x> \u202e",
            "where": "cctest/contract/composition.py",
            "was": "any",
            "becomes": "all",
            "caught_by": "forbid-first#late-computes",
            "status": "killed",
            "failed": [{"check": "forbid-first#late-computes"}, {"check": "forbid-first#late-computes"}],
            "argument": None,
        },
        {
            "id": "generated-1",
            "family": "generated",
            "rules": [],
            "inverts": "",
            "where": "cctest/contract/digest.py",
            "was": "a < b",
            "becomes": "a <= b",
            "caught_by": None,
            "status": "killed by another check",
            "failed": [],
            "argument": {"kind": "equivalent", "why": "they never meet"},
        },
    ],
}


def check(result: Result, number: int, text: str, **members: Any) -> Check:
    return Check(
        f"case-{number}#expectation",
        ("RET-3", "POL-2"),
        result,
        text,
        expected=text,
        seen=text,
        evidence=(Evidence(Source.CANARY, text),),
        **members,
    )


CHECKS = (
    *(check(result, number, f"{result} said {HOSTILE}") for number, result in enumerate(Result)),
    check(Result.FAIL, 9, HOSTILE * 20, cell={"stream": "plain"}, reproduce=("curl " + "x" * 3000,)),
)
FULL = Report(
    "probe",
    "2026-12-01T04:05:06+00:00",
    1.25,
    decide(CHECKS),
    CHECKS,
    seed=7,
    target="http://" + "h" * 300,
    capabilities={"text": HOSTILE, "long": "y" * 2000},
    readings=(Reading("READ-1", "own-intent", "case-0#x"),),
    notes=(HOSTILE,),
    partial=True,
)
EMPTY = Report("probe", "2026-12-01T04:05:06+00:00", 0.0, decide(()), ())
VECTORS = replace(FULL, command="vectors", target=None, capabilities=None, readings=(), partial=False)


@pytest.fixture(scope="module")
def suite() -> Suite:
    return bundled_suite()


def written(folder: Path, suite: Suite, report: Report) -> Path:
    (folder / "mutation.json").write_text(json.dumps(MUTATION))
    mutation = load_mutation(folder / "mutation.json") if report is FULL else None
    wordings = {name: rule.text for name, rule in suite.rules.items()}
    path = folder / "page.html"
    path.write_text(page_html(report, cover(suite, [("a run", report)]), wordings, mutation), "utf-8")
    return path


@pytest.fixture
def full(suite: Suite, tmp_path: Path) -> Path:
    return written(tmp_path, suite, FULL)


@pytest.mark.parametrize("report", [FULL, EMPTY, VECTORS], ids=["full", "empty", "vectors"])
def test_the_page_asks_for_nothing_and_complains_of_nothing(
    browser: Browser, suite: Suite, tmp_path: Path, report: Report
) -> None:
    path = written(tmp_path, suite, report)
    assert heard_from(browser, path) == [path.as_uri()]


@pytest.mark.parametrize(
    ("report", "look"),
    [
        pytest.param(FULL, (DESKTOP, "light"), id="full on a desktop"),
        pytest.param(FULL, (PHONE, "dark"), id="full on a phone in the dark"),
        pytest.param(EMPTY, (PHONE, "light"), id="empty"),
        pytest.param(VECTORS, (DESKTOP, "dark"), id="vectors"),
    ],
)
def test_the_page_is_accessible(
    browser: Browser, suite: Suite, tmp_path: Path, report: Report, look: tuple[Size, Scheme]
) -> None:
    assert faults_of_access(browser, written(tmp_path, suite, report), *look) == []


def test_the_page_fits_a_phone(browser: Browser, full: Path) -> None:
    page = opened(browser, full, PHONE, "light")
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    assert page.screenshot(full_page=False).startswith(b"\x89PNG")


def test_the_page_prints_in_black_on_white(browser: Browser, full: Path) -> None:
    page = opened(browser, full, DESKTOP, "dark")
    page.emulate_media(media="print", color_scheme="dark")
    colours = "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    assert page.evaluate(colours) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_colours_follow_the_reader(browser: Browser, full: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = (opened(browser, full, DESKTOP, scheme).evaluate(ground) for scheme in ("light", "dark"))
    assert light == "rgb(255, 255, 255)"
    assert dark != light


def test_what_comes_from_a_target_stays_text(browser: Browser, full: Path) -> None:
    source = full.read_text("utf-8")
    assert not {"\u202e", "\x1b", "\ud800"} & set(source)
    page = opened(browser, full, DESKTOP, "light")
    assert page.locator("img, script, iframe, link").count() == 0
    shown = page.locator("article").first.inner_text()
    assert "<img src=x onerror=alert(1)> {{ 7 * 7 }} \\u202egpj.exe \\x1b[31m \\ud800 & ]]>" in shown


def test_the_page_says_what_was_found(browser: Browser, full: Path) -> None:
    page = opened(browser, full, DESKTOP, "light")
    assert page.title() == "cctest probe: nonconformant"
    assert page.locator(".verdict").inner_text().startswith("nonconformant (of a selection)")
    assert page.locator("article h3").all_inner_texts() == [
        "fail case-1#expectation",
        "fail case-9#expectation",
    ]
    assert page.locator("tr#RET-3 .badge").inner_text() == "fail"
    assert page.locator("tr#SEC-3 .badge").inner_text() == "not observable"
    assert page.locator("section[aria-labelledby=interoperability] tbody tr").count() == 10
    assert page.locator("section[aria-labelledby=beyond] tbody tr").count() == 3
    assert page.locator("section[aria-labelledby=readings] tbody tr").all_inner_texts() == [
        "READ-1\town-intent\tF-21: which fragments are governed\tcase-0#x"
    ]
    assert "99.9 %" in page.locator("section[aria-labelledby=mutation] table.small").inner_text()
    assert page.locator("section[aria-labelledby=mutation] h3").all_inner_texts() == [
        "Not killed by their check",
        "The catalogue",
    ]


def test_the_page_shows_what_cctest_mutate_wrote(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json_text(VECTORS))
    chosen = ("--mutant", "digest-of-the-latest-namespace", "--json", "mutation.json")
    code, _, _ = cctest("mutate", *chosen, cwd=tmp_path)
    assert code == 0
    code, out, _ = cctest("report", "report.json", "--mutation", "mutation.json", "--html", "-", cwd=tmp_path)
    assert code == 0
    assert "digest-of-the-latest-namespace in cctest/contract/composition.py" in out
    assert '<span class="badge killed">killed</span>' in out


def cctest(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "cctest", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_the_command_writes_whole_files_or_none(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json_text(FULL))
    (tmp_path / "mutation.json").write_text(json.dumps(MUTATION))
    arguments = ("report.json", "--mutation", "mutation.json", "--html", "a.html", "--markdown", "a.md")
    assert cctest("report", *arguments, cwd=tmp_path) == (0, "", "")
    assert (tmp_path / "a.html").read_text().endswith("</html>\n")
    markdown = (tmp_path / "a.md").read_text()
    assert "**nonconformant** (of a selection)" in markdown
    assert "## Mutation" in markdown
    assert "<img" not in markdown.replace("\\<img", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.html",
        "a.md",
        "mutation.json",
        "report.json",
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("report.json",), "nothing to write"),
        (("absent.json", "--html", "a.html"), "absent.json"),
        (("mutation.json", "--html", "a.html"), "is no report of this version"),
        (("report.json", "--html", "a.html", "--mutation", "report.json"), "is no result of `cctest mutate`"),
        (("report.json", "--html", "nowhere/a.html"), "there is no folder 'nowhere'"),
    ],
)
def test_a_mistake_is_told_and_leaves_nothing(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    (tmp_path / "report.json").write_text(json_text(FULL))
    (tmp_path / "mutation.json").write_text(json.dumps(MUTATION))
    code, out, err = cctest("report", *arguments, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert told in err
    assert not (tmp_path / "a.html").exists()
