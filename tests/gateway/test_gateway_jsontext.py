"""JSON texts changed member by member: everything else stays as it was, and two ways of doing it agree."""

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_gateway.request import jsontext
from reference_gateway.request.jsontext import Edit
from reference_gateway.request.respelling import respelt

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
NAMES = st.sampled_from(["a", "b", "ab", "é", "", 'q"', "put", "in"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=6)
STYLES = st.fixed_dictionaries(
    {"indent": st.sampled_from([None, 2, "\t"]), "ensure_ascii": st.booleans()},
    optional={"separators": st.just((" ,\r\n", " : "))},
)
DROPPED = st.frozensets(st.sampled_from(["a", "b", "é"]))
EDITS = st.recursive(
    st.builds(Edit, drop=DROPPED),
    lambda edits: st.builds(
        Edit,
        drop=DROPPED,
        put=st.just({}) | st.just({"put": lambda old: "[1.0]" if old is None else f"[{old},1e2]"}),
        inner=st.dictionaries(st.just("in"), edits),
        each=st.none() | edits,
    ),
    max_leaves=4,
)


def expected(value: Any, edit: Edit) -> Any:
    """What an edit makes of a value, in the plainest way."""
    if isinstance(value, list):
        return value if edit.each is None else [expected(one, edit.each) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {name: one for name, one in value.items() if name not in edit.drop}
    kept = {
        name: expected(one, edit.inner[name]) if name in edit.inner else one for name, one in kept.items()
    }
    for name in edit.put:
        kept[name] = [kept[name], 100.0] if name in kept else [1.0]
    return kept


def told(text: str | bytes) -> str:
    """The values of a text, their types and the order of members."""
    return repr(json.loads(text))


@given(VALUES, EDITS, STYLES)
def test_an_edit_changes_what_it_says_and_nothing_else(value: Any, edit: Edit, style: dict[str, Any]) -> None:
    text = json.dumps(value, **style)
    assert told(jsontext.edited(text, edit)) == repr(expected(value, edit))
    assert told(respelt(text, edit)) == repr(expected(value, edit))


@given(OBJECTS, DROPPED, STYLES)
def test_members_are_left_out_by_name_and_no_others(
    value: dict[str, Any], names: frozenset[str], style: dict[str, Any]
) -> None:
    kept = {name: one for name, one in value.items() if name not in names}
    assert told(jsontext.without(json.dumps(value, **style), names)) == repr(kept)


@given(OBJECTS, VALUES, STYLES)
def test_a_member_is_put_at_the_end(value: dict[str, Any], new: Any, style: dict[str, Any]) -> None:
    kept = {name: one for name, one in value.items() if name != "ab"}
    text = jsontext.with_member(json.dumps(value, **style), "ab", json.dumps(new))
    assert told(text) == repr({**kept, "ab": new})


@pytest.mark.parametrize(
    "number",
    ["1e2", "1.10", "0.1000000000000000055511151231257827", "-0", "-0.0", "1e400", "9" * 30, "9" * 400],
)
def test_a_number_keeps_its_digits(number: str) -> None:
    text = f'{{"x": {{"deep": [{number}]}}, "gone": {number}}}'
    assert jsontext.without(text, ["gone"]) == f'{{"x": {{"deep": [{number}]}}}}'
    assert respelt(text, Edit(drop=["gone"])).replace(b" ", b"") == f'{{"x":{{"deep":[{number}]}}}}'.encode()
    assert Decimal(json.loads(respelt(text, Edit()), parse_float=str, parse_int=str)["gone"]) == Decimal(
        number
    )


def test_what_stays_is_kept_as_it_was_spelt() -> None:
    text = '{ "a" : [1.50, "\\u0041"] ,"b":{ } , "c":"\\/"\n}'
    assert jsontext.without(text, ["b"]) == '{ "a" : [1.50, "\\u0041"] , "c":"\\/"\n}'
    assert jsontext.without(text, ["a", "c"]) == '{ "b":{ }\n}'


def test_a_name_spelt_with_escapes_is_left_out_too() -> None:
    text = r'{"cache_s\u0061lt": 1, "b": 2}'
    assert jsontext.without(text, ["cache_salt"]) == '{"b": 2}'
    assert respelt(text, Edit(drop=["cache_salt"])) == b'{"b":2}'


@pytest.mark.parametrize("text", ["null", "[1]", '"x"', "3"])
def test_what_is_no_object_has_no_members(text: str) -> None:
    edit = Edit(drop=["x"], put={"x": lambda _: "1"}, inner={"x": Edit()})
    assert jsontext.edited(text, edit) == text
    assert respelt(text, edit) == text.encode()
