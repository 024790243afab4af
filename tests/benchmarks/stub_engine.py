"""An engine that costs next to nothing: fixed answers in OpenAI's shape, plain and streamed, over bare HTTP/1.1.

Run it as `python -m tests.benchmarks.stub_engine`; it says on stdout on which port it listens.
"""

import asyncio
import json
import re
import sys
from typing import cast

import uvloop

MODEL = "stub"
CHUNKS = 16
"""Pieces of text in a streamed answer, each written by itself as an engine does."""

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_STREAM = re.compile(rb'"stream": ?true')
_USAGE = {
    "prompt_tokens": 300,
    "completion_tokens": 16,
    "total_tokens": 316,
    "prompt_tokens_details": {"cached_tokens": 160},
}
_ENVELOPE = {"id": "chatcmpl-0", "created": 1_700_000_000, "model": MODEL}


def _json_response(value: object) -> bytes:
    body = json.dumps(value).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


def _chunk(value: object) -> bytes:
    data = value if isinstance(value, str) else json.dumps(value)
    event = f"data: {data}\n\n".encode()
    return b"%x\r\n%b\r\n" % (len(event), event)


def _choice(delta: dict[str, str], finish_reason: str | None = None) -> dict[str, object]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return {**_ENVELOPE, "object": "chat.completion.chunk", "choices": [choice]}


_MODELS = _json_response({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "stub"}]})
_HEALTH = _json_response({})
_PLAIN = _json_response(
    {
        **_ENVELOPE,
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "word " * CHUNKS},
                "finish_reason": "stop",
            }
        ],
        "usage": _USAGE,
    }
)
_STREAMED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
    _chunk(_choice({"role": "assistant", "content": ""})),
    *(_chunk(_choice({"content": "word "})) for _ in range(CHUNKS)),
    _chunk(_choice({}, "stop")),
    _chunk({**_ENVELOPE, "object": "chat.completion.chunk", "choices": [], "usage": _USAGE}),
    _chunk("[DONE]") + b"0\r\n\r\n",
)


class StubEngine(asyncio.Protocol):
    """One connection."""

    def __init__(self) -> None:
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but name

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            length = _LENGTH.search(self._buffer, 0, end + 2)
            stop = end + 4 + (int(length[1]) if length else 0)
            if len(self._buffer) < stop:
                return
            request, self._buffer = self._buffer[:stop], self._buffer[stop:]
            self._answer(request)

    def _answer(self, request: bytes) -> None:
        path = request.split(b" ", 2)[1]
        if path.endswith(b"/chat/completions"):
            pieces = _STREAMED if _STREAM.search(request) else (_PLAIN,)
            for piece in pieces:
                self._transport.write(piece)
        else:
            self._transport.write(_MODELS if path.endswith(b"/models") else _HEALTH)


async def _serve() -> None:
    server = await asyncio.get_running_loop().create_server(StubEngine, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(_serve())
