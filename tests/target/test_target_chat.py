import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.source import JsonValue
from cctest.target.chat import ABSENT, ChatResult, Place, read_chat
from cctest.target.exchange import Response
from cctest.target.sse import read_events

STATUS: list[JsonValue] = [{"outcome": "miss", "constraint_result": "satisfied"}]


def response(body: bytes, *, status: int = 200, stream: bool = False) -> Response:
    headers = {"content-type": "text/event-stream" if stream else "application/json"}
    events = tuple(read_events([body])) if stream else None
    return Response(status, headers, body, 0.0, 1.0, events)


def plain(document: Any, status: int = 200) -> ChatResult:
    return read_chat(response(json.dumps(document).encode(), status=status), streamed=False)


def stream(*chunks: Any, done: bool = True, prefix: str = "") -> ChatResult:
    body = "".join(f"{prefix}data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    return read_chat(
        response((body + ("data: [DONE]\n\n" if done else "")).encode(), stream=True), streamed=True
    )


def completion(**members: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}}], **members}


def delta(text: str | None, **members: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {} if text is None else {"content": text}}], **members}


def test_a_plain_completion_is_read() -> None:
    usage = {"prompt_tokens": 40, "prompt_tokens_details": {"cached_tokens": 32}}
    assert plain(completion(usage=usage, cache_status=STATUS)) == ChatResult(
        status=200,
        ok=True,
        content="hi",
        cache_status=STATUS,
        status_place=Place.TOP_LEVEL,
        prompt_tokens=40,
        cached_tokens=32,
        error_code=None,
        error_message=None,
        problems=(),
    )


def test_an_absent_status_differs_from_null() -> None:
    assert plain(completion()).cache_status is ABSENT
    assert plain(completion(cache_status=None)).cache_status is None


@pytest.mark.parametrize("cached", [-1, 41, 3.5, True, "32", [1]])
def test_a_count_that_cannot_be_is_no_observation(cached: Any) -> None:
    usage = {"prompt_tokens": 40, "prompt_tokens_details": {"cached_tokens": cached}}
    result = plain(completion(usage=usage))
    assert result.cached_tokens is None
    assert len(result.problems) == 1


@pytest.mark.parametrize("details", [None, {}, {"cached_tokens": None}])
def test_an_unknown_count_is_no_problem(details: Any) -> None:
    result = plain(completion(usage={"prompt_tokens": 40, "prompt_tokens_details": details}))
    assert (result.prompt_tokens, result.cached_tokens, result.problems) == (40, None, ())


def test_an_error_is_read() -> None:
    result = plain({"error": {"code": "cache_intent_invalid", "message": "no"}}, 400)
    assert (result.ok, result.status, result.error_code, result.error_message) == (
        False,
        400,
        "cache_intent_invalid",
        "no",
    )


@pytest.mark.parametrize("error", ["no", {"code": 400}, [1]])
def test_an_odd_error_is_a_problem(error: Any) -> None:
    assert plain({"error": error}, 400).problems


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"<html>", b"\xff", b'{"choices": 1}', b'{"choices": [{"message": null}]}']
)
def test_a_200_without_an_answer_is_not_ok(body: bytes) -> None:
    result = read_chat(response(body), streamed=False)
    assert not result.ok
    assert result.problems


def test_duplicate_names_are_a_problem_and_no_crash() -> None:
    body = b'{"choices": [{"message": {"content": "a"}}], "cache_status": [], "cache_status": []}'
    result = read_chat(response(body), streamed=False)
    assert not result.ok
    assert "cache_status" in result.problems[0]


def test_a_stream_is_joined() -> None:
    usage = {"prompt_tokens": 20, "prompt_tokens_details": {"cached_tokens": 16}}
    result = stream(delta("a"), delta("b"), delta(None, usage=usage, cache_status=STATUS))
    assert (result.ok, result.content, result.cached_tokens) == (True, "ab", 16)
    assert result.problems == ()


USAGE = {"choices": [], "usage": {"prompt_tokens": 1}}


@pytest.mark.parametrize(
    ("chunks", "place"),
    [
        ([delta("a", cache_status=STATUS), delta("b")], Place.FIRST_CHUNK),
        ([delta("a"), delta("b", cache_status=STATUS), delta("c")], Place.MIDDLE_CHUNK),
        ([delta("a"), delta("b", cache_status=STATUS)], Place.LAST_CHUNK),
        ([delta("a"), {**USAGE, "cache_status": STATUS}], Place.USAGE_CHUNK),
        ([delta("a"), {"cache_status": STATUS}], Place.EXTRA_EVENT),
        ([delta("a")], Place.NOWHERE),
    ],
)
def test_the_place_of_a_streamed_status_is_told(chunks: list[Any], place: Place) -> None:
    assert stream(*chunks).status_place is place


def test_an_event_of_another_name_is_an_extra_event() -> None:
    body = (
        b'data: {"choices": [{"delta": {}}]}\n\nevent: cache\ndata: {"choices": [], "cache_status": []}\n\n'
    )
    assert read_chat(response(body, stream=True), streamed=True).status_place is Place.EXTRA_EVENT


def test_a_stream_without_its_end_is_not_ok() -> None:
    result = stream(delta("a"), done=False)
    assert (result.ok, result.content) == (False, "a")
    assert result.problems == ("the stream ends without [DONE]",)


def test_a_status_in_two_chunks_is_a_problem() -> None:
    assert stream(delta("a", cache_status=[]), delta("b", cache_status=STATUS)).cache_status == STATUS
    assert stream(delta("a", cache_status=[]), delta("b", cache_status=STATUS)).problems


def test_an_error_inside_a_stream_is_an_error() -> None:
    result = stream(delta("a"), {"error": {"code": "overloaded", "message": "m"}})
    assert (result.ok, result.error_code) == (False, "overloaded")


def test_a_stream_under_another_content_type_is_read_with_a_problem() -> None:
    body = b'data: {"choices": [{"delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n'
    result = read_chat(response(body), streamed=True)
    assert (result.ok, result.content, len(result.problems)) == (True, "x", 1)


def test_what_was_not_asked_for_is_a_problem() -> None:
    body = json.dumps(completion()).encode()
    assert read_chat(response(body), streamed=True).problems == (
        "no stream: the content type is 'application/json'",
    )
    assert (
        "none was asked for"
        in read_chat(response(b"data: [DONE]\n\n", stream=True), streamed=False).problems[0]
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "delta", "usage", "error", "cache_status", "content", "code"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.booleans(), st.booleans(), st.sampled_from([200, 400, 500]))
def test_nothing_that_a_server_sends_raises(value: Any, sse: bool, asked: bool, status: int) -> None:
    body = json.dumps(value).encode()
    if sse:
        body = b"data: " + body + b"\n\ndata: [DONE]\n\n"
    result = read_chat(response(body, status=status, stream=sse), streamed=asked)
    assert result.status == status


@given(st.binary(max_size=40), st.booleans())
def test_no_bytes_raise(body: bytes, sse: bool) -> None:
    assert not read_chat(response(body, stream=sse), streamed=sse).ok
