import json
import re
from fractions import Fraction
from typing import Any

import pytest
from contract_strategies import JSON
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract import strict_json, strict_yaml
from cctest.contract.scalars import NearInteger
from cctest.contract.shape import as_integer
from cctest.contract.source import Fault, JsonValue, Position, SourceError


def refusal(data: bytes | str, max_depth: int = 64) -> Fault:
    """The fault that both entry points give, which must be one and the same."""
    faults = []
    for read in (strict_json.parse, strict_json.loads):
        with pytest.raises(SourceError) as caught:
            read(data, max_depth=max_depth)
        faults.append(caught.value.fault)
    assert faults[0] == faults[1]
    return faults[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        (" \t\r\n[ true , false ] ", [True, False]),
        ("60", 60),
        ("-0", 0),
        ("9007199254740993", 2**53 + 1),
        ('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041"', '"\\/\b\f\n\r\tA'),
        ('"\\ud83d\\udd12"', "\U0001f512"),
        ('"\\\\ud800"', "\\ud800"),
        ('"\\u0000\x7f\u2028"', "\0\x7f\u2028"),
        ('{"":{},"a b":[]}', {"": {}, "a b": []}),
        ('{"e\u0301":1,"é":2}', {"e\u0301": 1, "é": 2}),
        ("[1e2,1E+2,1e-1]", [100.0, 100.0, 0.1]),
    ],
)
def test_json_is_read_as_it_stands(text: str, value: JsonValue) -> None:
    for data in (text, text.encode()):
        assert strict_json.loads(data) == value
        assert strict_json.parse(data).value == value


def test_integers_and_integral_floats_stay_apart() -> None:
    assert repr(strict_json.loads("[60, 60.0, 6e1, -0, -0.0]")) == "[60, 60.0, 60.0, 0, -0.0]"
    assert repr(strict_json.parse("[60, 60.0, 6e1, -0, -0.0]").value) == "[60, 60.0, 60.0, 0, -0.0]"


WHOLE = [
    ("9007199254740995.0", 9007199254740995),
    ("-9007199254740995.0", -9007199254740995),
    ("1e23", 10**23),
    ("-12.5E+22", -125 * 10**21),
    ("10000000000000000000000000.0e-3", 10**22),
    ("0.9007199254740993e16", 9007199254740993),
    ("0." + "0" * 5000 + "1e5001", 1),
    ("1" + "0" * 5000 + "e-4999", 10),
    ("90071992547409930.0e-1", 9007199254740993),
    ("0e-99999999999999999999", 0),
    ("0.0e99999999999999999999", 0),
    ("-0.0", 0),
]
BROKEN = [
    "1e-400",
    "-1e-400",
    "1e-99999999999999999999",
    "1e-" + "9" * 5000,
    "1.0000000000000000000001",
    "0.99999999999999999999",
    "-0." + "0" * 400 + "1",
    "9007199254740993.5",
    "100000000.00000001e-8",
    "1" + "0" * 300 + ".5",
    "5.0000000000000000001e1",
]


@pytest.mark.parametrize("before", ["", "[" * 64])
@pytest.mark.parametrize(("spelling", "value"), WHOLE)
def test_a_whole_number_is_read_exactly_however_it_is_spelt(spelling: str, value: int, before: str) -> None:
    text = before + spelling + "]" * len(before)
    for read in (strict_json.loads(text), strict_json.parse(text).value, strict_yaml.loads(text)):
        inner = innermost(read)
        assert as_integer(inner) == value
        assert inner == value


@pytest.mark.parametrize("before", ["", "[" * 64])
@pytest.mark.parametrize("spelling", BROKEN)
def test_a_number_with_a_fraction_is_no_integer_however_small_that_is(spelling: str, before: str) -> None:
    text = before + spelling + "]" * len(before)
    for read in (strict_json.loads(text), strict_json.parse(text).value, strict_yaml.loads(text)):
        number = innermost(read)
        assert isinstance(number, float)
        assert as_integer(number) is None
        assert number not in {0, 1, 50, 2**53, float(spelling) if float(spelling).is_integer() else None}


