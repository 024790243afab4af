"""What the official Python and Node clients can say arrives, and what the gateway adds can be read with them."""

import os
from typing import Any

import openai
import pytest

from cctest.instrument.client import EngineRecord
from gateway.engine import MODEL, Setting
from gateway.official import Ask, NoNodeError, Told, ask_python, install_node_client
from gateway.talk import MONDAY, Json, intent, message, text, tool


@pytest.fixture(scope="session")
def ask_node(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    try:
        return install_node_client(tmp_path_factory.mktemp("node"))
    except NoNodeError as problem:
        if os.environ.get("NODE_REQUIRED"):
            pytest.fail(str(problem), pytrace=False)
        pytest.skip(f"unverified with the Node client: {problem}")


@pytest.fixture(params=["python", pytest.param("node", marks=pytest.mark.node)])
def ask(request: pytest.FixtureRequest) -> Ask:
    made: Ask = ask_python if request.param == "python" else request.getfixturevalue("ask_node")
    return made


def body(*fragments: Json, model: str = MODEL, **members: Any) -> Json:
    made: Json = {"model": model, "messages": [one for one in fragments if "role" in one]}
    tools = [one for one in fragments if "role" not in one]
    return made | ({"tools": tools} if tools else {}) | members


MEMBERS: Json = {
    "temperature": 0.7,
    "top_p": 0.25,
    "n": 2,
    "stop": ["\n\n", "🙂"],
    "max_completion_tokens": 100,
    "max_tokens": 100,
    "presence_penalty": -1.5,
    "frequency_penalty": 0.5,
    "logit_bias": {"50256": -100},
    "logprobs": True,
    "top_logprobs": 2,
    "seed": 9007199254740991,
    "tool_choice": "auto",
    "parallel_tool_calls": False,
    "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {"cache_intent": {}}}},
    "service_tier": "auto",
    "store": False,
    "modalities": ["text"],
    "audio": {"voice": "alloy", "format": "wav"},
    "prediction": {"type": "content", "content": "x"},
    "reasoning_effort": "low",
    "verbosity": "low",
    "web_search_options": {"search_context_size": "low"},
    "functions": [{"name": "g", "parameters": {"cache_intent": 1}}],
    "function_call": "auto",
    "x_unknown": {"deep": [1, {"cache_salt": "content"}]},
}
NAMES: Json = {
    "user": "alice",
    "metadata": {"tenant": "globex"},
    "safety_identifier": "s",
    "prompt_cache_key": "k",
    "cache_salt": "mine",
}
"""Members that name whose state is meant, and go no further."""


def without_intents(sent: Json) -> Json:
    """What the engine should get of a body."""
    stripped = {name: value for name, value in sent.items() if name not in NAMES}
    for name in {"messages", "tools"} & stripped.keys():
        stripped[name] = [
            {member: value for member, value in fragment.items() if member != "cache_intent"}
            for fragment in stripped[name]
        ]
    return stripped


def arrived(record: EngineRecord) -> Json:
    got: Json = dict(record.members())
    assert len(str(got.pop("cache_salt"))) == 64
    return got


def test_every_member_reaches_the_engine_but_for_those_that_name_a_partition(
    two_ends: Setting, ask: Ask
) -> None:
    words = text()
    sent = body(message(words, intent()), tool("f", intent()), **MEMBERS, **NAMES)
    (told,) = ask(two_ends.url, [sent])
    assert told.error is None
    (record,) = two_ends.arrived(words)
    assert arrived(record) == without_intents(sent)


def conversation(words: str) -> list[Json]:
    """Tool calls and content parts of every kind, with intents on some of the fragments."""
    arguments = '{"cache_intent": {"version": 1}, "cache_salt": 1.10}'
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "AAAA"}},
    ]
    custom = {"type": "custom", "custom": {"name": "c", "format": {"type": "text"}}}
    return [
        tool("f", intent(id="tool"), {"type": "object", "properties": {"cache_intent": {"type": "string"}}}),
        custom,
        {"role": "developer", "content": words, "cache_intent": intent(id="system")},
        {"role": "user", "content": parts, "name": "alice"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "é\u2028🙂", "cache_intent": intent(id="result")},
        {"role": "assistant", "content": "x", "refusal": None},
        message("And?"),
    ]


