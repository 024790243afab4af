"""Which members of a chat body a model may see although they are no fragments (READ-38).

No intent speaks for what they hold, and a template may put it anywhere, or render fragments in another order
because of it. So they force one policy for the whole request, no wider than the tenant.

What is known here is what vLLM 0.32 keeps from the model. Any other member counts as visible, also one that
no engine knows: what was forgotten costs reuse and no isolation.
"""

from collections.abc import Mapping
from typing import Final

from cctest.contract.source import JsonValue, child
from reference_gateway.request.stripped import STRIPPED

_FRAGMENTS: Final = ("messages", "tools")
_ANSWER: Final = (
    *("model", "n", "stream", "stream_options", "stream_interval", "echo", "include_reasoning"),
    *("logprobs", "top_logprobs", "prompt_logprobs", "logprob_token_ids", "return_tokens_as_token_ids"),
    *("return_token_ids", "return_token_offsets", "return_prompt_text", "routed_experts_prompt_start"),
    *("mm_payload", "return_mm_kwargs", "priority", "service_tier", "store"),
)
"""How many answers, how soon, and what is told with them."""
_SAMPLING: Final = (
    *("temperature", "top_p", "top_k", "min_p", "seed", "use_beam_search", "watermarking"),
    *("frequency_penalty", "presence_penalty", "repetition_penalty", "length_penalty", "logit_bias"),
    *("max_tokens", "max_completion_tokens", "min_tokens", "stop", "stop_token_ids", "ignore_eos"),
    *("allowed_token_ids", "bad_words", "repetition_detection", "thinking_token_budget"),
    *("include_stop_str_in_output", "skip_special_tokens", "spaces_between_special_tokens"),
    "parallel_tool_calls",
)
_INVISIBLE: Final = frozenset({*_FRAGMENTS, *_ANSWER, *_SAMPLING, *STRIPPED})

_WITHOUT_EFFECT: Final[Mapping[str, tuple[JsonValue, ...]]] = {
    "add_generation_prompt": (True,),
    "add_special_tokens": (False,),
    "continue_final_message": (False,),
    "tool_choice": ("auto", "none"),
    "response_format": ({"type": "text"},),
}
"""Values that every request without the member has anyway, or that hold nothing of the caller's."""

_RENDERING: Final = ("tool_choice", "parallel_tool_calls")
"""Of the members that force nothing, those by which fragments may be rendered otherwise: tools that may not
be called are left out by some engines."""
_RENDERING_VALUES: Final[tuple[JsonValue, ...]] = ("auto", "none", True, False)


def has_other_input(members: Mapping[str, JsonValue]) -> bool:
    """Tell whether a body has members that the model may see and that are no fragments. Null is absence."""
    return any(
        name not in _INVISIBLE and value is not None and value not in _WITHOUT_EFFECT.get(name, ())
        for name, value in members.items()
    )


def rendering_members(members: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Give the members that may change how fragments are rendered, for whoever has them rendered.

    Other values than those that are known are left to the engine to refuse: they may be of any size.
    """
    return {name: members[name] for name in _RENDERING if members.get(name) in _RENDERING_VALUES}


def own_template(members: Mapping[str, JsonValue]) -> str | None:
    """Give the place of a template that the caller supplies; None where there is none.

    vLLM takes one from two places.
    """
    if members.get("chat_template") is not None:
        return child("", "chat_template")
    arguments = members.get("chat_template_kwargs")
    if isinstance(arguments, dict) and arguments.get("chat_template") is not None:
        return child(child("", "chat_template_kwargs"), "chat_template")
    return None
