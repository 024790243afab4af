"""A forwarding gateway: what comes back from the engine, and what is said about it."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from cctest.instrument.record import Ending
from gateway.engine import MODEL, Setting
from gateway.talk import BOB, MONDAY, NAMESAKE, Json, Reply, intent, message, text

PLAIN_AND_STREAMED = pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])


def long() -> str:
    return text(400)


@PLAIN_AND_STREAMED
def test_a_hit_and_a_miss_are_told_apart(two_ends: Setting, stream: bool) -> None:
    fragments = [message(long(), intent(id="a")), message("go")]
    first, second = (two_ends.caller().chat(*fragments, stream=stream) for _ in range(2))
    assert first.each("outcome") == ["miss", "miss"]
    assert first.each("retention") == ["unobserved", "unobserved"]
    # What "go" became can't be told from one count: it may lie in the last block, which is always computed.
    assert second.each("outcome") == ["exact_hit", "unobserved"]
    assert second.each("retention") == ["retained", "unobserved"]
    assert second.each("effective_share") == ["tenant", "tenant"]
    assert second.status[0]["id"] == "a"
    assert second.cached > 400


@PLAIN_AND_STREAMED
def test_a_request_reused_in_part_proves_nothing_of_any_fragment(two_ends: Setting, stream: bool) -> None:
    shared = message(long(), intent())
    replies = [two_ends.caller().chat(shared, message(long()), stream=stream) for _ in range(2)]
    assert replies[1].cached > 400
    assert replies[1].each("outcome") == ["unobserved", "unobserved"]


def test_the_count_for_several_answers_is_no_observation(two_ends: Setting) -> None:
    fragment = message(long(), intent())
    replies = [two_ends.caller().chat(fragment, n=2) for _ in range(2)]
    assert replies[1].cached > 400
    assert [reply.each("outcome") for reply in replies] == [["unobserved"], ["unobserved"]]


@PLAIN_AND_STREAMED
@pytest.mark.parametrize("fault", ["absent", "null_details", "string", "larger_than_prompt"])
def test_what_the_engine_does_not_tell_is_not_claimed(two_ends: Setting, stream: bool, fault: str) -> None:
    words = long()
    two_ends.misbehave(words, usage=fault)
    for _ in range(2):
        reply = two_ends.caller().chat(message(words, intent()), stream=stream)
        assert reply.each("outcome") == ["unobserved"]
        assert reply.each("retention") == ["unobserved"]
    bypass = two_ends.caller().chat(message(words, intent(mode="forbid")), stream=stream)
    assert (bypass.each("outcome"), bypass.each("retention")) == (["bypass"], ["forbidden"])


@pytest.mark.parametrize("fault", ["null_details", "string", "larger_than_prompt"])
def test_usage_passes_as_it_came(two_ends: Setting, fault: str) -> None:
    words = long()
    two_ends.misbehave(words, usage=fault)
    usage = two_ends.caller().chat(message(words, intent())).body["usage"]
    prompt = usage["prompt_tokens"]
    told = {
        "null_details": None,
        "string": {"cached_tokens": "0"},
        "larger_than_prompt": {"cached_tokens": prompt + 1},
    }
    assert usage["prompt_tokens_details"] == told[fault]


DIALECTS = ["no_space", "crlf", "comments", "multi_line", "event_names", "pings", "empty_choices"]


@pytest.mark.parametrize("dialects", [[], *([one] for one in DIALECTS), DIALECTS], ids="+".join)
@pytest.mark.parametrize("usage", [None, "split", "every_chunk"])
def test_streams_of_every_dialect_are_understood(
    two_ends: Setting, dialects: list[str], usage: str | None
) -> None:
    words = long()
    two_ends.misbehave(words, sse=dialects, **({} if usage is None else {"usage": usage}))
    fragment = message(words, intent())
    assert two_ends.caller().chat(fragment, stream=True).each("outcome") == ["miss"]
    asked = two_ends.caller().chat(fragment, stream=True)
    assert asked.each("outcome") == ["exact_hit"]
    assert "canary=" in asked.answer
    unasked = two_ends.caller().post({"model": MODEL, "messages": [fragment], "stream": True})
    assert unasked.each("outcome") == ["exact_hit"]
    assert unasked.answer.split("canary=")[0] == asked.answer.split("canary=")[0]
    assert not any("usage" in chunk for chunk in unasked.chunks)
    assert unasked.chunks[-1]["choices"][0]["finish_reason"] == "stop"
    for reply in (asked, unasked):
        statuses = ["cache_status" in chunk for chunk in reply.chunks]
        assert statuses == [False] * (len(statuses) - 1) + [True]


def test_a_stream_has_no_status_without_an_intent(two_ends: Setting) -> None:
    body = {"model": MODEL, "messages": [message(long())], "stream": True}
    chunks = two_ends.caller().post(body).chunks
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert not any("cache_status" in chunk or "usage" in chunk for chunk in chunks)


def test_chunks_pass_as_they_come(two_ends: Setting) -> None:
    words = long()
    two_ends.misbehave(words, delay={"first": 0, "between": 0.1})
    body = {"model": MODEL, "messages": [message(words, intent())], "stream": True}
    started = time.monotonic()
    arrivals = []
    with post(two_ends.url, body, stream=True) as response:
        for line in response.iter_lines():
            if line:
                arrivals.append(time.monotonic() - started)
    assert len(arrivals) > 6
    assert arrivals[0] < 0.4
    assert arrivals[-1] - arrivals[0] > 0.45


def post(url: str, body: Json, **options: Any) -> requests.Response:
    headers = {"Authorization": f"Bearer {MONDAY}"}
    return requests.post(
        f"{url}/v1/chat/completions", json=body, headers=headers, **{"timeout": 30, **options}
    )


@pytest.mark.parametrize(
    ("stream", "delay"),
    [(False, {"first": 20}), (True, {"first": 20}), (True, {"between": 20})],
    ids=["plain", "before-the-stream", "in-the-stream"],
)
def test_when_the_caller_hangs_up_the_engines_work_is_called_off(
    two_ends: Setting, stream: bool, delay: Json
) -> None:
    words = long()
    two_ends.misbehave(words, delay=delay)
    body = {"model": MODEL, "messages": [message(words, intent())], "stream": stream}
    with pytest.raises(requests.exceptions.RequestException):
        post(two_ends.url, body, timeout=0.7)
    deadline = time.monotonic() + 10
    while two_ends.arrived(words)[0].ending is Ending.OPEN and time.monotonic() < deadline:
        time.sleep(0.05)
    assert two_ends.arrived(words)[0].ending is Ending.CLIENT_GONE


@PLAIN_AND_STREAMED
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, 400),
        (404, 404),
        (413, 413),
        (422, 422),
        (429, 429),
        (401, 502),
        (403, 502),
        (500, 502),
        (502, 502),
        (503, 503),
        (504, 502),
    ],
)
def test_the_engines_errors_are_told_as_what_they_are(
    two_ends: Setting, stream: bool, status: int, expected: int
) -> None:
    words = text(4)
    two_ends.misbehave(words, status={"code": status, "retry_after": 7})
    sent = {"model": MODEL, "messages": [message(words, intent())], "stream": stream}
    response = post(two_ends.url, sent)
    assert response.status_code == expected
    assert response.headers["Retry-After"] == "7"
    assert response.headers["Content-Type"] == "application/json"
    error = response.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert isinstance(error["message"], str)
    assert isinstance(error["code"], str)
    assert two_ends.salts(words)[0] not in response.text


@pytest.mark.parametrize("body", ["broken", "empty"])
@pytest.mark.parametrize("status", [429, 503])
def test_an_error_without_a_readable_body_is_told_all_the_same(
    two_ends: Setting, body: str, status: int
) -> None:
    words = text(4)
    two_ends.misbehave(words, status={"code": status, "body": body})
    reply = two_ends.caller().chat(message(words))
    assert (reply.http, type(reply.error["message"])) == (status, str)


def test_what_the_engine_says_about_a_request_reaches_the_caller(two_ends: Setting) -> None:
    reply = two_ends.caller().chat(message(text(4)), stream=False, stream_options={"include_usage": True})
    assert reply.http == 400
    assert reply.error["message"] == "Stream options can only be defined when `stream=True`."
    assert (reply.error["param"], reply.error["code"]) == ("stream_options", "bad_request")


@PLAIN_AND_STREAMED
@pytest.mark.parametrize("answer", ["empty", "null"])
def test_a_200_that_is_no_chat_completion_is_a_bad_gateway(
    two_ends: Setting, stream: bool, answer: str
) -> None:
    words = text(4)
    two_ends.misbehave(words, answer=answer)
    sent = {"model": MODEL, "messages": [message(words, intent())], "stream": stream}
    response = post(two_ends.url, sent)
    assert response.status_code == 502
    assert response.json()["error"]["type"] == "server_error"


@pytest.mark.parametrize("how", ["close", "end", "error"])
def test_a_plain_answer_that_breaks_off_is_a_bad_gateway(two_ends: Setting, how: str) -> None:
    words = text(4)
    two_ends.misbehave(words, cut={"after": 1, "how": how})
    assert two_ends.caller().chat(message(words, intent())).http == 502


@pytest.mark.parametrize("how", ["close", "end", "error"])
@pytest.mark.parametrize("after", [1, 3, 7])
def test_a_stream_that_breaks_off_ends_in_an_error_and_without_done(
    two_ends: Setting, how: str, after: int
) -> None:
    words = text(4)
    two_ends.misbehave(words, cut={"after": after, "how": how})
    body = {"model": MODEL, "messages": [message(words, intent())], "stream": True}
    response = post(two_ends.url, body)
    assert response.status_code == 200
    *chunks, last = [event.removeprefix("data: ") for event in response.text.split("\n\n") if event]
    assert len(chunks) == after
    assert '"error"' in last
    assert "[DONE]" not in response.text
    assert "cache_status" not in response.text


@pytest.mark.parametrize("how", ["close", "end", "error"])
def test_a_stream_that_breaks_off_at_once_is_a_bad_gateway(two_ends: Setting, how: str) -> None:
    words = text(4)
    two_ends.misbehave(words, cut={"after": 0, "how": how})
    body = {"model": MODEL, "messages": [message(words, intent())], "stream": True}
    assert post(two_ends.url, body).status_code == 502


def test_other_models_are_not_found_and_the_engines_are_listed(two_ends: Setting) -> None:
    words = text(4)
    reply = two_ends.caller().chat(message(words), model="other")
    assert (reply.http, reply.error["code"]) == (404, "model_not_found")
    assert two_ends.arrived(words) == []
    headers = {"Authorization": f"Bearer {MONDAY}"}
    listed = requests.get(f"{two_ends.url}/v1/models", headers=headers, timeout=30).json()
    assert [model["id"] for model in listed["data"]] == [MODEL]
    assert requests.get(f"{two_ends.url}/readyz", timeout=30).json() == {"status": "ready"}


def test_many_at_once_keep_their_partitions(two_ends: Setting) -> None:
    words = long()

    def ask(number: int) -> tuple[str, Reply]:
        token = (MONDAY, BOB, NAMESAKE)[number % 3]
        reply = two_ends.caller(token).chat(message(words, intent("principal")), stream=number % 2 == 0)
        return token, reply

    with ThreadPoolExecutor(12) as pool:
        replies = list(pool.map(ask, range(60)))
    assert {reply.http for _, reply in replies} == {200}
    assert len(set(two_ends.salts(words))) == 3
