"""The drafts as a page, in a real browser: each normative sentence shows what holds it, and nothing runs."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from in_chromium import DESKTOP, PHONE, faults_of_access, heard_from, opened
from playwright.sync_api import Browser

from cctest.coverage.compute import cover
from cctest.coverage.suite import bundled_suite
from cctest.report.model import Report
from cctest.traceability.page.render import annotated_html
from cctest.traceability.source import read_draft
from cctest.traceability.trace import Trace, bundled_trace, make_trace
from cctest.traceability.untied import find_untied
from cctest.verdict import Check, Result, decide

pytestmark = pytest.mark.timeout(300)

HOSTILE = r"""---
title: "<b>Hostile</b> \u202e"
--- abstract

# A heading {#here}

It MUST NOT be <img src=x onerror=alert(1)> (RET-1). {{here}}, {{RFC8259}}, [x](javascript:alert(1)) ![y](https://example.org/z).

| | what |
|---|---|
| a | It MUST be so (DIG-1) |

Term:
: It MAY be so (RET-2).

Nothing MUST be tied to this.

~~~ json
{"<script>alert(1)</script>": 1}
~~~
"""
CHECKS = (
    Check("tenant-boundary#foreigner-computes", ("RET-1",), Result.PASS, ""),
    Check("tenant-boundary#foreigner-computes", ("RET-1",), Result.FAIL, "", cell={"stream": "streamed"}),
    Check(
        "document-max-age-beside-forbid#nothing-retained",
        ("RET-1",),
        Result.INCONCLUSIVE,
        "\u202e<img src=x>",
    ),
)
REPORT = Report("probe", "2026-12-01T04:05:06+00:00", 1.0, decide(CHECKS), CHECKS, target="http://<b>\u202e")


def written(path: Path, trace: Trace, reports: Sequence[tuple[str, Report]] = ()) -> Path:
    path.write_text(annotated_html(trace, tuple(find_untied(trace)), reports), "utf-8")
    return path


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a hostile draft, of a few rules, with a run in which one of them failed."""
    suite = bundled_suite()
    rules = {name: suite.rules[name] for name in ("RET-1", "RET-2", "RET-7", "DIG-1")}
    reports = [("a <run>", REPORT)]
    whole = bundled_trace()
    trace = make_trace(
        [read_draft("draft-x.md", HOSTILE.replace("\\u202e", "\u202e"))],
        replace(cover(replace(suite, rules=rules), reports), gaps=()),
        [replace(mutant, rules=("RET-1",)) for mutant in whole.mutants if "RET-1" in mutant.rules],
        {},
    )
    return written(tmp_path_factory.mktemp("small") / "page.html", trace, reports)


def test_the_page_asks_for_nothing_and_complains_of_nothing(browser: Browser, small: Path) -> None:
    assert heard_from(browser, small) == [small.as_uri()]


def test_the_page_is_accessible(browser: Browser, small: Path) -> None:
    assert faults_of_access(browser, small, PHONE, "dark") == []


def test_what_a_draft_or_a_target_says_stays_text(browser: Browser, small: Path) -> None:
    assert "\u202e" not in small.read_text("utf-8")
    page = opened(browser, small, DESKTOP, "light")
    assert page.locator("img, script, iframe, link, b").count() == 0
    assert page.locator("a[href^=javascript]").count() == 0
    assert "<img src=x onerror=alert(1)>" in page.locator("mark").first.inner_text()


def test_each_sentence_shows_what_holds_it_and_how_that_came_out(browser: Browser, small: Path) -> None:
    page = opened(browser, small, DESKTOP, "light")
    assert page.locator("mark").count() == 4
    notes = page.locator("details.held")
    first = notes.first.locator("summary").inner_text()
    assert first.startswith("RET-1: ")
    assert first.endswith("; a <run>: fail")
    notes.first.evaluate("each => each.open = true")
    assert "document-max-age-beside-forbid#nothing-retained inconclusive" in notes.first.inner_text()
    assert "Mutant " in notes.first.inner_text()
    assert page.locator("td details.held summary").inner_text().startswith("DIG-1: ")
    assert page.locator("dd details.held summary").inner_text().startswith("RET-2: ")
    assert page.locator("p.held").inner_text() == "Tied to no rule."
    assert page.locator("tr#RET-7").inner_text().count("none") == 1
    assert page.locator("a", has_text="A heading").get_attribute("href") == "#d1-here"


def test_the_whole_of_it_fits_a_phone_and_paper(browser: Browser, tmp_path: Path) -> None:
    trace = bundled_trace()
    path = written(tmp_path / "page.html", trace)
    page = opened(browser, path, PHONE, "light")
    assert page.locator("mark").count() == len(trace.normative)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert page.evaluate("getComputedStyle(document.querySelector('.draft pre')).whiteSpace") == "pre-wrap"