def innermost(value: JsonValue) -> JsonValue:
    while isinstance(value, list):
        value = value[0]
    return value


def test_no_exponent_takes_memory() -> None:
    assert "overflow to infinity" in refusal("1e999999999").message
    assert "overflow to infinity" in refusal("0.1e" + "9" * 5000).message


@given(st.from_regex(r"-?[1-9][0-9]{0,20}\.(0{0,12}[0-9]{1,12}|0{1,24})", fullmatch=True), st.integers(0, 30))
def test_the_quick_reader_misses_no_long_number(number: str, before: int) -> None:
    text = " " * before + f"[{number}]"
    assert spelt(strict_json.loads(text)) == spelt([as_written(number)])


@pytest.mark.parametrize(
    ("text", "line", "column", "pointer"),
    [
        ('{"a":1,"a":2}', 1, 8, "/a"),
        ('{"a":1,\n "\\u0061":2}', 2, 2, "/a"),
        ('{"x":[{},{"é":1,"b":2,"é":3}]}', 1, 23, "/x/1/é"),
        ('{"a/b~c":{"":1,"":2}}', 1, 16, "/a~1b~0c/"),
        ('{"cache_intent":{},"cache\\u005fintent":{}}', 1, 20, "/cache_intent"),
    ],
)
def test_a_duplicate_name_is_refused_at_any_depth(text: str, line: int, column: int, pointer: str) -> None:
    fault = refusal(text)
    assert (fault.position, fault.pointer) == (Position(line, column), pointer)
    assert fault.rules == ("INT-10",)
    assert "duplicate" in fault.message


