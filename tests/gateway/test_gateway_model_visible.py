"""Members of a body that a model may see although they are no fragments (READ-38)."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.conftest import As
from gateway.process import running
from gateway.talk import BOB, MONDAY, NAMESAKE, Caller, Json, intent, message, text
from reference_gateway.engine.forwarding import forwarded_body
from reference_gateway.request.intake import read_chat_request
from reference_gateway.request.model_visible import has_other_input, rendering_members
from reference_gateway.request.stripped import STRIPPED

VISIBLE: dict[str, Any] = {
    "documents": [{"title": "t", "text": "private"}],
    "chat_template": "{{ messages }}",
    "chat_template_kwargs": {"tools_in_user_message": False},
    "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}},
    "structured_outputs": {"regex": "a+"},
    "functions": [{"name": "f"}],
    "function_call": {"name": "f"},
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "reasoning_effort": "high",
    "verbosity": "low",
    "prediction": {"type": "content", "content": "private"},
    "web_search_options": {"user_location": {}},
    "audio": {"voice": "alloy", "format": "wav"},
    "modalities": ["text", "audio"],
    "moderation": {},
    "add_generation_prompt": False,
    "continue_final_message": True,
    "add_special_tokens": True,
    "truncate_prompt_tokens": 100,
    "truncation_side": "left",
    "media_io_kwargs": {"video": {"num_frames": 1}},
    "mm_processor_kwargs": {"use_audio_in_video": True},
    "a_member_that_nobody_knows": 1,
}
OF_VLLM = [
    "messages",
    "model",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "max_tokens",
    "max_completion_tokens",
    "n",
    "presence_penalty",
    "response_format",
    "seed",
    "stop",
    "stream",
    "stream_options",
    "temperature",
    "top_p",
    "tools",
    "tool_choice",
    "reasoning_effort",
    "thinking_token_budget",
    "include_reasoning",
    "parallel_tool_calls",
    "user",
    "use_beam_search",
    "top_k",
    "min_p",
    "repetition_penalty",
    "watermarking",
    "length_penalty",
    "stop_token_ids",
    "include_stop_str_in_output",
    "ignore_eos",
    "min_tokens",
    "skip_special_tokens",
    "spaces_between_special_tokens",
    "truncate_prompt_tokens",
    "truncation_side",
    "prompt_logprobs",
    "logprob_token_ids",
    "allowed_token_ids",
    "bad_words",
    "echo",
    "add_generation_prompt",
    "continue_final_message",
    "add_special_tokens",
    "documents",
    "chat_template",
    "chat_template_kwargs",
    "media_io_kwargs",
    "mm_processor_kwargs",
    "structured_outputs",
    "priority",
    "request_id",
    "session_id",
    "return_tokens_as_token_ids",
    "return_token_ids",
    "routed_experts_prompt_start",
    "return_token_offsets",
    "return_prompt_text",
    "mm_payload",
    "return_mm_kwargs",
    "cache_salt",
    "kv_transfer_params",
    "ec_transfer_params",
    "vllm_xargs",
    "repetition_detection",
    "stream_interval",
]
"""The members of a chat request to vLLM 0.32."""
OF_OPENAI = [
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "metadata",
    "modalities",
    "model",
    "moderation",
    "n",
    "parallel_tool_calls",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "reasoning_effort",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
    "verbosity",
    "web_search_options",
]
"""The members of a chat request in the official client."""


def read(**members: Any) -> Any:
    return read_chat_request(json.dumps({"model": "m", "messages": [message("x")], **members}).encode())


@pytest.mark.parametrize("name", VISIBLE)
def test_a_member_that_the_model_may_see_is_noticed(name: str) -> None:
    assert read(**{name: VISIBLE[name]}).other_input
    assert not read(**{name: None}).other_input


@pytest.mark.parametrize(
    "members",
    [
        {"tool_choice": "auto"},
        {"tool_choice": "none"},
        {"response_format": {"type": "text"}},
        {"add_generation_prompt": True, "continue_final_message": False, "add_special_tokens": False},
        {"temperature": 0.5, "max_tokens": 5, "stop": ["x"], "logit_bias": {"1": 2}, "seed": 1, "n": 2},
        {"stream": True, "stream_options": {"include_usage": True}, "parallel_tool_calls": False},
        {"user": "u", "metadata": {"a": "b"}, "cache_salt": "s", "session_id": "s"},
    ],
    ids=", ".join,
)
def test_what_it_cannot_see_and_what_changes_nothing_is_none_of_it(members: dict[str, Any]) -> None:
    assert not read(**members).other_input


@pytest.mark.parametrize("name", sorted({*OF_VLLM, *OF_OPENAI}))
def test_each_member_of_the_known_protocols_was_thought_of(name: str) -> None:
    """It is visible for a reason that stands above, or never visible."""
    assert has_other_input({name: "any value"}) == (name in VISIBLE)


@pytest.mark.parametrize("name", STRIPPED)
def test_members_that_name_cached_state_or_replace_the_prompt_reach_no_engine(name: str) -> None:
    body = json.dumps({name: "theirs", "model": "m", "messages": [message("x")]})
    forwarded = json.loads(forwarded_body(body, "ours", stream=False))
    assert forwarded.get(name) == ("ours" if name == "cache_salt" else None)


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"chat_template": "{{ x }}"}, "/chat_template"),
        ({"chat_template": ""}, "/chat_template"),
        ({"chat_template_kwargs": {"chat_template": "{{ x }}"}}, "/chat_template_kwargs/chat_template"),
        ({"chat_template": None, "chat_template_kwargs": {"enable_thinking": False}}, None),
        ({"chat_template_kwargs": {"chat_template": None}}, None),
        ({"chat_template_kwargs": ["chat_template"]}, None),
        ({}, None),
    ],
)
def test_a_template_of_the_callers_own_is_found_where_vllm_takes_one(
    members: dict[str, Any], pointer: str | None
) -> None:
    assert read(**members).own_template == pointer


@pytest.mark.parametrize("members", [{}, {"temperature": 0.5, "tool_choice": "none"}])
def test_a_public_prefix_is_everybodys_where_the_model_sees_nothing_else(
    caller_as: As, members: dict[str, Any]
) -> None:
    shared, fragments = hit_across_tenants(caller_as, members)
    assert (shared, fragments) == ("public", ["exact_hit", "exact_hit"])


@pytest.mark.parametrize("name", ["documents", "chat_template_kwargs", "reasoning_effort", "response_format"])
def test_beside_other_input_a_public_prefix_is_the_tenants(caller_as: As, name: str) -> None:
    shared, fragments = hit_across_tenants(caller_as, {name: VISIBLE[name]})
    assert (shared, fragments) == ("tenant", ["exact_hit", "miss"])


def hit_across_tenants(caller_as: As, members: dict[str, Any]) -> tuple[str, list[str]]:
    """Say how widely a public message was shared, and what became of it in its own tenant and in another."""
    words = text()
    replies = [
        caller_as(token).chat(message(words, intent("public")), **members)
        for token in (MONDAY, BOB, NAMESAKE)
    ]
    assert [reply.http for reply in replies] == [200, 200, 200]
    (share,) = {reply.status[0]["effective_share"] for reply in replies}
    return share, [reply.status[0]["outcome"] for reply in replies[1:]]


def test_what_may_change_how_fragments_are_rendered_is_known_by_its_usual_values() -> None:
    usual: Json = {"tool_choice": "none", "parallel_tool_calls": False}
    assert rendering_members({**usual, "temperature": 1, "tools": []}) == usual
    large: Json = {"tool_choice": {"type": "function"}, "parallel_tool_calls": "x" * 1000}
    assert rendering_members(large) == rendering_members({"tool_choice": None}) == {}


def test_a_callers_own_template_is_refused(caller: Caller) -> None:
    for members, pointer in (
        ({"chat_template": "{{ x }}"}, "/chat_template"),
        ({"chat_template_kwargs": {"chat_template": "{{ x }}"}}, "/chat_template_kwargs/chat_template"),
    ):
        reply = caller.chat(message("x"), **members)
        assert (reply.http, reply.error["param"]) == (400, pointer)
        assert reply.error["code"] == "chat_template_not_allowed"


def test_unless_the_operator_allows_it(tmp_path: Path) -> None:
    with running("--allow-chat-template") as (url, _):
        words = text()
        first, second = (
            Caller(url, token).chat(message(words, intent("public")), chat_template="{{ x }}")
            for token in (MONDAY, NAMESAKE)
        )
        assert (first.http, second.each("effective_share")) == (200, ["tenant"])
        assert second.each("outcome") == ["miss"]
