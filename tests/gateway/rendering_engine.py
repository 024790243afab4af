"""An engine that only renders: Jinja as model repositories are rendered, and vLLM's end points around it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

Json = dict[str, Any]


class RenderingEngine:
    """Renders `template`; the members tell which end points it has and how they behave."""

    def __init__(self, template: str) -> None:
        self.template = template
        self.chat_template: str | None = None
        """What chat renders, where that isn't what `/tokenize` renders."""
        self.models = ["rendered"]
        self.has_render = False
        self.has_tokenize = True
        self.has_tool_parser = False
        self.up = True
        self.asked: list[str] = []
        self._known: dict[str, int] = {}
        self._pieces: list[str] = []

    def answer(self, path: str, body: Json) -> tuple[int, Json]:
        self.asked.append(path)
        if not self.up:
            return 503, {}
        if path == "/v1/models":
            return 200, {"data": [{"id": name} for name in self.models]}
        if path == "/detokenize":
            return 200, {"prompt": "".join(self._pieces[token] for token in body["tokens"])}
        if path == "/tokenize" and self.has_tokenize:
            return self._rendered(self.template, body, "tokens")
        chat = self.chat_template or self.template
        if path == "/v1/chat/completions/render" and self.has_render:
            return self._rendered(chat, body, "token_ids", strict=True)
        if path == "/v1/chat/completions":
            assert body["cache_salt"]
            assert body["max_tokens"] == 1
            return self._rendered(chat, body, "prompt_token_ids", strict=True)
        return 404, {"detail": "Not Found"}

    def _rendered(self, template: str, body: Json, member: str, *, strict: bool = False) -> tuple[int, Json]:
        if strict and body.get("tools") and body.get("tool_choice") != "none" and not self.has_tool_parser:
            return 400, {"error": {"message": '"auto" tool choice requires a parser'}}
        try:
            text = (
                environment()
                .from_string(template)
                .render(messages=body["messages"], tools=body.get("tools"), add_generation_prompt=True)
            )
        except TemplateError as error:
            return 400, {"error": {"message": str(error)}}
        return 200, {member: self._tokens(text)}

    def _tokens(self, text: str) -> list[int]:
        """Cut a text so that a word is cut differently in different places, as tokenizers do."""
        pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
        for piece in pieces:
            if piece not in self._known:
                self._known[piece] = len(self._pieces)
                self._pieces.append(piece)
        return [self._known[piece] for piece in pieces]


def environment() -> ImmutableSandboxedEnvironment:
    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    made.globals["raise_exception"] = _raise
    made.globals["strftime_now"] = lambda form: datetime.now(UTC).strftime(form)
    made.filters["tojson"] = lambda value, **options: json.dumps(value, ensure_ascii=False, **options)
    return made


def _raise(message: str) -> None:
    raise TemplateError(message)


@contextmanager
def serving(engine: RenderingEngine) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(*engine.answer(self.path, {}))

        def do_POST(self) -> None:
            self._say(
                *engine.answer(self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            )

        def log_message(self, *_: object) -> None:
            pass

        def _say(self, status: int, body: Json) -> None:
            spelt = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(spelt)))
            self.end_headers()
            self.wfile.write(spelt)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