@pytest.mark.parametrize(
    ("data", "line", "column", "pointer", "word"),
    [
        ("", 1, 1, "", "empty"),
        (" \n ", 2, 2, "", "empty"),
        ("\ufeff{}", 1, 1, "", "byte order mark"),
        (b"\xef\xbb\xbf{}", 1, 1, "", "byte order mark"),
        (b'["\xc3\xa9\n', 1, 4, "/0", "control character U+000A"),
        (b'{"\xc3\xa9":\r\n"\xff"}', 2, 2, "", "0xFF is not UTF-8"),
        (b'"\xed\xa0\x80"', 1, 2, "", "0xED is not UTF-8"),
        (b'"\xc0\xaf"', 1, 2, "", "0xC0 is not UTF-8"),
        (b'\xff\xfe{\x00}\x00"', 1, 1, "", "0xFF is not UTF-8"),
        ('["\ud800"]', 1, 3, "/0", "lone surrogate U+D800"),
        ('{"a":"\\ud800"}', 1, 7, "/a", "lone surrogate U+D800"),
        ('{"\\udc00":1}', 1, 3, "", "lone surrogate U+DC00"),
        ('"\\ud83d\\ud83d\\udd12"', 1, 2, "", "lone surrogate U+D83D"),
        ('"\\ud83d\\udd12\\udd12"', 1, 14, "", "lone surrogate U+DD12"),
        ('"\\\\ud83d\\udd12"', 1, 9, "", "lone surrogate U+DD12"),
        ('["\U0001f512\x01"]', 1, 4, "/0", "control character U+0001"),
        ('["\\x41"]', 1, 3, "/0", "unknown escape"),
        ('["\\u12g4"]', 1, 3, "/0", "unknown escape"),
        ('["\\u１234"]', 1, 3, "/0", "unknown escape"),
        ('{"a":\n  "b', 2, 3, "/a", "never closed"),
        ("[NaN]", 1, 2, "/0", "NaN is not a JSON number"),
        ("[Infinity]", 1, 2, "/0", "Infinity is not a JSON number"),
        ("-Infinity", 1, 1, "", "-Infinity is not a JSON number"),
        ('{"max_age":1e999}', 1, 12, "/max_age", "overflow to infinity"),
        ("[-1e999]", 1, 2, "/0", "overflow to infinity"),
        (f"[{'9' * 310}.5]", 1, 2, "/0", "overflow to infinity"),
        (f"[0, {'9' * 310}e0]", 1, 5, "/1", "overflow to infinity"),
        ("[01]", 1, 2, "/0", "not a JSON number"),
        ("[+1]", 1, 2, "/0", "not a JSON number"),
        ("[1.]", 1, 2, "/0", "not a JSON number"),
        ("[.5]", 1, 2, "/0", "not a JSON number"),
        ("[1_000]", 1, 2, "/0", "not a JSON number"),
        ("[0x1F]", 1, 2, "/0", "not a JSON number"),
        ("[１]", 1, 2, "/0", "JSON value was expected"),
        ("True", 1, 1, "", "JSON value was expected, not True"),
        ("['a']", 1, 2, "/0", "JSON value was expected"),
        ("[1,]", 1, 4, "/1", "JSON value was expected"),
        ('{"a":1,}', 1, 8, "", "member name in double quotes"),
        ("{a:1}", 1, 2, "", "member name in double quotes"),
        ('{"a" 1}', 1, 6, "/a", "colon was expected"),
        ('{"a":}', 1, 6, "/a", "JSON value was expected"),
        ("[1 2]", 1, 4, "", "comma or ]"),
        ('{"a":[1}', 1, 8, "/a", "comma or ]"),
        ('{"a":{"b":1]', 1, 12, "/a", "comma or }"),
        ("[1", 1, 3, "", "comma or ]"),
        ("[1]\n[2]", 2, 1, "", "after the end"),
        ("[1]\u00a0", 1, 4, "", "after the end"),
        ("// x\n1", 1, 1, "", "JSON value was expected"),
    ],
)
def test_what_is_not_strict_json_is_refused_with_its_place(
    data: bytes | str, line: int, column: int, pointer: str, word: str
) -> None:
    fault = refusal(data)
    assert (fault.position, fault.pointer) == (Position(line, column), pointer)
    assert word in fault.message
    assert fault.rules == ()


def test_nesting_is_bounded_at_the_given_depth() -> None:
    assert strict_json.loads("[" * 64 + "]" * 64) == strict_json.parse("[" * 64 + "]" * 64).value
    assert refusal("[" * 65 + "]" * 65).position == Position(1, 65)
    assert refusal('{"a":{"a":[]}}', max_depth=2).pointer == "/a/a"
    assert refusal("[" * 500_000).position == Position(1, 65)
    assert refusal('{"a":' * 500_000).position == Position(1, 321)


def test_brackets_in_strings_and_side_by_side_are_no_nesting() -> None:
    flat = json.dumps([["[{" * 50, '\\"[', {}] for _ in range(200)])
    assert strict_json.loads(flat, max_depth=3) == json.loads(flat)


def test_integers_are_bounded_at_4000_digits() -> None:
    longest = "9" * 4000
    assert strict_json.loads(f"[-{longest}]") == [-int(longest)]
    fault = refusal(f'{{"a":{longest}9}}')
    assert (fault.position, fault.pointer) == (Position(1, 6), "/a")
    assert "4000 digits" in fault.message


@pytest.mark.parametrize("before", range(0, 200, 7))
@pytest.mark.parametrize("number", ["9" * 210 + "e99", "-" + "9" * 250 + "E+99", "9" * 309, "1e309"])
def test_a_number_that_overflows_is_found_wherever_it_stands(number: str, before: int) -> None:
    if "e" not in number.lower():
        number += ".0"
    assert "overflow to infinity" in refusal(" " * before + number).message


