"""reports/ is of the current suite, and README says what it says. `make reports` puts both right."""

import json
from pathlib import Path

import pytest
from figures import BLOCK, ROOT, readme

from cctest.bundle import suite_digest
from cctest.cli.coverage import named
from cctest.coverage.compute import cover
from cctest.coverage.suite import bundled_suite
from cctest.report.coverage_markdown import coverage_markdown

REPORTS = ROOT / "reports"
OURS = ("vectors", "probe-embedded", "probe-forwarding")
"""What `make reports` runs; the report of a real vLLM comes from `make live`."""


@pytest.mark.parametrize("name", OURS)
def test_the_report_is_of_the_current_suite(name: str) -> None:
    report = json.loads((REPORTS / f"{name}.json").read_text())
    assert report["suite"]["digest"] == suite_digest(), "stale: make reports"
    assert report["outcome"] == "conformant"


def test_the_coverage_report_is_what_the_suite_and_the_reports_give() -> None:
    paths = [str(REPORTS / f"{name}.json") for name in (*OURS, "probe-vllm")]
    made = coverage_markdown(cover(bundled_suite(), named(paths)))
    assert (REPORTS / "coverage.md").read_text("utf-8") == made, "stale: make reports"


@pytest.mark.parametrize("name", ["probe-embedded", "probe-forwarding"])
def test_the_page_is_of_the_report_beside_it(name: str) -> None:
    report = json.loads((REPORTS / f"{name}.json").read_text())
    page = Path(REPORTS / f"{name}.html").read_text("utf-8")
    assert report["started"] in page
    assert report["suite"]["digest"][:12] in page


def test_the_figures_in_the_readme_are_those_of_the_reports() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert BLOCK.search(text)
    assert readme() == text, "stale: make reports"
