"""What a well-behaved engine answers over HTTP."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from cctest.instrument.client import Engine, running_engine
from cctest.instrument.settings import Settings
from cctest.target.exchange import Request, Target
from instrument.talk import CHAT, Json, ask, body, nonce, send, shape, streaming, text

BOTH = pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])


@BOTH
def test_an_answer_has_a_canary_of_its_own(engine_url: str, stream: bool) -> None:
    contents = [ask(engine_url, shape("hello", stream=stream)).content for _ in range(2)]
    canaries = {match[1] for match in re.finditer(r" canary=([0-9a-f]{32})\b", " ".join(contents))}
    assert len(canaries) == 2


@BOTH
def test_the_same_input_is_reused_in_whole_blocks(engine_url: str, stream: bool) -> None:
    content = text()
    first, again = (ask(engine_url, shape(content, stream=stream)) for _ in range(2))
    assert first.ok
    assert first.cached_tokens == 0
    assert first.prompt_tokens is not None
    assert again.cached_tokens == (first.prompt_tokens - 1) // 16 * 16


def test_plain_and_streamed_requests_share_their_state(engine_url: str) -> None:
    content = text()
    ask(engine_url, body(content))
    assert ask(engine_url, streaming(content)).cached_tokens


def test_a_salt_is_a_partition(engine_url: str) -> None:
    content = text()
    salts: list[Json] = [{}, {"cache_salt": "a"}, {"cache_salt": "b"}, {"cache_salt": "A"}]
    assert [ask(engine_url, body(content, **salt)).cached_tokens for salt in salts] == [0, 0, 0, 0]
    assert all(ask(engine_url, body(content, **salt)).cached_tokens for salt in salts)


@pytest.mark.parametrize("told", [{"prompt_logprobs": 0}, {"echo": True}])
def test_where_each_token_of_the_prompt_is_told_nothing_is_looked_up(engine_url: str, told: Json) -> None:
    content = text()
    asked = [ask(engine_url, body(content, **more)).cached_tokens for more in ({}, told, {})]
    assert [bool(cached) for cached in asked] == [False, False, True]


def test_a_null_salt_is_none(engine_url: str) -> None:
    content = text()
    ask(engine_url, body(content))
    assert ask(engine_url, body(content, cache_salt=None)).cached_tokens


def test_a_salt_on_a_message_is_ignored(engine_url: str) -> None:
    content = text()
    ask(engine_url, body(content))
    salted = {"role": "user", "content": content, "cache_salt": "a"}
    assert ask(engine_url, {"messages": [salted]}).cached_tokens


@pytest.mark.parametrize("salt", ["x" * 128, "ß" * 128, "a b+c:d"])
def test_salts_that_are_allowed(engine_url: str, salt: str) -> None:
    assert ask(engine_url, body("hello", cache_salt=salt)).ok


@pytest.mark.parametrize("salt", ["", "x" * 129, "a@b", "a/b", "a\\b", "a\0b", 7, True, ["a"], {"a": "b"}])
def test_salts_that_are_refused(engine_url: str, salt: Any) -> None:
    response = send(engine_url, body("hello", cache_salt=salt))
    assert response.status == 400
    error = json.loads(response.body)["error"]
    assert (error["type"], error["param"], error["code"]) == ("BadRequestError", "cache_salt", 400)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"model": "another"}, 404),
        ({"messages": []}, 400),
        ({"messages": None}, 400),
        ({"messages": "hello"}, 400),
        ({"messages": [1]}, 400),
        ({"messages": [{"content": "no role"}]}, 400),
        ({"tools": {}}, 400),
        ({"tools": ["f"]}, 400),
        ({"n": 0}, 400),
        ({"n": True}, 400),
        ({"n": 17}, 400),
        ({"stream_options": {"include_usage": True}}, 400),
        ({"stream": True, "stream_options": [1]}, 400),
    ],
)
def test_requests_that_are_refused(engine_url: str, change: Json, status: int) -> None:
    assert send(engine_url, body("hello") | change).status == status


@pytest.mark.parametrize("sent", [b"", b"{", b"[]", b"\xff", b"[" * 100_000], ids=str)
def test_bodies_that_are_no_objects(engine_url: str, sent: bytes) -> None:
    assert send(engine_url, sent).status == 400


def test_a_lone_surrogate_does_no_harm(engine_url: str) -> None:
    assert (
        send(engine_url, b'{"messages":[{"role":"user","content":"\\ud800"}],"cache_salt":"\\ud800"}').status
        == 200
    )


def test_usage_is_streamed_once_at_the_end_and_when_asked_for(engine_url: str) -> None:
    def usages(sent: Json) -> list[Any]:
        events = send(engine_url, sent).events or ()
        return [json.loads(event.data).get("usage") for event in events if event.data != b"[DONE]"]

    *others, last = usages(streaming("hello"))
    assert others == [None] * len(others)
    assert last["prompt_tokens"] + last["completion_tokens"] == last["total_tokens"]
    assert not any(usages(body("hello", stream=True)))


@BOTH
def test_several_choices_are_several_computations(engine_url: str, stream: bool) -> None:
    response = send(engine_url, shape("hello", stream=stream) | {"n": 3})
    assert len(set(re.findall(rb"canary=([0-9a-f]{32})", response.body.replace(b'"}', b"")))) == (
        0 if stream else 3
    )
    spoken: dict[int, str] = {}
    for event in response.events or ():
        for choice in json.loads(event.data)["choices"] if event.data != b"[DONE]" else ():
            spoken[choice["index"]] = spoken.get(choice["index"], "") + choice["delta"].get("content", "")
    assert len(set(spoken.values())) == (3 if stream else 0)


def test_of_several_answers_the_last_has_read_what_the_first_left(engine: Engine) -> None:
    content = text()
    told = ask(engine.url, body(content, n=2)).cached_tokens
    (entry,) = [entry for entry in engine.entries() if content.encode() in entry.body]
    assert (entry.cached_tokens, bool(told)) == (0, True)


def test_models_health_and_version(engine_url: str) -> None:
    def get(path: str) -> requests.Response:
        return requests.get(f"{engine_url}{path}", timeout=10)

    assert [model["id"] for model in get("/v1/models").json()["data"]] == ["instrumented"]
    assert get("/health").status_code == 200
    assert get("/version").json()["version"].startswith("cctest-")
    assert get("/elsewhere").status_code == 404
    assert get(CHAT).status_code == 405


def test_settings_are_kept() -> None:
    settings = Settings("tiny", block_size=4, capacity_blocks=3, usage_details=False)
    with running_engine(settings) as url, Engine(url) as engine, Target(url) as target:
        assert engine.about().settings == settings
        sent = json.dumps(body("hello " * 20, model="tiny")).encode()
        for _ in range(2):
            answer = json.loads(target.send(Request("POST", CHAT, body=sent)).body)
            assert answer["usage"]["prompt_tokens_details"] is None
        assert [entry.cached_tokens for entry in engine.entries()] == [0, 12]


def test_two_clients_at_a_time_get_what_is_theirs(engine: Engine) -> None:
    contents = {own: text(own) for own in (nonce(), nonce())}

    def client(own: str) -> list[int | None]:
        sent = streaming(contents[own], cache_salt=own)
        return [ask(engine.url, sent).cached_tokens for _ in range(20)]

    with ThreadPoolExecutor() as pool:
        for cached in pool.map(client, contents):
            assert cached[0] == 0
            assert len(set(cached[1:])) == 1
            assert cached[1]
    for own in contents:
        assert [entry.cache_salt for entry in engine.entries() if own.encode() in entry.body] == [own] * 20