def test_positions_are_those_of_the_values() -> None:
    text = '{"a": [1,\n\t"é", {"b/c": null}],\r\n "": 2}'
    positions = strict_json.parse(text).positions
    assert dict(positions) == {
        "": Position(1, 1),
        "/a": Position(1, 7),
        "/a/0": Position(1, 8),
        "/a/1": Position(2, 2),
        "/a/2": Position(2, 7),
        "/a/2/b~1c": Position(2, 15),
        "/": Position(3, 6),
    }
    assert len(positions) == 7
    assert positions.get("/a/3") is None
    assert positions.get("/a/00") is None
    assert positions.get("a") is None


def spelt(value: Any) -> str:
    """Tell 1 from 1.0 and from true, and keep member order."""
    return repr(value)


def as_written(spelling: str) -> int | float:
    """What a number with a fraction or an exponent is to be read as, worked out in fractions."""
    nearest = float(spelling)
    if nearest == 0:
        return NearInteger(spelling) if re.search("[1-9]", spelling.lower().split("e")[0]) else nearest
    exact = Fraction(spelling)
    if exact.denominator == 1:
        return nearest if exact == nearest else int(exact)
    return NearInteger(spelling) if nearest.is_integer() else nearest


def read_by_the_standard(text: str) -> Any:
    return json.loads(text, parse_float=as_written)


@given(JSON, st.booleans(), st.sampled_from([None, 1]))
def test_whatever_json_can_spell_is_read_back(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    expected = spelt(read_by_the_standard(text))
    assert spelt(strict_json.loads(text)) == expected
    assert spelt(strict_json.parse(text.encode()).value) == expected


_STRUCTURE = ["[", "]", "{", "}", ":", ",", '"a":1', '{"a":1,"a":2}', '{"a":1,"\\u0061":2}']
_STRINGS = ['"', '"a"', "\\", "\\\\", "\\u", "\\n", "ud83d", "\\ud83d", "\\udd12", "dd12", "é"]
_PLAIN = [
    "0",
    "1",
    "-",
    ".5",
    "e9",
    "e999",
    "e+0400",
    "e-3",
    "e-999999999999999",
    "00000000000",
    "1.0000000000000000",
    "9" * 310,
    "9" * 4001,
    "NaN",
    "-Infinity",
    "null",
    "tru",
]
_PIECES = st.sampled_from([*_STRUCTURE, *_STRINGS, *_PLAIN])
_ODD_CHARACTERS = st.sampled_from([" ", "\n", "\x00", "\ud800", "\udc00", "\ufeff", "\u00a0"])


@st.composite
def broken_texts(draw: st.DrawFn) -> str:
    """A JSON text with pieces put in, or pieces alone."""
    text = json.dumps(draw(JSON), ensure_ascii=draw(st.booleans())) if draw(st.booleans()) else ""
    for piece in draw(st.lists(_PIECES | _ODD_CHARACTERS, max_size=8)):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + piece + text[at:]
    return text


def answer(read: Any, text: str, max_depth: int) -> str:
    try:
        return spelt(read(text, max_depth=max_depth))
    except SourceError as error:
        return repr(error.fault)


@given(broken_texts(), st.sampled_from([2, 64]))
def test_the_quick_reader_and_the_scanner_give_one_answer(text: str, max_depth: int) -> None:
    quick = answer(strict_json.loads, text, max_depth)
    assert quick == answer(lambda *a, **k: strict_json.parse(*a, **k).value, text, max_depth)


@given(broken_texts())
def test_what_is_accepted_is_what_the_standard_parser_reads(text: str) -> None:
    try:
        value = strict_json.loads(text)
    except SourceError:
        return
    assert spelt(value) == spelt(read_by_the_standard(text))


def test_a_long_name_over_many_values_costs_no_square() -> None:
    inner = ",".join("1" * 20_000)
    parsed = strict_json.parse(f'{{"{"n" * 100_000}":[{inner}]}}')
    assert len(parsed.positions) == 20_002
