"""An engine's answer, plain or streamed, read as far as the gateway has to understand it."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from jiter import from_json

from cctest.contract.source import JsonValue
from reference_gateway.engine.failure import broken_off, error_in, no_completion
from reference_gateway.engine.sse import EventError, read_events
from reference_gateway.refusal import RefusalError
from reference_gateway.request import jsontext

Usage: TypeAlias = dict[str, JsonValue]

LARGE: Final = 262_144
"""Of an answer of so many bytes only what matters is read."""

_DONE: Final = "[DONE]"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk as it was spelt, on one line, and what it says."""

    text: str
    value: dict[str, JsonValue]

    @property
    def choices(self) -> list[JsonValue]:
        """Its choices; none where they aren't an array."""
        choices = self.value.get("choices")
        return choices if isinstance(choices, list) else []

    @property
    def usage(self) -> Usage:
        """What it tells of the usage; a member that is null tells nothing."""
        return {name: told for name, told in _usage(self.value).items() if told is not None}

    @property
    def may_be_last(self) -> bool:
        """Whether no more of the answer need follow."""
        finished = (choice.get("finish_reason") for choice in self.choices if isinstance(choice, dict))
        return not self.choices or any(reason is not None for reason in finished)


async def read_chunks(pieces: AsyncIterator[bytes]) -> AsyncIterator[list[Chunk]]:
    """Give the chunks of a stream up to `[DONE]`, together what came together. Other events are passed over.

    Raises RefusalError where the stream breaks off, tells an error, or can't be read.
    """
    try:
        async for events in read_events(pieces):
            chunks: list[Chunk] = []
            done = failure = None
            try:
                done = _read_into(chunks, events)
            except RefusalError as error:
                failure = error
            if chunks:
                yield chunks
            if failure is not None:
                raise failure
            if done:
                return
    except EventError:
        raise broken_off() from None
    raise broken_off()


def _read_into(chunks: list[Chunk], events: list[str]) -> bool:
    """Add the chunks among the events. True if the stream is done."""
    for data in events:
        if data.strip() == _DONE:
            return True
        chunk = _chunk(data)
        if chunk is not None:
            chunks.append(chunk)
    return False


def read_completion(body: bytes) -> tuple[str, Usage]:
    """Read a plain answer: its text, and the usage that it tells.

    Raises RefusalError where it is no chat completion.
    """
    try:
        text = body.decode().strip()
        value = _parsed(text) if len(body) < LARGE else _skimmed(text)
    except (ValueError, RecursionError, IndexError):
        raise no_completion() from None
    if not isinstance(value, dict):
        raise no_completion()
    error = error_in(value)
    if error is not None:
        raise error
    if not isinstance(value.get("choices"), list):
        raise no_completion()
    return text, _usage(value)


def _chunk(data: str) -> Chunk | None:
    if not data.strip():
        return None
    try:
        value = _parsed(data)
    except (ValueError, RecursionError):
        raise broken_off() from None
    if not isinstance(value, dict):
        return None
    error = error_in(value)
    if error is not None:
        raise error
    if not isinstance(value.get("choices"), list) and not isinstance(value.get("usage"), dict):
        return None
    return Chunk(data.strip().replace("\n", " "), value)


def _parsed(text: str) -> JsonValue:
    """Parse what an engine wrote, which need not be strict JSON. Raises ValueError or RecursionError."""
    try:
        value: JsonValue = from_json(text.encode(), cache_mode="keys")
    except (ValueError, RecursionError):
        value = json.loads(text)
    return value


def _skimmed(text: str) -> JsonValue:
    """Read of a large object what matters here, and as if the rest were empty: the rest would take seconds.

    Raises ValueError or IndexError.
    """
    members = jsontext.members(text)
    value: dict[str, JsonValue] = {
        name: _parsed(members[name]) for name in ("usage", "error") if name in members
    }
    return {**value, "choices": [] if members.get("choices", "").startswith("[") else None}


def _usage(value: dict[str, JsonValue]) -> Usage:
    usage = value.get("usage")
    return usage if isinstance(usage, dict) else {}
