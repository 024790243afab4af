"""The questions that the contract leaves open stand in two files, which must not say different things."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from cctest.catalogue import ReadingRule, load_readings

DRAFT = Path(__file__).resolve().parents[2] / "spec" / "draft-cache-intent.md"
ROW = re.compile(r"^\| (?P<id>READ-\d+) \| (?P<question>[^|]+) \| (?P<answers>[^|]+) \|$", re.MULTILINE)
READINGS = load_readings()


def answers_in(text: str) -> dict[str, tuple[str, ...]]:
    """Give the answers of each question in the draft's table, without the marks of code."""
    return {
        row["id"]: tuple(answer.strip(' `"') for answer in row["answers"].split(";"))
        for row in ROW.finditer(text)
    }


def differences(answers: Mapping[str, tuple[str, ...]], readings: Mapping[str, ReadingRule]) -> list[str]:
    """Tell what differs. An answer that is the key of an option has to stand in that option's place."""
    told = [] if list(answers) == list(readings) else ["the questions differ, or stand in another order"]
    for name in answers.keys() & readings.keys():
        keys = [option.key for option in readings[name].options]
        if len(keys) != len(answers[name]):
            told.append(f"{name} has {len(answers[name])} answers in the draft, {len(keys)} in readings.yaml")
        elif any(answer in keys and answer != key for answer, key in zip(answers[name], keys, strict=True)):
            told.append(f"{name} has its answers in another order in the draft")
    return told


def test_the_draft_lists_the_questions_and_answers_of_readings_yaml() -> None:
    assert differences(answers_in(DRAFT.read_text("utf-8")), READINGS) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("| yes; no |", "| no; yes |", "READ-12 has its answers in another order in the draft"),
        ("; all |", " |", "READ-1 has 2 answers in the draft, 3 in readings.yaml"),
        ("| READ-2 |", "| READ-40 |", "the questions differ, or stand in another order"),
    ],
)
def test_a_difference_is_told(old: str, new: str, told: str) -> None:
    assert told in differences(answers_in(DRAFT.read_text("utf-8").replace(old, new)), READINGS)
