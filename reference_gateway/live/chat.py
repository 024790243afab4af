"""One chat request to an engine or a gateway, and what the response tells of the cache."""

import json
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
class Timed:
    """An answer, and the seconds from the request to its first token; None where there is none."""

    seconds: float | None
    answer: Answer


@dataclass(frozen=True, slots=True)
class Client:
    """Somebody who asks the server at `url`, which has no `/v1`.

    `intents` is whether fragments keep theirs, and `beside` what stands beside the fragments in each body.
    """

    url: str
    model: str
    headers: Mapping[str, str]
    intents: bool = True
    beside: Mapping[str, Any] = field(default_factory=dict)

    def ask(self, *fragments: Json, **members: Any) -> Answer:
        """Send tools and messages, told apart by their members, with `members` beside them in the body."""
        with self._post(self._body(fragments, members)) as response:
            if _is_stream(response):
                return _put_together(response.status_code, response.iter_lines())
            return Answer(response.status_code, response.json())

    def ask_for_first_token(self, *fragments: Json, **members: Any) -> Timed:
        """Ask for a stream, and say when its first token came: the time that somebody waits for an answer."""
        asked = {"stream": True, "stream_options": {"include_usage": True}, **members}
        body = self._body(fragments, asked)
        began, first, lines = time.perf_counter(), None, []
        with self._post(body) as response:
            if not _is_stream(response):
                return Timed(None, Answer(response.status_code, response.json()))
            for line in response.iter_lines(chunk_size=None):
                if first is None and _has_token(line):
                    first = time.perf_counter() - began
                lines.append(line)
        return Timed(first, _put_together(response.status_code, lines))

    def _body(self, fragments: Iterable[Json], members: Mapping[str, Any]) -> Json:
        sent = [fragment if self.intents else without_intent(fragment) for fragment in fragments]
        body: Json = {"model": self.model, "max_tokens": 2, "temperature": 0, **by_kind(sent)}
        if "tools" in body:
            body["tool_choice"] = "none"
        return {**body, **self.beside, **members}

    def _post(self, body: Json) -> requests.Response:
        return requests.post(
            f"{self.url}/v1/chat/completions",
            json=body,
            headers=dict(self.headers),
            timeout=_SECONDS,
            stream=True,
        )


def by_kind(fragments: Iterable[Json]) -> Json:
    """Give the members of a body that hold fragments: tools, if there are any, and messages."""
    tools: list[Json] = []
    messages: list[Json] = []
    for fragment in fragments:
        (messages if "role" in fragment else tools).append(fragment)
    return {"tools": tools, "messages": messages} if tools else {"messages": messages}


def without_intent(fragment: Json) -> Json:
    """Take the intent off, as a gateway does, so that an engine gets the same bytes without one."""
    return {name: value for name, value in fragment.items() if name != "cache_intent"}


def _is_stream(response: requests.Response) -> bool:
    return response.headers.get("Content-Type", "").startswith("text/event-stream")


def _has_token(line: bytes) -> bool:
    """Whether a line of a stream brings a token, or the end, which can't come before the first one."""
    if not line.startswith(b"data: {"):
        return False
    choices = json.loads(line.removeprefix(b"data: ")).get("choices")
    return bool(choices) and bool(choices[0]["delta"].get("content") or choices[0].get("finish_reason"))


def _put_together(http: int, lines: Iterable[bytes]) -> Answer:
    sent = (line.removeprefix(b"data: ") for line in lines)
    chunks = tuple(json.loads(line) for line in sent if line.startswith(b"{"))
    telling = [chunk for chunk in chunks if chunk.get("usage")]
    return Answer(http, telling[-1] if telling else chunks[-1], chunks)


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
