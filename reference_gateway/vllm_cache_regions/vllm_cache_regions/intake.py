"""Bad regions are the sender's fault and get 400, where requests enter vLLM."""

from collections.abc import Callable
from typing import Any

from vllm_cache_regions.carrier import REGIONS, BadRegionsError, carries_regions, parse_regions

Method = Callable[..., Any]


def refusing_bad_regions(stock: Method, problem: Callable[..., Exception]) -> Method:
    """Wrap `InputProcessor.process_inputs`. `problem` makes what vLLM answers 400 to."""

    def process_inputs(
        self: Any, request_id: str, prompt: Any, params: Any, *args: Any, **kwargs: Any
    ) -> Any:
        extra_args = getattr(params, "extra_args", None)
        if not carries_regions(extra_args):
            return stock(self, request_id, prompt, params, *args, **kwargs)
        try:
            parse_regions(extra_args)
        except BadRegionsError as bad:
            raise problem(str(bad), parameter="vllm_xargs") from None
        request = stock(self, request_id, prompt, params, *args, **kwargs)
        if not request.cache_salt:
            raise problem(
                f"{REGIONS}: needs cache_salt beside it, the salt of whatever ignores regions",
                parameter="cache_salt",
            )
        if request.resumable:
            raise problem(f"{REGIONS}: not possible where the input comes in parts", parameter="vllm_xargs")
        return request

    return process_inputs
