import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cctest.instrument.bodytext import holds

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
letters = st.text('abnu0\\"/é\n', max_size=6)


@given(texts | letters, texts | letters, st.booleans())
def test_a_text_is_found_exactly_when_a_string_contains_it(
    content: str, wanted: str, ascii_only: bool
) -> None:
    body = json.dumps([content], ensure_ascii=ascii_only).encode()
    assume(b"\\" in body or not set(wanted) & set('"[]'))  # else the body's own punctuation would be found
    assert holds(body, wanted) == (wanted in content)


@given(st.text("ab12", min_size=1, max_size=3), texts)
def test_a_nonce_is_found_exactly_when_a_string_contains_it(wanted: str, content: str) -> None:
    assert holds(json.dumps({"k": [content]}).encode(), wanted) == (wanted in content)


def test_names_of_members_count() -> None:
    assert holds(b'{"a\\n":{"nonce":1}}', "nonce")


@pytest.mark.parametrize("body", [b'{"broken\\n": "nonce', b'\xff "nonce"', b"nonce"])
def test_what_is_no_json_is_searched_as_it_is(body: bytes) -> None:
    assert holds(body, "nonce")
    assert not holds(body, "other")
