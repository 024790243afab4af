"""A gateway of a few lines with one prefix cache, for tests of what is asked before a probe."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from local_server import Visit

CAPABILITIES = {
    "cache_intent_capabilities": {
        "versions": [1],
        "constraints": {
            "retention_modes": ["allow", "forbid"],
            "retention_max_age": True,
            "reuse": ["none", "exact"],
            "share_max": ["request", "session", "principal", "tenant", "public"],
            "namespace": True,
        },
        "on_unenforceable": "reject",
        "status": True,
    }
}


@dataclass
class SmallGateway:
    """Knows tokens by tenant; how it differs from a good one is said by its fields."""

    tenants: Mapping[str, str]
    partition: Callable[[str], str] = lambda tenant: tenant
    capabilities: Any = field(default_factory=lambda: CAPABILITIES)
    header: str = "authorization: bearer "
    base_path: str = "/v1"
    shortest: int = 0
    usage: bool = True
    status: bool = True
    lets_anybody_in: bool = False
    refusal: str = "401 Unauthorized"
    model: str | None = None
    failure: str | None = None
    awry: Callable[[int, Mapping[str, Any]], str | None] = lambda number, body: None
    """Gives the status with which a chat request is refused, by its number from 1 and its body."""
    asked: int = 0
    held: set[tuple[str, str]] = field(default_factory=set)
    chats: int = 0

    def __call__(self, visit: Visit) -> None:
        line, _, rest = visit.head.decode().partition("\r\n")
        token = next(
            (name[len(self.header) :] for name in rest.split("\r\n") if name.lower().startswith(self.header)),
            "",
        )
        if self.failure is not None:
            visit.respond(b"", status=self.failure)
        elif f"{self.base_path}/cache_intent_capabilities " in line and self.capabilities:
            visit.respond(json.dumps(self.capabilities).encode(), "Content-Type: application/json")
        elif f"{self.base_path}/chat/completions " not in line:
            visit.respond(b"{}", status="404 Not Found")
        elif token not in self.tenants and not self.lets_anybody_in:
            visit.respond(b'{"error": {"code": "unauthorized"}}', status=self.refusal)
        else:
            self._hear(visit, json.loads(visit.body), self.tenants.get(token, ""))

    def _hear(self, visit: Visit, body: Mapping[str, Any], tenant: str) -> None:
        self.asked += 1
        refused = self.awry(self.asked, body)
        if refused is not None:
            visit.respond(b'{"error": {"code": "awry"}}', status=refused)
        elif self.model not in (None, body["model"]):
            visit.respond(b'{"error": {"code": "model_not_found"}}', status="404 Not Found")
        else:
            self._answer(visit, body, tenant)

    def _answer(self, visit: Visit, body: Mapping[str, Any], tenant: str) -> None:
        self.chats += 1
        prefix = str(body["messages"][0].get("content"))
        key = (self.partition(tenant), prefix)
        words = sum(len(str(message["content"]).split()) for message in body["messages"])
        hit = key in self.held
        governed = "cache_intent" in body["messages"][0]
        if governed and words >= self.shortest:
            self.held.add(key)
        answer: dict[str, Any] = {"choices": [{"index": 0, "message": {"content": "yes"}}]}
        if self.usage:
            details = {"cached_tokens": len(prefix.split()) if hit else 0}
            answer["usage"] = {"prompt_tokens": words, "prompt_tokens_details": details}
        if self.status and governed:
            entry = {"outcome": "exact_hit" if hit else "miss", "constraint_result": "satisfied"}
            answer["cache_status"] = [entry]
        if body.get("stream"):
            answer["choices"][0]["delta"] = answer["choices"][0].pop("message")
            text = f"data: {json.dumps(answer)}\n\ndata: [DONE]\n\n"
            visit.respond(text.encode(), "Content-Type: text/event-stream")
        else:
            visit.respond(json.dumps(answer).encode(), "Content-Type: application/json")
