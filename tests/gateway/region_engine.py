"""A small engine with the plugin's carrier: blocks in a cache, a template, and vLLM's end points around it.

What requests carry is read and held against their tokens by the plugin's own modules; the cache is written
out here. It can be started anew on its port, with the plugin or without it.
"""

import json
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from jinja2 import Template
from jinja2.exceptions import TemplateError

from gateway.rendering_engine import environment
from gateway.talk import Json
from reference_gateway.live.model import TEMPLATE
from vllm_cache_regions import VERSION
from vllm_cache_regions.carrier import BadRegionsError, carries_regions, parse_regions
from vllm_cache_regions.plan import Plan, bound_plan, flat_plan

MODEL = "regional"
BLOCK = 16
_PIECE = re.compile(r" ?[^ ]{1,4}| ")


@cache
def compiled(template: str) -> Template:
    return environment().from_string(template)


@dataclass
class Block:
    taken: float
    until: float


@dataclass
class RegionEngine:
    """The members tell what it has and how it behaves; `late` is by how many seconds its clock is ahead."""

    plugin: bool = True
    active: bool = True
    version: str = VERSION
    has_render: bool = True
    has_tokenize: bool = True
    absent: int = 404
    """The status where there is no render."""
    tells_usage: bool = True
    ignores_regions: bool = False
    """It says that regions are in force, and they aren't."""
    template: str = TEMPLATE
    models: list[str] = field(default_factory=lambda: [MODEL])
    late: float = 0.0
    instance: str = field(default_factory=lambda: secrets.token_hex(4))
    visits: list[tuple[str, Json]] = field(default_factory=list)
    before: Callable[[str, Json], None] = lambda _, __: None
    """What happens before a request is answered."""

    def __post_init__(self) -> None:
        self._blocks: dict[object, Block] = {}
        self._known: dict[str, int] = {}
        self._pieces: list[str] = []
        self._lock = threading.RLock()

    def start_anew(self, *, plugin: bool) -> None:
        """Be another start of the engine, with nothing cached."""
        with self._lock:
            self.plugin, self.instance = plugin, secrets.token_hex(4)
            self._blocks = {}

    def chats(self) -> list[Json]:
        return [
            body
            for path, body in self.visits
            if path == "/v1/chat/completions" and "return_token_ids" not in body
        ]

    def renders(self) -> list[Json]:
        """Bodies that were rendered without being computed."""
        paths = ("/v1/chat/completions/render", "/tokenize")
        return [body for path, body in self.visits if path in paths and "messages" in body]

    def get(self, path: str) -> tuple[int, Json | str]:
        if path == "/v1/models":
            return 200, {"data": [{"id": name} for name in self.models]}
        if path == "/metrics":
            return 200, f'vllm:cache_config_info{{block_size="{BLOCK}"}} 1.0\n'
        if path == "/cache_regions" and self.plugin:
            return 200, {
                "plugin": "vllm_cache_regions",
                "version": self.version,
                "instance": self.instance,
                "active": self.active,
                "block_size": BLOCK,
            }
        return 404, {"detail": "Not Found"}

    def post(self, path: str, body: Json) -> tuple[int, Json]:
        self.visits.append((path, body))
        self.before(path, body)
        with self._lock:
            try:
                return self._post(path, body)
            except TemplateError as error:
                return 400, {"error": {"message": str(error)}}

    def _post(self, path: str, body: Json) -> tuple[int, Json]:
        if path == "/v1/chat/completions/render" and self.has_render:
            return 200, {"token_ids": self.rendered(body)}
        if path == "/v1/chat/completions/render":
            return self.absent, {"detail": "not here"}
        if path == "/tokenize" and self.has_tokenize:
            tokens = self.tokens(body["prompt"]) if "prompt" in body else self.rendered(body)
            return 200, {"tokens": tokens}
        if path == "/detokenize":
            return 200, {"prompt": self.text(body["tokens"])}
        if path == "/v1/completions":
            return self._completed(body, body["prompt"], {"text": " ok"})
        if path == "/v1/chat/completions":
            return self._completed(
                body, self.rendered(body), {"message": {"role": "assistant", "content": "ok"}}
            )
        return 404, {"detail": "Not Found"}

    def rendered(self, body: Json) -> list[int]:
        """Give the tokens of a conversation."""
        tools = None if body.get("tool_choice") == "none" else body.get("tools")
        return self.tokens(
            compiled(self.template).render(messages=body["messages"], tools=tools, add_generation_prompt=True)
        )

    def tokens(self, text: str) -> list[int]:
        for piece in (pieces := _PIECE.findall(text)):
            if piece not in self._known:
                self._known[piece] = len(self._pieces)
                self._pieces.append(piece)
        return [self._known[piece] for piece in pieces]

    def text(self, tokens: Sequence[int]) -> str:
        return "".join(self._pieces[token] for token in tokens)

    def _completed(self, body: Json, tokens: list[int], answer: Json) -> tuple[int, Json]:
        try:
            plan = self.plan(body, tokens)
        except BadRegionsError as error:
            return 400, {"error": {"message": str(error)}}
        usage: Json = {"prompt_tokens": len(tokens), "completion_tokens": 1, "prompt_tokens_details": None}
        cached = self.computed(plan, tokens)
        if self.tells_usage:
            usage["prompt_tokens_details"] = {"cached_tokens": cached}
        told: Json = {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "usage": usage,
        }
        if body.get("return_token_ids"):
            told["prompt_token_ids"] = tokens
        return 200, {**told, "choices": [{"index": 0, "finish_reason": "stop", **answer}]}

    def plan(self, body: Json, tokens: list[int]) -> Plan:
        salt, extra = body.get("cache_salt") or "", body.get("vllm_xargs")
        if not self.plugin or self.ignores_regions or not carries_regions(extra):
            return flat_plan(salt, ())
        if not salt:
            raise BadRegionsError("salt_regions", "needs cache_salt")
        return bound_plan(parse_regions(extra), tokens, salt)[0]

    def computed(self, plan: Plan, tokens: list[int]) -> int:
        """Compute a prompt; give how many of its tokens were read instead."""
        now = time.monotonic() + self.late
        reading, cached, until = True, 0, float("inf")
        parent: object = plan.first_salt
        for start in range(0, len(tokens) - BLOCK + 1, BLOCK):
            end = start + BLOCK
            identity = hash((parent, tuple(tokens[start:end]), plan.inner_keys(start, end)))
            max_age = plan.max_age(start, end)
            limit = float("inf") if max_age is None else max_age
            block = self._blocks.get(identity)
            reading = reading and block is not None and now < block.until and now < block.taken + limit
            reading = reading and end < len(tokens)
            if block is None or not reading:
                block = self._blocks[identity] = Block(now, min(until, now + limit))
            until = min(until, block.until)
            cached += BLOCK * reading
            parent = identity
        return cached


