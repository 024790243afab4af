"""Talk to the gateway over HTTP."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

import requests

Json = dict[str, Any]

MONDAY = "fake-acme-alice-monday"
TUESDAY = "fake-acme-alice-tuesday"
NO_SESSION = "fake-acme-alice"
BOB = "fake-acme-bob"
NAMESAKE = "fake-globex-alice"


def intent(share_max: str = "tenant", reuse: str = "exact", **changes: Any) -> Json:
    """An intent; `mode`, `max_age` and `namespace` go where they belong, the rest on the intent itself."""
    retention = {"mode": changes.pop("mode", "allow")}
    if "max_age" in changes:
        retention["max_age"] = changes.pop("max_age")
    constraints: Json = {"retention": retention, "reuse": reuse, "share_max": share_max}
    if "namespace" in changes:
        constraints["namespace"] = changes.pop("namespace")
    return {"version": 1, "constraints": constraints, **changes}


def message(text: str, intent: Json | None = None, **members: Any) -> Json:
    fragment: Json = {"role": "user", "content": text, **members}
    return fragment if intent is None else {**fragment, "cache_intent": intent}


def tool(name: str, intent: Json | None = None, parameters: Json | None = None) -> Json:
    function = {"name": name, "parameters": parameters or {"type": "object", "properties": {}}}
    fragment: Json = {"type": "function", "function": function}
    return fragment if intent is None else {**fragment, "cache_intent": intent}


def text(words: int = 100) -> str:
    """A text that no other test has used, many cache blocks long."""
    nonce = uuid.uuid4().hex
    return f"{nonce} " + " ".join(f"{nonce[:8]}-{index}" for index in range(words))


@dataclass(frozen=True)
class Reply:
    """A response, plain or put together from a stream."""

    http: int
    body: Json
    chunks: tuple[Json, ...] = ()

    @property
    def cached(self) -> int:
        cached: int = self.body["usage"]["prompt_tokens_details"]["cached_tokens"]
        return cached

    @property
    def status(self) -> list[Json]:
        status: list[Json] = self.body["cache_status"]
        return status

    def each(self, member: str) -> list[Any]:
        return [entry[member] for entry in self.status]

    @property
    def error(self) -> Json:
        error: Json = self.body["error"]
        return error

    @property
    def answer(self) -> str:
        if not self.chunks:
            answer: str = self.body["choices"][0]["message"]["content"]
            return answer
        deltas = [
            choice["delta"] for chunk in self.chunks for choice in chunk["choices"] if choice["index"] == 0
        ]
        return "".join(delta.get("content") or "" for delta in deltas)


@dataclass(frozen=True)
class Caller:
    """Somebody with a token."""

    url: str
    token: str = MONDAY
    model: str = "embedded"

    def post(self, body: bytes | Json, **headers: str) -> Reply:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **headers}
        with requests.post(
            f"{self.url}/v1/chat/completions", data=data, headers=headers, timeout=30
        ) as response:
            if response.headers["Content-Type"].startswith("text/event-stream"):
                return self._streamed(response)
            return Reply(response.status_code, response.json())

    def chat(self, *fragments: Json, stream: bool = False, **members: Any) -> Reply:
        """Send fragments, tools and messages told apart by their members."""
        messages = [one for one in fragments if "role" in one]
        body: Json = {"model": self.model, "messages": messages, **members}
        tools = [one for one in fragments if "role" not in one]
        if tools:
            body["tools"] = tools
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return self.post(body)

    @staticmethod
    def _streamed(response: requests.Response) -> Reply:
        events = response.content.decode().split("\n\n")
        assert events.pop() == ""
        assert all(event.startswith("data: ") for event in events)
        *chunks, done = (event.removeprefix("data: ") for event in events)
        assert done == "[DONE]"
        parsed = tuple(json.loads(chunk) for chunk in chunks)
        return Reply(response.status_code, parsed[-1], parsed)
