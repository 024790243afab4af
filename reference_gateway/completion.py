"""OpenAI's response objects: one for a plain answer, chunks for a streamed one."""

import json
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from cctest.contract.source import JsonValue
from reference_gateway.backend import Served

DONE: Final = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Completion:
    """One answered request. `status` is its `cache_status`, None for none."""

    model: str
    served: Served
    status: list[JsonValue] | None
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def plain(self) -> dict[str, JsonValue]:
        """Give the response object."""
        choices: list[JsonValue] = [
            {
                "index": index,
                "message": {"role": "assistant", "content": answer, "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
            for index, answer in enumerate(self.served.answers)
        ]
        response = self._envelope("chat.completion", choices)
        response["usage"] = self._usage()
        return self._with_status(response)

    def events(self, *, include_usage: bool) -> Iterator[bytes]:
        """Yield the server-sent events of a stream; the last data chunk carries the status (READ-10)."""
        *chunks, last = self._chunks(include_usage=include_usage)
        for chunk in chunks:
            yield _event(chunk)
        yield _event(self._with_status(last))
        yield DONE

    def _chunks(self, *, include_usage: bool) -> Iterator[dict[str, JsonValue]]:
        for index, answer in enumerate(self.served.answers):
            yield self._chunk(index, {"role": "assistant", "content": ""}, include_usage=include_usage)
            for piece in answer.partition(" canary="):
                yield self._chunk(index, {"content": piece}, include_usage=include_usage)
            yield self._chunk(index, {}, include_usage=include_usage, finish_reason="stop")
        if include_usage:
            chunk = self._envelope("chat.completion.chunk", [])
            chunk["usage"] = self._usage()
            yield chunk

    def _chunk(
        self,
        index: int,
        delta: dict[str, JsonValue],
        *,
        include_usage: bool,
        finish_reason: str | None = None,
    ) -> dict[str, JsonValue]:
        choice: dict[str, JsonValue] = {
            "index": index,
            "delta": delta,
            "logprobs": None,
            "finish_reason": finish_reason,
        }
        chunk = self._envelope("chat.completion.chunk", [choice])
        if include_usage:
            chunk["usage"] = None
        return chunk

    def _envelope(self, kind: str, choices: list[JsonValue]) -> dict[str, JsonValue]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }

    def _usage(self) -> dict[str, JsonValue]:
        served = self.served
        return {
            "prompt_tokens": served.prompt_tokens,
            "completion_tokens": served.completion_tokens,
            "total_tokens": served.prompt_tokens + served.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": served.cached_tokens},
        }

    def _with_status(self, response: dict[str, JsonValue]) -> dict[str, JsonValue]:
        return response if self.status is None else {**response, "cache_status": self.status}


def _event(chunk: dict[str, JsonValue]) -> bytes:
    return b"data: " + json.dumps(chunk, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"
