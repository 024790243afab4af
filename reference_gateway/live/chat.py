"""One chat request to an engine or a gateway, and what the response tells of the cache."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import requests

Json: TypeAlias = dict[str, Any]

_SECONDS: Final = 120.0
_SENTENCES: Final = (
    "Answer in the language of the question.",
    "Name the source of every figure.",
    "Say so where you don't know.",
    "Keep to the matter in hand.",
    "Never repeat the question.",
    "Ask back where something is missing.",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, plain or put together from a stream. `body` is the plain one, or the last chunk with usage.

    `prompt` and `cached` are counts of tokens; None where the response doesn't tell.
    """

    http: int
    body: Json
    chunks: tuple[Json, ...] = ()

    @property
    def prompt(self) -> int | None:
        """Tokens of the prompt."""
        return (self.body.get("usage") or {}).get("prompt_tokens")

    @property
    def cached(self) -> int | None:
        """Tokens that weren't computed but read from the cache."""
        details = (self.body.get("usage") or {}).get("prompt_tokens_details") or {}
        return details.get("cached_tokens")

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What the gateway says became of each fragment with an intent, in order."""
        bodies = (*self.chunks, self.body)
        found = [body["cache_status"] for body in bodies if body.get("cache_status") is not None]
        return tuple(entry["outcome"] for entry in found[-1]) if found else ()


@dataclass(frozen=True, slots=True)
class Client:
    """Somebody who asks the server at `url`, which has no `/v1`."""

    url: str
    model: str
    headers: Mapping[str, str]

    def ask(self, *fragments: Json, **members: Any) -> Answer:
        """Send tools and messages, told apart by their members, with `members` beside them in the body."""
        body: Json = {"model": self.model, "max_tokens": 2, "temperature": 0}
        tools = [fragment for fragment in fragments if "role" not in fragment]
        if tools:
            body |= {"tools": tools, "tool_choice": "none"}
        body |= {"messages": [fragment for fragment in fragments if "role" in fragment], **members}
        with requests.post(
            f"{self.url}/v1/chat/completions", json=body, headers=dict(self.headers), timeout=_SECONDS
        ) as response:
            if response.headers.get("Content-Type", "").startswith("text/event-stream"):
                return _put_together(response)
            return Answer(response.status_code, response.json())


def _put_together(response: requests.Response) -> Answer:
    lines = (line.removeprefix("data: ") for line in response.content.decode().split("\n\n"))
    chunks = tuple(json.loads(line) for line in lines if line.startswith("{"))
    telling = [chunk for chunk in chunks if chunk.get("usage")]
    return Answer(response.status_code, telling[-1] if telling else chunks[-1], chunks)


def message(text: str, role: str = "user", intent: Json | None = None) -> Json:
    """Give a message, with an intent if there is one."""
    fragment: Json = {"role": role, "content": text}
    return fragment if intent is None else fragment | {"cache_intent": intent}


def tool(name: str, description: str, intent: Json | None = None) -> Json:
    """Give a tool's definition, with an intent if there is one."""
    parameters = {"type": "object", "properties": {"query": {"type": "string"}}}
    function = {"name": name, "description": description, "parameters": parameters}
    fragment: Json = {"type": "function", "function": function}
    return fragment if intent is None else fragment | {"cache_intent": intent}


def intent(share_max: str, reuse: str = "exact", **retention: Any) -> Json:
    """Give an intent. `retention` is what that constraint says beside `mode`, which is `allow` by default."""
    constraints = {"retention": {"mode": "allow", **retention}, "reuse": reuse, "share_max": share_max}
    return {"version": 1, "constraints": constraints}


def text(sentences: int = 150) -> str:
    """Give a text that nobody has sent before, different from its first word on.

    150 sentences have some 5,000 bytes: many blocks of any engine's.
    """
    nonce = secrets.token_hex(8)
    return " ".join(
        (nonce, *(f"{number}. {_SENTENCES[number % len(_SENTENCES)]}" for number in range(sentences)))
    )
