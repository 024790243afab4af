"""JSON texts changed member by member: everything else stays as it was spelt."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_gateway import jsontext

SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
STYLES = st.fixed_dictionaries(
    {"indent": st.sampled_from([None, 2, "\t"]), "ensure_ascii": st.booleans()},
    optional={"separators": st.just((" ,\r\n", " : "))},
)


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=6), STYLES)
def test_an_object_comes_apart_and_together(value: dict[str, Any], style: dict[str, Any]) -> None:
    spelt = jsontext.members(json.dumps(value, **style))
    assert {name: json.loads(text) for name, text in spelt.items()} == value
    assert list(spelt) == list(value)
    assert json.loads(jsontext.spell_object(spelt)) == value


@given(st.lists(VALUES, max_size=5), STYLES)
def test_an_array_comes_apart(value: list[Any], style: dict[str, Any]) -> None:
    text = json.dumps(value, **style)
    assert [json.loads(one) for one in jsontext.elements(text)] == value
    assert json.loads(jsontext.each(text, str)) == value


@given(st.dictionaries(st.sampled_from("abcd_é"), VALUES), st.sets(st.sampled_from("abcd_é")), STYLES)
def test_members_are_left_out_by_name_and_no_others(
    value: dict[str, Any], names: set[str], style: dict[str, Any]
) -> None:
    kept = {name: one for name, one in value.items() if name not in names}
    assert json.loads(jsontext.without(json.dumps(value, **style), names)) == kept


@pytest.mark.parametrize("number", ["1e2", "1.10", "0.1000000000000000055511151231257827", "-0", "9" * 400])
def test_a_number_keeps_its_spelling(number: str) -> None:
    text = f'{{"x": {{"deep": [{number}]}}, "gone": {number}}}'
    assert jsontext.without(text, ["gone"]) == f'{{"x":{{"deep": [{number}]}}}}'


def test_a_name_spelt_with_escapes_is_left_out_too() -> None:
    assert jsontext.without(r'{"cache_s\u0061lt": 1, "b": 2}', ["cache_salt"]) == '{"b":2}'


@pytest.mark.parametrize("text", ["null", "[1]", '"x"', "3"])
def test_what_is_no_object_has_no_members(text: str) -> None:
    assert jsontext.without(text, ["x"]) == text
    with pytest.raises(ValueError, match="expected"):
        jsontext.members(text)
