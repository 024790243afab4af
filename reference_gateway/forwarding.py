"""What of a caller's body reaches the engine: all of it as it was spelt, less what names a partition.

- `cache_intent` is removed from fragments. It can't stand anywhere else (READ-22), and what the parameters of
  tools, arguments and texts hold is content (BND-4).
- Members by which a caller could name a tenant, a principal, a session or a partition of the cache are
  removed (BND-6). OpenAI's `user`, `safety_identifier`, `prompt_cache_key` and `metadata` are among them
  (READ-15): they tell an engine who is asking or where to look, and nothing about the model's input. `seed`
  is a sampling parameter and passes.
- So are members by which an engine can be told where cached state lies, how long to keep it, or which tokens
  to take in place of those that it would render: vLLM's `kv_transfer_params`, `ec_transfer_params` and
  `vllm_xargs`, a content part's `uuid`, and `request_id`, which is the name of somebody's request; OpenAI's
  `prompt_cache_retention` and `prompt_cache_options`; and what other servers have for that.
"""

import json
from typing import Final

from reference_gateway import jsontext
from reference_gateway.misplaced import CACHE_INTENT

CACHE_SALT: Final = "cache_salt"

_WHOSE: Final = ("tenant", "principal", "session", "group")
STRIPPED: Final = (
    *_WHOSE,
    *(f"{name}_id" for name in _WHOSE),
    *("organization", "organization_id", "project", "project_id"),
    *("user", "user_id", "safety_identifier", "metadata"),
    *(CACHE_SALT, "cache_partition", "cache_namespace", "prompt_cache_key"),
    *("prompt_cache_retention", "prompt_cache_options"),
    *("kv_transfer_params", "ec_transfer_params", "vllm_xargs", "request_id"),
    *("prompt_token_ids", "disaggregated_params"),  # TensorRT-LLM
    *("input_ids", "rid", "extra_key", "session_params"),  # SGLang
    *("bootstrap_host", "bootstrap_port", "bootstrap_room"),
)
"""Members of a caller's body that reach no engine."""
_FRAGMENT: Final = (CACHE_INTENT, CACHE_SALT, *_WHOSE)
_PART: Final = (CACHE_SALT, "uuid")


def forwarded_body(text: str, salt: str | None, *, stream: bool) -> bytes:
    """Make the engine's body of a caller's, with the partition `salt`; None leaves the engine its default.

    A stream is asked to tell its usage, since that alone tells what was reused.
    """
    spelt = jsontext.members(text)
    for name in STRIPPED:
        spelt.pop(name, None)
    if "tools" in spelt:
        spelt["tools"] = jsontext.each(spelt["tools"], _fragment)
    if "messages" in spelt:
        spelt["messages"] = jsontext.each(spelt["messages"], _message)
    if stream:
        spelt["stream_options"] = _with_usage(spelt.get("stream_options", "null"))
    if salt is not None:
        spelt[CACHE_SALT] = json.dumps(salt)
    return jsontext.spell_object(spelt).encode()


def _fragment(text: str) -> str:
    return jsontext.without(text, _FRAGMENT)


def _message(text: str) -> str:
    kept = _fragment(text)
    if "uuid" not in kept and CACHE_SALT not in kept and "\\u" not in kept:
        return kept
    spelt = jsontext.members(kept)
    if "content" in spelt:
        spelt["content"] = jsontext.each(spelt["content"], lambda part: jsontext.without(part, _PART))
    return jsontext.spell_object(spelt)


def _with_usage(text: str) -> str:
    spelt = {} if text == "null" else jsontext.members(text)
    return jsontext.spell_object({**spelt, "include_usage": "true"})
