"""What of a caller's body reaches the engine: all of it, less what names a partition.

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

from reference_gateway.jsontext import Edit, Spell, edited
from reference_gateway.misplaced import CACHE_INTENT
from reference_gateway.respelling import respelt

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

_ENVELOPE: Final = frozenset(STRIPPED)
_FRAGMENT: Final = Edit(drop=frozenset((CACHE_INTENT, CACHE_SALT, *_WHOSE)))
_PART: Final = Edit(drop=frozenset((CACHE_SALT, "uuid")))
_MESSAGE: Final = Edit(drop=_FRAGMENT.drop, inner={"content": Edit(each=_PART)})
_FRAGMENTS: Final = {"tools": Edit(each=_FRAGMENT), "messages": Edit(each=_MESSAGE)}


def forwarded_body(text: str, salt: str | None, *, stream: bool) -> bytes:
    """Make the engine's body of a caller's, with the partition `salt`; None leaves the engine its default.

    A stream is asked to tell its usage, since that alone tells what was reused.
    """
    put: dict[str, Spell] = {"stream_options": _with_usage} if stream else {}
    if salt is not None:
        put[CACHE_SALT] = lambda _: json.dumps(salt)
    return respelt(text, Edit(drop=_ENVELOPE, put=put, inner=_FRAGMENTS))


def _with_usage(text: str | None) -> str:
    if text is None or text == "null":
        return '{"include_usage":true}'
    return edited(text, Edit(put={"include_usage": lambda _: "true"}))