class Serving:
    """The engine at an address of its own, for as long as it is up."""

    def __init__(self, engine: RegionEngine, port: int = 0) -> None:
        self.engine = engine
        self._server = self._started(port)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        """End it with all of its connections, as a process does."""
        self._server.shutdown()
        self._server.server_close()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    def start_anew(self, *, plugin: bool) -> None:
        self.stop()
        self.engine.start_anew(plugin=plugin)
        self._server = self._started(self.port)

    def _started(self, port: int) -> ThreadingHTTPServer:
        engine = self.engine
        connections: list[socket.socket] = []
        self._connections = connections

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def setup(self) -> None:
                connections.append(self.request)
                super().setup()

            def do_GET(self) -> None:
                self._say(*engine.get(self.path))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, told = engine.post(self.path, body)
                if body.get("stream") and status == 200:
                    self._stream(told)
                else:
                    self._say(status, told)

            def log_message(self, *_: object) -> None:
                pass

            def _stream(self, told: Json) -> None:
                chunk = {**told, "object": "chat.completion.chunk", "usage": None}
                choices = [{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}]
                events = [{**chunk, "choices": choices}, {**chunk, "choices": [], "usage": told["usage"]}]
                spelt = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
                self._write(200, spelt.encode(), "text/event-stream")

            def _say(self, status: int, told: Json | str) -> None:
                text = told if isinstance(told, str) else json.dumps(told)
                self._write(status, text.encode(), "application/json")

            def _write(self, status: int, body: bytes, kind: str) -> None:
                with suppress(OSError):
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """A connection that was cut is none."""

        server = Server(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        self._thread.start()
        return server


@contextmanager
def serving(engine: RegionEngine, port: int = 0) -> Iterator[Serving]:
    served = Serving(engine, port)
    try:
        yield served
    finally:
        served.stop()
