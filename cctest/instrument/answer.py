"""The engine's answer: OpenAI's response objects, with a canary that no other computation has."""

import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from cctest.contract.source import JsonValue
from cctest.instrument.misbehaviour import UsageFault
from cctest.instrument.template import tokenize

SENTENCE: Final = "This comes from an instrument, not from a language model."


def new_canary() -> str:
    """Draw a canary: 32 hex digits."""
    return secrets.token_hex(16)


@dataclass(frozen=True, slots=True)
class Answer:
    """One answered request; `cached_tokens` is None where the engine doesn't tell it."""

    model: str
    canaries: tuple[str, ...]
    prompt_tokens: int
    cached_tokens: int | None
    finish_reason: str = "stop"
    usage_fault: UsageFault | None = None
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def plain(self) -> dict[str, JsonValue]:
        """Give the response object."""
        choices: list[JsonValue] = [
            {
                "index": index,
                "message": {"role": "assistant", "content": "".join(_pieces(canary)), "refusal": None},
                "logprobs": None,
                "finish_reason": self.finish_reason,
            }
            for index, canary in enumerate(self.canaries)
        ]
        response = self._envelope("chat.completion", choices)
        if self.usage_fault is not UsageFault.ABSENT:
            response["usage"] = self._usage(self._completion_tokens)
        return response

    def text_completion(self) -> dict[str, JsonValue]:
        """Give the response object of a completion that is no chat."""
        choices: list[JsonValue] = [
            {
                "index": index,
                "text": "".join(_pieces(canary)),
                "logprobs": None,
                "finish_reason": self.finish_reason,
            }
            for index, canary in enumerate(self.canaries)
        ]
        return self._envelope("text_completion", choices) | {"usage": self._usage(self._completion_tokens)}

    def chunks(self, *, include_usage: bool) -> Iterator[dict[str, JsonValue]]:
        """Yield the chunks of a stream."""
        spoken = 0
        for index, canary in enumerate(self.canaries):
            yield self._chunk(index, {"role": "assistant", "content": ""}, spoken)
            for piece in _pieces(canary):
                spoken += len(tokenize(piece))
                yield self._chunk(index, {"content": piece}, spoken)
            yield self._chunk(index, {}, spoken, self.finish_reason)
        if include_usage:
            for usage in self._usage_parts():
                yield self._envelope("chat.completion.chunk", []) | {"usage": usage}

    def _chunk(
        self, index: int, delta: dict[str, JsonValue], spoken: int, finish_reason: str | None = None
    ) -> dict[str, JsonValue]:
        choice: JsonValue = {
            "index": index,
            "delta": delta,
            "logprobs": None,
            "finish_reason": finish_reason,
        }
        chunk = self._envelope("chat.completion.chunk", [choice])
        if self.usage_fault is UsageFault.EVERY_CHUNK:
            chunk["usage"] = self._usage(spoken)
        return chunk

    def _envelope(self, kind: str, choices: list[JsonValue]) -> dict[str, JsonValue]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.model,
            "choices": choices,
        }

    @property
    def _completion_tokens(self) -> int:
        return sum(len(tokenize(piece)) for canary in self.canaries for piece in _pieces(canary))

    def _usage_parts(self) -> list[dict[str, JsonValue]]:
        if self.usage_fault is UsageFault.ABSENT:
            return []
        usage = self._usage(self._completion_tokens)
        if self.usage_fault is not UsageFault.SPLIT:
            return [usage]
        return [{name: value} for name, value in usage.items() if name != "total_tokens"]

    def _usage(self, completion_tokens: int) -> dict[str, JsonValue]:
        return {
            "prompt_tokens": self.prompt_tokens,
            "total_tokens": self.prompt_tokens + completion_tokens,
            "completion_tokens": completion_tokens,
            "prompt_tokens_details": self._details(),
        }

    def _details(self) -> JsonValue:
        if self.usage_fault is UsageFault.NULL_DETAILS or self.cached_tokens is None:
            return None
        cached: JsonValue = self.cached_tokens
        if self.usage_fault is UsageFault.STRING:
            cached = str(cached)
        elif self.usage_fault is UsageFault.BOOLEAN:
            cached = False
        elif self.usage_fault is UsageFault.LARGER_THAN_PROMPT:
            cached = self.prompt_tokens + 1
        return {"cached_tokens": cached}


def _pieces(canary: str) -> tuple[str, ...]:
    """Give an answer's text in the pieces in which it is streamed."""
    return (*SENTENCE.partition(", "), " canary=", canary[:16], canary[16:])
