"""The OpenAI side of the interface: shapes, streams, usage, errors."""

import json
import re
import socket

import pytest
import requests

from gateway.process import running
from gateway.talk import MONDAY, Caller, Json, intent, message, text


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_an_answer_is_honest_and_marked(caller: Caller, stream: bool) -> None:
    answers = [caller.chat(message("hello"), stream=stream).answer for _ in range(2)]
    found = [
        re.fullmatch(r"No language model runs here: .+ canary=([0-9a-f]{32})", answer) for answer in answers
    ]
    assert all(found)
    assert answers[0] != answers[1]


def test_a_plain_response_has_openais_shape(caller: Caller) -> None:
    reply = caller.chat(message("hello"))
    assert reply.http == 200
    assert reply.body["object"] == "chat.completion"
    assert reply.body["model"] == "embedded"
    assert reply.body["choices"][0]["finish_reason"] == "stop"
    usage = reply.body["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["prompt_tokens_details"] == {"cached_tokens": 0}


def test_a_stream_starts_with_the_role_and_ends_with_the_reason_and_usage(caller: Caller) -> None:
    chunks = caller.chat(message("hello"), stream=True).chunks
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert chunks[-2]["choices"][0]["finish_reason"] == "stop"
    assert [chunk["usage"] for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["prompt_tokens_details"]["cached_tokens"] == 0


def test_usage_is_streamed_only_when_asked_for(caller: Caller) -> None:
    reply = caller.post({"model": "embedded", "messages": [message("hello", intent())], "stream": True})
    assert not any("usage" in chunk for chunk in reply.chunks)
    assert reply.chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert len(reply.status) == 1


def test_the_status_is_on_the_last_chunk_alone(caller: Caller) -> None:
    chunks = caller.chat(message(text(), intent()), stream=True).chunks
    assert ["cache_status" in chunk for chunk in chunks] == [False] * (len(chunks) - 1) + [True]


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_several_choices_are_several_computations(caller: Caller, stream: bool) -> None:
    reply = caller.chat(message("hello"), stream=stream, n=3)
    if stream:
        finished = [c["choices"][0] for c in reply.chunks[:-1] if c["choices"][0]["finish_reason"] == "stop"]
        assert [choice["index"] for choice in finished] == [0, 1, 2]
    else:
        assert len({choice["message"]["content"] for choice in reply.body["choices"]}) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"n": 0},
        {"n": 9},
        {"n": True},
        {"n": "2"},
        {"stream": "yes"},
        {"stream_options": 1},
        {"stream": True, "stream_options": {"include_usage": 1}},
        {"messages": "hello"},
        {"messages": []},
        {"messages": ["hello"]},
        {"messages": [{"content": "x"}]},
        {"messages": [{"role": "user", "content": 1}]},
        {"messages": [{"role": "user", "content": ["x"]}]},
        {"tools": {}},
        {"tools": [1]},
        {"tools": [{}]},
        {"model": None},
    ],
    ids=json.dumps,
)
def test_a_malformed_body_is_refused_without_an_intent_code(caller: Caller, change: Json) -> None:
    reply = caller.post({"model": "embedded", "messages": [message("hello")], **change})
    assert (reply.http, reply.error["code"]) == (400, "invalid_request")
    assert reply.error["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[1,]", b"\xff", b'\xef\xbb\xbf{"a":1}', b'{"n": NaN}', b'{"n": 1e999}']
)
def test_broken_json_is_refused_without_an_intent_code(caller: Caller, body: bytes) -> None:
    reply = caller.post(body)
    assert (reply.http, reply.error["code"]) == (400, "invalid_json")


def test_an_unknown_model_is_not_found(caller: Caller) -> None:
    reply = caller.chat(message("hello"), model="other")
    assert (reply.http, reply.error["code"]) == (404, "model_not_found")


def test_a_body_over_the_limit_is_refused(caller: Caller) -> None:
    limit = 1024 * 1024
    envelope = {"model": "embedded", "messages": [message("")]}
    room = limit - len(json.dumps(envelope))
    fits = {"model": "embedded", "messages": [message("x" * room)]}
    assert len(json.dumps(fits)) == limit
    assert caller.post(fits).http == 200
    reply = caller.post({"model": "embedded", "messages": [message("x" * (room + 1))]})
    assert (reply.http, reply.error["code"]) == (413, "request_too_large")


def test_a_body_of_unknown_length_is_limited_too(gateway_url: str) -> None:
    pieces = (b" " * 65536 for _ in range(20))
    response = requests.post(
        f"{gateway_url}/v1/chat/completions",
        data=pieces,
        headers={"Authorization": f"Bearer {MONDAY}"},
        timeout=30,
    )
    assert response.status_code == 413


def test_too_many_fragments_are_refused(caller: Caller) -> None:
    fragments = [message("x") for _ in range(4096)]
    assert caller.chat(*fragments).http == 200
    reply = caller.chat(message("x"), *fragments)
    assert (reply.http, reply.error["code"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nowhere", 404), ("GET", "/v1/chat/completions", 405), ("POST", "/healthz", 405)],
)
def test_an_unknown_path_or_method_has_an_error_body(
    gateway_url: str, method: str, path: str, status: int
) -> None:
    response = requests.request(method, gateway_url + path, timeout=30)
    assert response.status_code == status
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_health_and_models_are_told(gateway_url: str) -> None:
    assert requests.get(f"{gateway_url}/healthz", timeout=30).json() == {"status": "ok"}
    headers = {"Authorization": f"Bearer {MONDAY}"}
    models = requests.get(f"{gateway_url}/v1/models", headers=headers, timeout=30).json()
    assert [model["id"] for model in models["data"]] == ["embedded"]


def test_the_capabilities_are_complete(gateway_url: str) -> None:
    assert requests.get(f"{gateway_url}/v1/cache_intent_capabilities", timeout=30).json() == {
        "cache_intent_capabilities": {
            "versions": [1],
            "constraints": {
                "retention_modes": ["allow", "forbid"],
                "retention_max_age": True,
                "reuse": ["none", "exact", "approximate"],
                "share_max": ["request", "session", "principal", "tenant", "public"],
                "namespace": True,
            },
            "on_unenforceable": "bypass",
            "status": True,
            "per_fragment_share": True,
            "hints": {"reuse_within_max": 3600},
        }
    }


def test_a_caller_that_hangs_up_breaks_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    body = json.dumps({"model": "embedded", "stream": True, "n": 8, "messages": [message(text(), intent())]})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {MONDAY}\r\n"
    with running() as (url, _):
        host, port = url.removeprefix("http://").split(":")
        for sent in (
            f"{head}Content-Length: {len(body)}\r\n\r\n{body}",
            f"{head}Content-Length: 1000\r\n\r\n{{",
        ):
            for _ in range(20):
                with socket.create_connection((host, int(port)), timeout=30) as connection:
                    connection.sendall(sent.encode())
        assert Caller(url).chat(message("still there?")).http == 200
    assert capfd.readouterr().err == ""