@pytest.mark.parametrize("stream", [False, True])
def test_tool_calls_and_content_parts_arrive_and_every_governed_fragment_has_a_status(
    two_ends: Setting, ask: Ask, stream: bool
) -> None:
    words = text()
    sent = body(*conversation(words)) | ({"stream": True} if stream else {})
    (told,) = ask(two_ends.url, [sent])
    assert [one for one in told.each("id") if one] == ["tool", "system", "result"]
    (record,) = two_ends.arrived(words)
    asked = {"stream_options": {"include_usage": True}} if stream else {}
    assert arrived(record) == without_intents(sent) | asked


WAYS: dict[str, Json] = {
    "plain": {},
    "streamed": {"stream": True},
    "streamed-with-usage": {"stream": True, "stream_options": {"include_usage": True}},
}


@pytest.fixture(params=["embedded", MODEL])
def served(request: pytest.FixtureRequest, gateway_url: str, two_ends: Setting) -> tuple[str, str]:
    """The address of a gateway, and its model."""
    return gateway_url if request.param == "embedded" else two_ends.url, request.param


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", ["message", "tool"])
def test_the_status_can_be_read(served: tuple[str, str], ask: Ask, place: str, way: str) -> None:
    url, model = served
    governed = message(text(400), intent(id="f"))
    if place == "tool":
        governed = tool(text(0).strip(), intent(id="f"))
        governed["function"]["description"] = text(400)
    sent = body(governed, message("And?"), model=model, **WAYS[way])
    told = ask(url, [sent, sent])
    assert [one.each("outcome")[0] for one in told] == ["miss", "exact_hit"]
    assert [one.each("id")[0] for one in told] == ["f", "f"]
    assert [one.early for one in told] == [0, 0]
    assert all("canary=" in (one.answer or "") for one in told)
    if way == "streamed":
        assert [one.usage for one in told] == [None, None]
    else:
        assert [bool(one.cached) for one in told] == [False, True]


def test_many_at_once_each_get_their_own(two_ends: Setting, ask: Ask) -> None:
    texts = [text(400) for _ in range(8)]
    ways = list(WAYS.values())
    sent = [
        body(
            message(words, intent(id=f"{turn}-{index}")), message("And?"), **ways[(turn + index) % len(ways)]
        )
        for turn in range(5)
        for index, words in enumerate(texts)
    ]
    ask(two_ends.url, sent[: len(texts)])
    told = ask(two_ends.url, sent, concurrent=True)
    assert [one.each("id")[0] for one in told] == [one["messages"][0]["cache_intent"]["id"] for one in sent]
    assert {one.each("outcome")[0] for one in told} == {"exact_hit"}
    assert len({one.answer for one in told}) == len(told)


def test_an_unknown_key_is_told(two_ends: Setting, ask: Ask) -> None:
    (told,) = ask(two_ends.url, [body(message("x"))], key="wrong")
    assert told == Told(error={"status": 401, "code": "invalid_api_key", "param": None})


def test_a_stream_that_breaks_off_is_told(two_ends: Setting, ask: Ask) -> None:
    words = text()
    two_ends.misbehave(words, cut={"after": 3, "how": "close"})
    (told,) = ask(two_ends.url, [body(message(words), stream=True)])
    assert told.error is not None
    assert told.error["code"] == "engine_broke_off"


def test_the_models_are_listed(gateway_url: str) -> None:
    with openai.OpenAI(base_url=f"{gateway_url}/v1", api_key=MONDAY, max_retries=0) as client:
        assert [model.id for model in client.models.list()] == ["embedded"]


def test_a_refusal_arrives_with_its_code_and_place(two_ends: Setting, ask: Ask) -> None:
    wrong = body(message("x", {"version": 1}))
    told = ask(two_ends.url, [wrong, wrong | {"stream": True}, body(message("x"), model="other")])
    invalid = {"status": 400, "code": "cache_intent_invalid", "param": "/messages/0/cache_intent"}
    unknown = {"status": 404, "code": "model_not_found", "param": "/model"}
    assert told == [Told(error=invalid), Told(error=invalid), Told(error=unknown)]
