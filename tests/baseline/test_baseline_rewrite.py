from datetime import date
from pathlib import Path

import pytest
from baseline_samples import CELLS, ended, entry, parsed
from hypothesis import given
from hypothesis import strategies as st

from cctest.baseline.entry import Entry
from cctest.baseline.file import read_baseline
from cctest.baseline.rewrite import EMPTY, entries_for, rewritten
from cctest.contract import strict_json, strict_yaml
from cctest.datafile import DataFile
from cctest.problem import UsageProblem
from cctest.verdict import Check, Result

TEXT = """\
# Ours.
version: 1
failures:
  # about the first
  - check: alpha#x   # beside it
    reason: >-
      A reason
      of two lines.
    link: https://example.org/1
    expires: 2027-01-31

  # about the second
  - {check: alpha#y, reason: short, link: "https://example.org/2", expires: 2027-01-31}
  - check: beta#x
    cell: {stream: streamed}
    reason: last
    link: https://example.org/3
    expires: 2027-03-31
# the end
"""
NEW = Entry(
    "delta#x", Result.FAIL, 'says "no": #1', "https://example.org/9", date(2027, 2, 28), {"place": "tools"}
)


def rewrite(text: str, dropped: list[str], *added: Entry) -> str:
    baseline = parsed(text)
    return rewritten(baseline, text, [each for each in baseline.entries if each.check in dropped], added)


def checks_in(text: str) -> list[str]:
    return [each.check for each in parsed(text).entries]


def comments(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.lstrip().startswith("#")]


@pytest.mark.parametrize("dropped", [["alpha#x"], ["alpha#y"], ["beta#x"], ["alpha#x", "beta#x"], []])
def test_dropping_an_entry_touches_no_other_line(dropped: list[str]) -> None:
    after = rewrite(TEXT, dropped)
    assert checks_in(after) == [name for name in ("alpha#x", "alpha#y", "beta#x") if name not in dropped]
    assert comments(after) == comments(TEXT)
    kept = after.splitlines()
    assert [line for line in TEXT.splitlines() if line in kept] == kept


def test_an_entry_is_added_behind_the_last() -> None:
    after = rewrite(TEXT, ["alpha#y"], NEW)
    last = parsed(after).entries[-1]
    assert (last.check, last.reason, last.link, last.cell) == (NEW.check, NEW.reason, NEW.link, NEW.cell)
    assert comments(after) == comments(TEXT)


def test_the_last_entry_can_go_and_come_back() -> None:
    none = rewrite(TEXT, ["alpha#x", "alpha#y", "beta#x"])
    assert checks_in(none) == []
    assert checks_in(rewrite(none, [], NEW)) == ["delta#x"]
    assert checks_in(rewrite(EMPTY, [], NEW)) == ["delta#x"]


def test_everything_can_be_replaced_at_once() -> None:
    assert checks_in(rewrite(TEXT, ["alpha#x", "alpha#y", "beta#x"], NEW)) == ["delta#x"]


def test_a_list_without_indentation_is_kept_so() -> None:
    text = "version: 1\nfailures:\n" + entry("alpha#x").replace("\n    ", "\n  ")[2:]
    after = rewrite(text, [], NEW)
    assert checks_in(after) == ["alpha#x", "delta#x"]
    assert "\n- check: delta#x\n" in after


def test_a_layout_that_cannot_be_kept_is_refused_and_the_change_told() -> None:
    text = 'version: 1\nfailures: [{check: alpha#x, reason: r, link: "https://h", expires: 2027-01-31}, ]\n'
    with pytest.raises(UsageProblem, match="can't be rewritten") as caught:
        rewrite(text, ["alpha#x"], NEW)
    assert "drop alpha#x; add delta#x" in str(caught.value)


def test_json_is_rewritten_whole() -> None:
    text = '{"version": 1, "failures": []}'
    path = Path("known.json")
    baseline = read_baseline(DataFile(path, strict_json.parse(text)))
    after = rewritten(baseline, text, (), [NEW])
    (only,) = read_baseline(DataFile(path, strict_json.parse(after))).entries
    assert only.check == NEW.check


@given(
    st.text(
        st.characters(
            codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufeff\uffff"
        ),
        min_size=1,
    ).filter(str.strip)
)
def test_any_reason_comes_back_as_it_was(reason: str) -> None:
    new = Entry("delta#x", Result.FAIL, reason, "https://example.org/9", date(2027, 2, 28))
    after = rewrite(EMPTY, [], new)
    assert strict_yaml.loads(after)["failures"][0]["reason"] == reason  # type: ignore[index, call-overload]


def test_new_failures_are_told_as_simply_as_their_cells_permit() -> None:
    like = Entry("", Result.FAIL, "why", "https://h", date(2027, 1, 31))
    fail, ok = Result.FAIL, Result.PASS

    def cells_of(*results: Result) -> list[object]:
        ran = ended("alpha#x", *results)
        failed = [check for check in ran if check.result is fail]
        return [dict(each.cell) for each in entries_for(failed, ran, like)]

    assert cells_of(fail) == [{}]
    assert cells_of(ok, ok, fail, fail) == [{"stream": "streamed"}]
    assert cells_of(fail, ok, fail, ok) == [{"place": "tools"}]
    assert cells_of(fail, ok, ok, ok) == [CELLS[0]]
    assert cells_of(fail, ok, ok, fail) == [CELLS[0], CELLS[3]]


def test_the_result_that_was_seen_is_the_one_expected() -> None:
    check = Check("alpha#x", (), Result.INCONCLUSIVE, "")
    like = Entry("", Result.FAIL, "why", "https://h", date(2027, 1, 31))
    (new,) = entries_for([check], [check], like)
    assert new.result is Result.INCONCLUSIVE
