"""Chunks as server-sent events, in the dialect asked for."""

import json
from collections.abc import Collection, Iterable, Iterator

from cctest.contract.source import JsonValue
from cctest.instrument.misbehaviour import Dialect


def events(chunks: Iterable[dict[str, JsonValue]], dialects: Collection[Dialect]) -> Iterator[bytes]:
    """Yield one event for each chunk, with what the dialects put between them, and `[DONE]`."""
    for number, chunk in enumerate(chunks):
        if Dialect.EMPTY_CHOICES in dialects and number < 2:
            yield event(chunk | {"choices": []}, dialects)
        if Dialect.PINGS in dialects:
            yield _lines(["event: ping", 'data: {"type": "ping"}'], dialects)
        yield event(chunk, dialects)
    yield done(dialects)


def event(chunk: JsonValue, dialects: Collection[Dialect] = ()) -> bytes:
    """Spell one chunk."""
    if Dialect.MULTI_LINE in dialects:
        return _data(json.dumps(chunk, indent=1), dialects)
    return _data(json.dumps(chunk, separators=(",", ":")), dialects)


def done(dialects: Collection[Dialect] = ()) -> bytes:
    """Spell the event that ends a stream."""
    return _data("[DONE]", dialects)


def _data(text: str, dialects: Collection[Dialect]) -> bytes:
    lines = [": a comment: data: {}"] if Dialect.COMMENTS in dialects else []
    if Dialect.EVENT_NAMES in dialects:
        lines.append("event: chat.completion.chunk")
    field = "data:" if Dialect.NO_SPACE in dialects else "data: "
    return _lines(lines + [field + line for line in text.split("\n")], dialects)


def _lines(lines: list[str], dialects: Collection[Dialect]) -> bytes:
    return ("\r\n" if Dialect.CRLF in dialects else "\n").join([*lines, "", ""]).encode()
