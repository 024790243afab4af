from datetime import date
from pathlib import Path

import pytest
from baseline_samples import baseline, entry, parsed

from cctest.baseline.file import load_baseline
from cctest.problem import UsageProblem
from cctest.verdict import Result


def test_an_entry_expects_a_failure_in_every_cell_unless_it_says_otherwise() -> None:
    plain, narrow = baseline(
        entry("alpha#x"), entry("alpha#y", cell="{stream: streamed}", result="inconclusive")
    ).entries
    assert (plain.result, plain.cell, plain.expires) == (Result.FAIL, {}, date(2027, 1, 31))
    assert (narrow.result, narrow.cell) == (Result.INCONCLUSIVE, {"stream": "streamed"})
    assert "line 7" in narrow.where


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (entry("alpha#x", reason='""'), "at /failures/0/reason"),
        (entry("alpha#x", reason="' '"), "at /failures/0/reason"),
        ("  - {check: a#x, link: 'https://h', expires: 2027-01-31}\n", "the member `reason` is missing"),
        ("  - {check: a#x, reason: r, expires: 2027-01-31}\n", "the member `link` is missing"),
        ("  - {check: a#x, reason: r, link: 'https://h'}\n", "the member `expires` is missing"),
        (entry("alpha#x", link="somewhere"), "`somewhere` has the wrong form"),
        (entry("alpha#x", expires="2027-02-30"), "there is no day 2027-02-30"),
        (entry("alpha#x", expires="never"), "The last day on which the entry holds"),
        (entry("alpha#x", result="error"), "`error` isn't known here"),
        (entry("alpha#x", result="pass"), "`pass` isn't known here"),
        (entry("alpha"), "The identifier of a check"),
        (entry("alpha#x", cel="{stream: plain}"), "did you mean `cell`?"),
        (entry("alpha#x") + entry("alpha#x", reason="again"), "speaks of alpha#x in these cells twice"),
    ],
)
def test_a_mistake_in_the_file_is_told_by_its_place(text: str, told: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        parsed(f"version: 1\nfailures:\n{text}")
    assert told in str(caught.value)
    assert "known.yaml, line " in str(caught.value)


def test_two_entries_may_speak_of_different_cells_of_a_check() -> None:
    cells = [entry("alpha#x", cell=f"{{stream: {stream}}}") for stream in ("plain", "streamed")]
    assert len(baseline(*cells).entries) == 2


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="can't be read"):
        load_baseline(tmp_path / "none.yaml")
