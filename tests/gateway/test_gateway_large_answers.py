"""Large answers of an engine: what is taken from them is what is taken from small ones, without reading the rest."""

import json
from typing import Any

import pytest

from reference_gateway.engine.answer import LARGE, read_completion
from reference_gateway.refusal import RefusalError
from reference_gateway.request import jsontext

USAGE = {"prompt_tokens": 7, "prompt_tokens_details": {"cached_tokens": 0}}
CHOICE = {"index": 0, "message": {"content": 'a "quoted\\" {word}, ]\n'}, "logprobs": [{"bytes": []}]}
CHOICES = [CHOICE, {}, []]
PADDING = ["}]\"{'\\", {"usage": 1, "error": "x"}, "x" * LARGE]


def answers(members: dict[str, Any]) -> list[bytes]:
    """The same answer small and large, with the padding before and behind, in several spellings."""
    small = json.dumps(members).encode()
    large = ({"padding": PADDING, **members}, {**members, "padding": PADDING})
    spelt = [json.dumps(one, indent=indent).encode() for one in large for indent in (None, 1)]
    escaped = json.dumps(large[0]).replace('"usage":', '"us\\u0061ge":').encode()
    return [small, *spelt, escaped, b"\n " + spelt[0] + b"\r\n"]


@pytest.mark.parametrize(
    ("members", "usage"),
    [
        ({"choices": CHOICES, "usage": USAGE}, USAGE),
        ({"usage": USAGE, "choices": []}, USAGE),
        ({"choices": CHOICES}, {}),
        ({"choices": CHOICES, "usage": None}, {}),
        ({"choices": CHOICES, "usage": [1], "error": None}, {}),
    ],
)
def test_text_and_usage_are_found(members: dict[str, Any], usage: dict[str, Any]) -> None:
    for body in answers(members):
        text, told = read_completion(body)
        assert (text, told) == (body.decode().strip(), usage)


@pytest.mark.parametrize(
    ("members", "code"),
    [
        ({"usage": USAGE}, "engine_answer_unreadable"),
        ({"choices": None}, "engine_answer_unreadable"),
        ({"choices": {"a": []}}, "engine_answer_unreadable"),
        ({"choices": CHOICES, "error": {"message": "x"}}, "engine_failed"),
        ({"error": "x"}, "engine_failed"),
    ],
)
def test_what_is_no_answer_is_refused(members: dict[str, Any], code: str) -> None:
    for body in answers(members):
        with pytest.raises(RefusalError) as caught:
            read_completion(body)
        assert caught.value.code == code


def test_one_that_ends_too_soon_or_is_no_object_is_refused() -> None:
    whole = json.dumps({"choices": PADDING, "usage": USAGE}).encode()
    broken = [whole[:end] for end in range(len(whole) - 90, len(whole))]
    for body in (*broken, b"[" + whole + b"]", b"x" * LARGE, b"\xff" + whole):
        with pytest.raises(RefusalError, match="no chat completion"):
            read_completion(body)


def test_the_status_takes_the_place_of_whatever_had_its_name() -> None:
    members = {"cache_status": PADDING, "choices": CHOICES}
    for body in answers(members):
        text = body.decode().replace("cache_status", "cache\\u005fstatus")
        put = json.loads(jsontext.with_member(text, "cache_status", "[1]"))
        assert put == {**json.loads(body), "cache_status": [1]}
        assert "cache_status" not in json.loads(jsontext.without(text, ("cache_status",)))
