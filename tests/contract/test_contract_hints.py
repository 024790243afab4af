import pytest

from cctest.contract.hints import accepted_reuse_within, report_hints
from cctest.contract.source import JsonValue


@pytest.mark.parametrize(
    ("value", "report", "seconds"),
    [
        (0, "accepted", 0),
        (299, "accepted", 299),
        (300, "accepted", 300),
        (300.0, "accepted", 300),
        (301, "clipped", 300),
        (2**53 + 1, "clipped", 300),
        (-1, "ignored", None),
        (1.5, "ignored", None),
        ("300", "ignored", None),
        (True, "ignored", None),
        (None, "ignored", None),
        ([], "ignored", None),
    ],
)
def test_a_hint_is_accepted_clipped_or_ignored(value: JsonValue, report: str, seconds: int | None) -> None:
    hints = {"reuse_within": value}
    assert report_hints(hints, 300) == {"reuse_within": report}
    assert accepted_reuse_within(hints, 300) == seconds


def test_a_hint_that_is_not_advertised_is_neither_used_nor_reported() -> None:
    assert report_hints({"reuse_within": 5}, None) == {}
    assert accepted_reuse_within({"reuse_within": 5}, None) is None


def test_hints_that_are_absent_or_unknown_are_not_reported() -> None:
    assert report_hints({"future_hint": 17}, 300) == {}
    assert accepted_reuse_within({}, 300) is None
