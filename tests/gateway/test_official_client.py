"""The official OpenAI client: intents go through it, and the status comes back."""

from collections.abc import Iterator
from typing import Any

import openai
import pytest

from gateway.talk import MONDAY, intent, message, text, tool


@pytest.fixture
def client(gateway_url: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{gateway_url}/v1", api_key=MONDAY, max_retries=0) as made:
        yield made


def fragments(place: str) -> dict[str, Any]:
    words = text()
    if place == "tool":
        return {"messages": [message("go")], "tools": [tool(words, intent(id="f"))]}
    return {"messages": [message(words, intent(id="f")), message("go")]}


@pytest.mark.parametrize("place", ["message", "tool"])
def test_an_intent_goes_through_and_the_status_comes_back(client: openai.OpenAI, place: str) -> None:
    given = fragments(place)
    replies = [client.chat.completions.create(model="embedded", **given) for _ in range(2)]
    statuses = [(reply.model_extra or {})["cache_status"] for reply in replies]
    assert [status[0]["id"] for status in statuses] == ["f", "f"]
    assert [status[0]["outcome"] for status in statuses] == ["miss", "exact_hit"]
    usage = replies[1].usage
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    assert (usage.prompt_tokens_details.cached_tokens or 0) > 200


@pytest.mark.parametrize("include_usage", [False, True])
@pytest.mark.parametrize("place", ["message", "tool"])
def test_a_stream_carries_the_status_in_its_last_chunk(
    client: openai.OpenAI, place: str, include_usage: bool
) -> None:
    given = fragments(place)
    if include_usage:
        given["stream_options"] = {"include_usage": True}
    for outcome in ("miss", "exact_hit"):
        chunks = list(client.chat.completions.create(model="embedded", stream=True, **given))
        *earlier, last = chunks
        assert (last.model_extra or {})["cache_status"][0]["outcome"] == outcome
        assert not any("cache_status" in (chunk.model_extra or {}) for chunk in earlier)
        assert (last.usage is not None) == include_usage
        words = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert "canary=" in words


def test_a_refusal_arrives_with_its_code(client: openai.OpenAI) -> None:
    given: Any = [message("x", {"version": 1})]
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(model="embedded", messages=given)
    assert refused.value.code == "cache_intent_invalid"
    assert refused.value.param == "/messages/0/cache_intent"


def test_an_unknown_key_and_an_unknown_model_raise_what_the_client_has_for_them(
    client: openai.OpenAI, gateway_url: str
) -> None:
    given: Any = [message("x")]
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="other", messages=given)
    with (
        openai.OpenAI(base_url=f"{gateway_url}/v1", api_key="wrong", max_retries=0) as stranger,
        pytest.raises(openai.AuthenticationError),
    ):
        stranger.chat.completions.create(model="embedded", messages=given)


def test_the_models_are_listed(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["embedded"]
