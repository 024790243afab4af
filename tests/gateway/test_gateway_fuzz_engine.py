"""Engines that answer at random: the caller is told of a failure, and never of a fault of the gateway's."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from local_server import Visit, local_server

from gateway.chat_bytes import PIECES
from gateway.engine import MODEL, forwarding
from gateway.fuzzing import HEAD, Extent, extent
from gateway.json_texts import seldom
from gateway.process import running
from gateway.talk import intent, message
from gateway.wire import Response, Wire

CHUNK = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":%s%s}'
COUNT = ',"usage":{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4}}'
FIRST = CHUNK % ('[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]', "")
FINISHED = CHUNK % ('[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]', "")
COUNTED = CHUNK % ("[]", COUNT)
DONE = "data: [DONE]\n\n"
PLAIN = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
STREAM = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
ANSWERS = (
    (PLAIN, '{"id":"c","choices":[{"index":0,"message":{"content":"hi"}}],"usage":{"prompt_tokens":9}}'),
    (PLAIN, '{"cache_status":[],"choices":[],"x":1.10' + COUNT + "}"),
    (STREAM, f"data: {FINISHED}\n\n{DONE}"),
    (STREAM, f": ping\r\n\r\ndata: {FIRST}\n\ndata:{COUNTED}\n\n{DONE}"),
    ("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\n", '{"error":{"message":"later","x":1}}'),
)
HTTP_PIECES = (
    *(
        b"\r\n",
        b"\r\n\r\n",
        b"\r",
        b"\0",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"Content-Length: 5\r\n",
        b"data: ",
        b"\n\n",
    ),
    *(
        b"Transfer-Encoding: chunked\r\n",
        b"Content-Encoding: gzip\r\n",
        b"ffffffffffffffff\r\n",
        b"204",
        b"503",
        b"101",
    ),
    *(b'"usage":{"prompt_tokens":1e400},', b'"error":{},', b'"cache_status":[],', b"event: x\n", b"id: 1\n"),
)
places = st.integers(0, 2**12)
gaps = st.sampled_from((0, 0, 1, 3, 30))
times = st.integers(0, 2)
pieces = st.one_of(st.sampled_from(HTTP_PIECES), st.sampled_from(PIECES), st.binary(max_size=4))


def mutated(draw: DrawFn, data: bytes, times: int) -> bytes:
    """Change bytes, remove some, or put some in."""
    changed = bytearray(data)
    for _ in range(times):
        at = draw(places) % (len(changed) + 1)
        changed[at : at + draw(gaps)] = draw(pieces)
    return bytes(changed)


@st.composite
def answers(draw: DrawFn) -> bytes:
    """An answer: most often with a few bytes changed, seldom in its framing too."""
    head, text = draw(st.sampled_from(ANSWERS))
    body = mutated(draw, text.encode(), draw(times))
    if draw(st.booleans()):
        framing, body = "Transfer-Encoding: chunked", b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    else:
        framing = f"Content-Length: {len(body)}"
    answer = f"{head}{framing}\r\nConnection: close\r\n\r\n".encode() + body
    if draw(seldom(4)):
        answer = mutated(draw, answer, 2)
    return answer[: draw(places) % (len(answer) + 1)] if draw(seldom(8)) else answer


@dataclass
class Strange:
    """A gateway in front of an engine that sends `answer`, whatever that is, and hangs up."""

    url: str = ""
    answer: bytes = b""
    salts: list[str] = field(default_factory=list)

    def behave(self, visit: Visit) -> None:
        if visit.head.startswith(b"GET /v1/models "):
            visit.respond(json.dumps({"data": [{"id": MODEL}]}).encode())
        elif not visit.head.startswith(b"POST /v1/chat/completions "):
            visit.respond(b"{}", status="404 Not Found")
        else:
            self.salts.append(json.loads(visit.body)["cache_salt"])
            visit.say(self.answer)
        visit.stream.close()


@pytest.fixture(scope="module")
def strange(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Strange]:
    made = Strange()
    folder: Path = tmp_path_factory.mktemp("secrets")
    with (
        local_server(made.behave) as engine,
        running(*forwarding(engine.url, folder), "--engine-deadline", "5") as (made.url, _),
    ):
        yield made


def check(response: Response, salt: str) -> None:
    """A completion, a stream that ends in good order or in an error, or an error that is the engine's."""
    assert salt.encode() not in response.body
    if response.headers["content-type"].startswith("text/event-stream"):
        *_, last = [event for event in response.body.decode().split("\n\n") if event]
        assert last == "data: [DONE]" or "error" in json.loads(last.removeprefix("data: "))
    elif response.status == 200:
        assert isinstance(json.loads(response.body)["choices"], list)
    else:
        assert json.loads(response.body)["error"]["code"] != "internal_error"
        assert response.status in (502, 503, 504) or 400 <= response.status < 500


@pytest.mark.parametrize("many", extent(200))
def test_whatever_an_engine_answers_the_caller_is_told_something_true(strange: Strange, many: Extent) -> None:
    statuses: set[int] = set()

    @given(answers(), seldom(6))
    def exchange(answer: bytes, mistaken: bool) -> None:
        strange.answer = answer
        stream = (b"event-stream" in answer) != mistaken
        asked = {"model": MODEL, "messages": [message("x", intent())], "stream": stream}
        body = json.dumps(asked).encode()
        with Wire(strange.url) as wire:
            wire.send(f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            response = wire.read()
        statuses.add(response.status)
        check(response, strange.salts[-1])

    many(exchange)
    assert {200, 502} <= statuses
