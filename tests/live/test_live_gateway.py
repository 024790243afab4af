"""The gateway in front of a real vLLM: partitions kept, outcomes told as observed, nothing claimed beyond."""

import secrets
from typing import Any

import pytest

from live.conftest import Start
from reference_gateway.live.chat import Answer, Client, Json, intent, message, text
from reference_gateway.live.engine import Engine, Options
from reference_gateway.live.gateway import Gateway, running_gateway

QUESTION = message("And now?")
HITS = "vllm:prefix_cache_hits_total"

PLAIN: Json = {}
STREAMED: Json = {"stream": True, "stream_options": {"include_usage": True}}
STREAMED_WITHOUT_USAGE: Json = {"stream": True}
ways = pytest.mark.parametrize(
    "way", [PLAIN, STREAMED, STREAMED_WITHOUT_USAGE], ids=["plain", "streamed", "streamed-without-usage"]
)


def system(share_max: str = "tenant", reuse: str = "exact", **retention: Any) -> Json:
    """A long fragment with an intent, which nobody has sent before."""
    return message(text(), "system", intent(share_max, reuse, **retention))


def outcome(answer: Answer) -> str:
    assert answer.http == 200, answer.body
    return answer.outcomes[0]


@ways
def test_a_hit_and_a_miss_are_told_apart(gateway: Gateway, way: Json) -> None:
    client, fragment = gateway.client(0), system()
    assert outcome(client.ask(fragment, QUESTION, **way)) == "miss"
    assert outcome(client.ask(fragment, QUESTION, **way)) == "exact_hit"


def test_usage_that_the_caller_did_not_ask_for_is_kept_back(gateway: Gateway) -> None:
    answer = gateway.client(0).ask(system(), QUESTION, **STREAMED_WITHOUT_USAGE)
    assert all(chunk.get("usage") is None and chunk["choices"] for chunk in answer.chunks)


@ways
def test_another_tenant_computes_everything(gateway: Gateway, way: Json) -> None:
    fragment = system()
    gateway.client(0).ask(fragment, QUESTION)

    stranger = gateway.client(1).ask(fragment, QUESTION, **way)
    control = gateway.client(0, "bob").ask(fragment, QUESTION)

    assert outcome(stranger) == "miss"
    assert not stranger.cached
    assert outcome(control) == "exact_hit"


def test_another_principal_computes_what_is_a_principals(gateway: Gateway) -> None:
    fragment = system("principal")
    gateway.client(0).ask(fragment, QUESTION)
    assert gateway.client(0, "bob").ask(fragment, QUESTION).cached == 0
    assert gateway.client(0).ask(fragment, QUESTION).cached


def test_what_is_public_is_shared_by_tenants(gateway: Gateway) -> None:
    whole = (system("public"), message("And now?", "user", intent("public")))
    gateway.client(0).ask(*whole)
    assert outcome(gateway.client(1).ask(*whole)) == "exact_hit"


def test_a_callers_salt_does_not_reach_the_engine(gateway: Gateway, direct: Client) -> None:
    salt, fragment = secrets.token_hex(32), system()
    bare = message(fragment["content"], "system")
    direct.ask(bare, QUESTION, cache_salt=salt)

    through = gateway.client(0).ask(fragment, QUESTION, cache_salt=salt)

    assert outcome(through) == "miss"
    assert through.cached == 0
    assert direct.ask(bare, QUESTION, cache_salt=salt).cached
    refused_past_the_gateway = direct.ask(bare, QUESTION, cache_salt="a/b")
    assert refused_past_the_gateway.http == 400
    assert gateway.client(0).ask(fragment, QUESTION, cache_salt="a/b").http == 200


@pytest.mark.parametrize(
    "fragment",
    [
        pytest.param(lambda: system(reuse="none"), id="no-reuse"),
        pytest.param(lambda: system("request"), id="request"),
        pytest.param(lambda: system(mode="forbid"), id="forbid"),
        pytest.param(lambda: system(max_age=3600), id="max_age"),
    ],
)
def test_what_must_not_be_reused_gets_a_partition_of_its_own(
    gateway: Gateway, engine: Engine, fragment: Any
) -> None:
    client, governed = gateway.client(0), fragment()
    before = engine.counter(HITS)

    outcomes = [outcome(client.ask(governed, QUESTION)) for _ in range(3)]

    assert outcomes == ["bypass"] * 3
    assert engine.counter(HITS) == before


@ways
def test_several_answers_tell_nothing(gateway: Gateway, way: Json) -> None:
    client, fragment = gateway.client(0), system()
    asked = [client.ask(fragment, QUESTION, n=3, temperature=1.0, **way) for _ in range(2)]
    assert [outcome(answer) for answer in asked] == ["unobserved", "unobserved"]


def test_an_engine_that_tells_no_details_is_never_said_to_miss(start_engine: Start) -> None:
    """Its own counter shows that there were a miss and hits. None of it can be seen in a response."""
    engine = start_engine(Options(usage_details=False))
    direct = Client(engine.url, engine.model, engine.headers())
    assert direct.ask(message(text())).body["usage"]["prompt_tokens_details"] is None

    with running_gateway(engine) as gateway:
        client, fragment = gateway.client(0), system()
        asked = [client.ask(fragment, QUESTION, **way) for way in (PLAIN, PLAIN, STREAMED)]

    assert engine.counter(HITS) > 0
    assert {outcome(answer) for answer in asked} == {"unobserved"}
    assert {answer.cached for answer in asked} == {None}
