"""Talk to the engine as a gateway would, and look at what it has recorded."""

import json
import socket
import time
import uuid
from typing import Any
from urllib.parse import urlsplit

from cctest.contract.source import JsonValue
from cctest.instrument.client import Engine, EngineRecord
from cctest.instrument.record import Ending
from cctest.target.chat import ChatResult, read_chat
from cctest.target.exchange import Request, Response, Target

Json = dict[str, Any]
CHAT = "/v1/chat/completions"


def nonce() -> str:
    return uuid.uuid4().hex


def text(own: str = "") -> str:
    """A text many blocks long that no other test has used; with `own` in each part of it."""
    own = own or nonce()
    return " ".join(f"{own}-{index}" for index in range(40))


def body(content: JsonValue, **members: Any) -> Json:
    return {"model": "instrumented", "messages": [{"role": "user", "content": content}], **members}


def streaming(content: JsonValue, **members: Any) -> Json:
    return body(content, stream=True, stream_options={"include_usage": True}, **members)


def send(url: str, sent: bytes | Json, *headers: tuple[str, str], path: str = CHAT) -> Response:
    data = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    with Target(url, deadline=10) as target:
        return target.send(Request("POST", path, (("Content-Type", "application/json"), *headers), data))


def ask(url: str, sent: Json) -> ChatResult:
    return read_chat(send(url, sent), streamed=bool(sent.get("stream")))


def shape(content: str, *, stream: bool) -> Json:
    return streaming(content) if stream else body(content)


def hang_up(url: str, sent: Json, after: bytes) -> None:
    """Send a request and close the connection as soon as `after` has come back."""
    data = json.dumps(sent).encode()
    address = urlsplit(url)
    with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=10) as stream:
        head = f"POST {CHAT} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: {len(data)}\r\n\r\n"
        stream.sendall(head.encode() + data)
        received = b""
        while after not in received:
            received += stream.recv(4096)


def recorded(engine: Engine, own: str, *, count: int = 1) -> list[EngineRecord]:
    """The entries that hold a text, once there are `count` and all have ended."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        found = [entry for entry in engine.entries() if own.encode() in entry.body]
        if len(found) == count and all(entry.ending is not Ending.OPEN for entry in found):
            return found
        time.sleep(0.01)
    raise AssertionError(f"not recorded: {own}")
