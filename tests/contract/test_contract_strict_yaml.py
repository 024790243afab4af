import json
from typing import Any

import pytest
import yaml
from contract_strategies import JSON
from hypothesis import given

from cctest.contract import strict_json, strict_yaml
from cctest.contract.source import Fault, JsonValue, Position, SourceError


def refusal(data: bytes | str, max_depth: int = 64) -> Fault:
    with pytest.raises(SourceError) as caught:
        strict_yaml.parse(data, max_depth=max_depth)
    with pytest.raises(SourceError):
        strict_yaml.loads(data, max_depth=max_depth)
    return caught.value.fault


SURPRISES = [
    "no",
    "No",
    "off",
    "on",
    "yes",
    "y",
    "~",
    "Null",
    "NULL",
    "True",
    "TRUE",
    "1:30",
    "190:20:30",
    "010",
    "0o7",
    "0x1F",
    "0b1",
    "1_000",
    "+1",
    "1.",
    ".5",
    "1e",
    ".inf",
    "-.inf",
    ".nan",
    ".NaN",
    "NaN",
    "Infinity",
    "<<",
    "=",
    "2026-01-01",
    "2001-12-14t21:59:43.10-05:00",
    "é",
    "tools:v7",
]


@pytest.mark.parametrize("plain", SURPRISES)
def test_what_json_does_not_spell_is_a_string(plain: str) -> None:
    assert strict_yaml.loads(f"namespace: {plain}\n") == {"namespace": plain}
    assert strict_yaml.loads(f"[{plain}, '{plain}']") == [plain, plain]


@pytest.mark.parametrize(
    ("plain", "value"),
    [
        ("null", None),
        ("", None),
        ("true", True),
        ("false", False),
        ("0", 0),
        ("-0", 0),
        ("60", 60),
        ("60.0", 60.0),
        ("6e1", 60.0),
        ("-1.5E+2", -150.0),
        ("9007199254740993", 2**53 + 1),
    ],
)
def test_what_json_spells_is_read_as_json_reads_it(plain: str, value: JsonValue) -> None:
    read = strict_yaml.loads(f"x: {plain}\n")
    assert repr(read) == repr({"x": value})


@pytest.mark.parametrize("quoted", ['"60"', "'60'", "'true'", '"null"', "''", "|-\n  60", ">-\n  60"])
def test_a_quoted_scalar_is_always_a_string(quoted: str) -> None:
    value = strict_yaml.loads(f"x: {quoted}\n")
    assert isinstance(value, dict)
    assert isinstance(value["x"], str)


def test_a_merge_key_is_a_plain_string_key() -> None:
    assert strict_yaml.loads("<<: {a: 1}\nb: 2\n") == {"<<": {"a": 1}, "b": 2}


def test_words_of_yaml_1_1_are_good_keys() -> None:
    assert strict_yaml.loads("no: 1\non: 2\n'null': 3\n") == {"no": 1, "on": 2, "null": 3}


@pytest.mark.parametrize(
    ("text", "line", "column", "pointer"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, 1, "/a"),
        ("x:\n  - é: 1\n    'é': 2\n", 3, 5, "/x/0/é"),
        ('{"a": 1, "\\x61": 2}', 1, 10, "/a"),
    ],
)
def test_a_duplicate_key_is_refused(text: str, line: int, column: int, pointer: str) -> None:
    fault = refusal(text)
    assert (fault.position, fault.pointer, fault.rules) == (Position(line, column), pointer, ("INT-10",))


@pytest.mark.parametrize(
    ("data", "line", "column", "pointer", "word"),
    [
        ("", 1, 1, "", "no document"),
        ("# only a comment\n", 2, 1, "", "no document"),
        ("\ufeffa: 1", 1, 1, "", "byte order mark"),
        (b"a: 1\nb: \xff\n", 2, 4, "", "0xFF is not UTF-8"),
        ("a: '\ud800'", 1, 5, "", "U+D800"),
        ("é: \x07", 1, 4, "", "U+0007"),
        ("1: x", 1, 1, "", "put 1 in quotes"),
        ("a:\n  null: x", 2, 3, "/a", "put null in quotes"),
        ("true: x", 1, 1, "", "put true in quotes"),
        ("? \n: x", 1, 2, "", "key must be a string"),
        ("? [a]\n: b", 1, 3, "", "not a collection"),
        ("{{a: 1}: 2}", 1, 2, "", "not a collection"),
        ("a: &x 1", 1, 4, "/a", "anchors"),
        ("a: &x [1]", 1, 4, "/a", "anchors"),
        ("a: *x", 1, 4, "/a", "aliases"),
        ("*x : 1", 1, 1, "", "aliases"),
        ("a: !!str 1", 1, 4, "/a", "tags"),
        ("a: ! 1", 1, 4, "/a", "tags"),
        ("a: !!python/object/apply:os.system ['true']", 1, 4, "/a", "tags"),
        ("!!map {}", 1, 1, "", "tags"),
        ("a: 1\n---\nb: 2", 2, 1, "", "second document"),
        ("a: 1\n...\n---\nb: 2", 3, 1, "", "second document"),
        ("x: [1e999]", 1, 5, "/x/0", "overflow to infinity"),
        ("a: b: c", 1, 5, "", "mapping values"),
        ("- a\n- [b", 2, 5, "/1/1", "flow sequence"),
    ],
)
def test_what_is_not_strict_yaml_is_refused_with_its_place(
    data: bytes | str, line: int, column: int, pointer: str, word: str
) -> None:
    fault = refusal(data)
    assert word in fault.message
    assert (fault.position, fault.pointer) == (Position(line, column), pointer)


@pytest.mark.parametrize("loader", [strict_yaml.LOADER, yaml.SafeLoader])
def test_both_parsers_refuse_an_escaped_lone_surrogate(monkeypatch: pytest.MonkeyPatch, loader: Any) -> None:
    monkeypatch.setattr(strict_yaml, "LOADER", loader)
    fault = refusal('b: 1\na: "\\ud800"\n')
    assert fault.pointer == "/a"
    assert fault.position is not None
    assert fault.position.line == 2


def test_nesting_is_bounded_in_both_styles() -> None:
    assert strict_yaml.loads("[" * 64 + "]" * 64)
    assert refusal("[" * 500).position == Position(1, 65)
    assert refusal("[" * 100_000).position is not None
    assert refusal("- " * 70 + "x").position == Position(1, 129)
    assert refusal("a: {b: []}", max_depth=2).pointer == "/a/b"


def test_integers_are_bounded_at_4000_digits() -> None:
    assert strict_yaml.loads(f"x: {'9' * 4000}")
    assert "4000 digits" in refusal(f"x: {'9' * 4001}").message


def test_positions_are_those_of_the_values() -> None:
    positions = strict_yaml.parse("é:\n  - 1\n  - b: |\n      text\nlast:\n").positions
    assert dict(positions) == {
        "": Position(1, 1),
        "/é": Position(2, 3),
        "/é/0": Position(2, 5),
        "/é/1": Position(3, 5),
        "/é/1/b": Position(3, 8),
        "/last": Position(5, 6),
    }


@given(JSON)
def test_ascii_json_is_read_as_json(value: JsonValue) -> None:
    # YAML writes characters beyond the basic plane as \U, so escaped surrogate pairs are no YAML.
    text = json.dumps(value)
    if "\\ud" not in text and "\x7f" not in text:
        assert repr(strict_yaml.loads(text)) == repr(strict_json.loads(text))
