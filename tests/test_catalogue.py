"""The rule catalogue: complete, and strict about what it holds."""

from pathlib import Path

import pytest

from cctest.catalogue import Level, Observable, Party, load_catalogue, load_readings
from cctest.problem import UsageProblem

GROUPS = {
    "INT": 13,
    "RET": 7,
    "REU": 3,
    "SHR": 4,
    "NS": 3,
    "HNT": 3,
    "CMP": 11,
    "DIG": 3,
    "POL": 4,
    "APX": 4,
    "FBK": 1,
    "CAP": 7,
    "STA": 12,
    "SEC": 3,
    "BND": 10,
}
RULE = """\
version: 1
sections:
  - number: "3"
    name: Intake
    rules:
      - id: INT-1
        level: MUST
        text: Something.
        binds: [gateway]
        observable: [response]
"""
READING = """\
version: 1
readings:
  - id: READ-1
    question: Which?
    rules: [INT-1]
    options: [{key: one, text: This.}, {key: two, text: That.}]
    ours: one
"""


def _problem(path: Path, text: str) -> str:
    path.write_text(text)
    with pytest.raises(UsageProblem) as caught:
        (load_readings if "readings" in text else load_catalogue)(path)
    return str(caught.value)


def test_every_rule_of_the_contract_is_there() -> None:
    wanted = [f"{group}-{number}" for group, count in GROUPS.items() for number in range(1, count + 1)]
    assert list(load_catalogue()) == wanted


def test_every_reading_of_the_contract_is_there() -> None:
    assert list(load_readings()) == [f"READ-{number}" for number in range(1, 40)]


def test_a_rule_that_cannot_be_observed_says_why_and_no_other_does() -> None:
    for rule in load_catalogue().values():
        assert (rule.because is not None) == (rule.observable == (Observable.NONE,))


def test_readings_concern_known_rules() -> None:
    rules = load_catalogue()
    assert {rule for reading in load_readings().values() for rule in reading.rules} <= set(rules)


def test_a_rule_is_a_value(tmp_path: Path) -> None:
    path = tmp_path / "requirements.yaml"
    path.write_text(RULE)
    [rule] = load_catalogue(path).values()
    assert (rule.id, rule.level, rule.binds, rule.group) == ("INT-1", Level.MUST, (Party.GATEWAY,), "INT")
    assert str(rule.section) == "3 Intake"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("MUST", "OUGHT", 7, "`OUGHT` isn't known here"),
        ("[gateway]", "[gatway]", 9, "did you mean `gateway`?"),
        ("[response]", "[none]", 6, "`because` is missing"),
        ("id: INT-1", "id: int-1", 6, "wrong form"),
        ("        text: Something.\n", "", 6, "`text` is missing"),
        ("text:", "txet:", 8, "unknown member `txet`"),
        ("version: 1", "version: 3", 1, "belongs"),
    ],
)
def test_a_faulty_rule_is_told_by_place(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    path = tmp_path / "requirements.yaml"
    problem = _problem(path, RULE.replace(old, new))
    assert f"{path}, line {line}, column " in problem
    assert message in problem


def test_a_rule_listed_twice_is_a_problem(tmp_path: Path) -> None:
    rule = RULE[RULE.index("      - id") :]
    assert "`INT-1` is listed twice" in _problem(tmp_path / "requirements.yaml", RULE + rule)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ours: one", "ours: tow", "did you mean `two`?"),
        ("key: two", "key: one", "two options have the same key"),
        ("READ-1", "READ-0", "wrong form"),
    ],
)
def test_a_faulty_reading_is_a_problem(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "readings.yaml"
    problem = _problem(path, READING.replace(old, new))
    assert f"{path}, line " in problem
    assert message in problem
