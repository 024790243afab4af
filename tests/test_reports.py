"""reports/ is of the current suite, and documents say what it says. `make reports` puts both right."""

import json
from pathlib import Path

import pytest
from figures import BLOCK, DOCUMENTS, REGIONS, ROOT, document

from cctest.bundle import suite_digest
from cctest.cli.coverage import named
from cctest.coverage.compute import cover
from cctest.coverage.suite import bundled_suite
from cctest.mutation.generate import generate
from cctest.mutation.survivors import load_survivors
from cctest.report.coverage_markdown import coverage_markdown

REPORTS = ROOT / "reports"
OURS = ("vectors", "probe-embedded", "probe-forwarding")
"""What `make reports` runs; the report of a real vLLM comes from `make live`."""
ON_VLLM = ("probe-vllm", "probe-regions", "probe-regions-older")
"""What `make live` and `make regions` run, for each change of the suite too."""
WITH_REGIONS = ("probe-regions", "probe-regions-older")
"""On a real vLLM with our plugin, on both of its lines."""


@pytest.mark.parametrize("name", [*OURS, *ON_VLLM])
def test_the_report_is_of_the_current_suite(name: str) -> None:
    report = json.loads((REPORTS / f"{name}.json").read_text())
    how = "make reports" if name in OURS else "make live-salt live-regions regions"
    assert report["suite"]["digest"] == suite_digest(), f"stale: {how}"
    assert report["outcome"] == "conformant"


@pytest.mark.parametrize("name", [*OURS[1:], *ON_VLLM])
def test_the_text_is_of_the_report_beside_it(name: str) -> None:
    report = json.loads((REPORTS / f"{name}.json").read_text())
    told = (REPORTS / f"{name}.txt").read_text("utf-8").splitlines()[-1]
    counts = ", ".join(f"{count} {result}" for result, count in report["summary"].items() if count)
    assert told.startswith(f"{report['outcome']}: {report['target']}, {counts}, ")


def test_the_report_on_generated_mutants_is_of_those_that_are_generated_now() -> None:
    report = json.loads((REPORTS / "mutation-generated.json").read_text())
    told = {mutant["id"]: mutant["argument"] for mutant in report["mutants"]}
    assert report["exit"] == 0
    assert told.keys() == {mutant.id for mutant in generate()}, "stale: make mutants"
    arguments = {name: one.kind for name, one in load_survivors().items()}
    assert {name: one["kind"] for name, one in told.items() if one is not None} == arguments


def test_the_coverage_report_is_what_the_suite_and_the_reports_give() -> None:
    paths = [str(REPORTS / f"{name}.json") for name in (*OURS, "probe-vllm", "probe-regions")]
    made = coverage_markdown(cover(bundled_suite(), named(paths)))
    assert (REPORTS / "coverage.md").read_text("utf-8") == made, "stale: make reports"


@pytest.mark.parametrize("name", ["probe-embedded", "probe-forwarding"])
def test_the_page_is_of_the_report_beside_it(name: str) -> None:
    report = json.loads((REPORTS / f"{name}.json").read_text())
    page = Path(REPORTS / f"{name}.html").read_text("utf-8")
    assert report["started"] in page
    assert report["suite"]["digest"][:12] in page


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_figures_in_a_document_are_those_of_the_reports(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    assert REGIONS.search(text)
    assert BLOCK.search(text) or name != "README.md"
    assert document(name) == text, "stale: make reports"


@pytest.mark.parametrize("name", WITH_REGIONS)
def test_boundaries_for_each_fragment_and_bounds_on_age_were_seen(name: str) -> None:
    report = json.loads((REPORTS / f"{name}.json").read_text())
    told = report["capabilities"]["cache_intent_capabilities"]
    assert (report["outcome"], told["per_fragment_share"]) == ("conformant", True)
    assert told["constraints"]["retention_max_age"] is True
    of: dict[str, set[str]] = {}
    for check in report["checks"]:
        of.setdefault(check["id"], set()).add(f"{check['result']}: {check['message']}")
    shared = of["public-then-tenant#boundary-as-advertised"]
    assert shared == {"pass: the public part is shared as advertised, by usage counts"}
    for exercised in ("public-then-tenant#tenant-part-computed", "max-age-read#late-computes"):
        assert all(seen.startswith("pass") for seen in of[exercised]), of[exercised]
