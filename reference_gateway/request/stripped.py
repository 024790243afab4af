"""Members of a caller's body that reach no engine.

- Members by which a caller could name a tenant, a principal, a session or a partition of the cache are
  removed (BND-6). OpenAI's `user`, `safety_identifier`, `prompt_cache_key` and `metadata` are among them
  (READ-15): they tell an engine who is asking or where to look, and nothing about the model's input. `seed`
  is a sampling parameter and passes.
- So are members by which an engine can be told where cached state lies, how long to keep it, or which tokens
  to take in place of those that it would render: vLLM's `kv_transfer_params`, `ec_transfer_params` and
  `vllm_xargs`, a content part's `uuid`, and `request_id`, which is the name of somebody's request; OpenAI's
  `prompt_cache_retention` and `prompt_cache_options`; and what other servers have for that.
"""

from typing import Final

CACHE_SALT: Final = "cache_salt"

WHOSE: Final = ("tenant", "principal", "session", "group")
STRIPPED: Final = (
    *WHOSE,
    *(f"{name}_id" for name in WHOSE),
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
