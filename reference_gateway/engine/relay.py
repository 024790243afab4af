"""An engine's stream on its way to the caller: each chunk as it comes, the last one held for the status.

Usage is always asked for, and so may have to be hidden again from a caller who didn't ask. A chunk that may
be the last one, because an answer is finished in it or it has no choices, waits until the next one or the end
shows; no other one waits.
"""

import json
from collections.abc import AsyncIterator, Callable
from typing import Final, TypeAlias

from reference_gateway.backend import Forwarded, FragmentObservation
from reference_gateway.engine.answer import Chunk, Usage
from reference_gateway.refusal import RefusalError
from reference_gateway.request import jsontext

Observe: TypeAlias = Callable[[Usage], tuple[FragmentObservation, ...]]

_ENVELOPE: Final = ("id", "object", "created", "model")


async def relay(
    first: list[Chunk], rest: AsyncIterator[list[Chunk]], observe: Observe, *, include_usage: bool
) -> AsyncIterator[list[str | Forwarded]]:
    """Give the texts of a stream's chunks, and in the end the last one with what was observed.

    What came together stays together. Raises RefusalError where the stream breaks off.
    """
    usage: Usage = {}
    held: str | None = None
    latest = first[-1]
    try:
        async for chunks in _chain(first, rest):
            texts: list[str | Forwarded] = []
            for latest in chunks:
                usage |= latest.usage
                text = _shown(latest, include_usage=include_usage)
                if text is None:
                    continue
                if held is not None:
                    texts.append(held)
                held = text if latest.may_be_last else None
                if held is None:
                    texts.append(text)
            if texts:
                yield texts
    except RefusalError:
        if held is not None:
            yield [held]
        raise
    yield [Forwarded(held or _closing(latest), observe(usage))]


async def _chain(first: list[Chunk], rest: AsyncIterator[list[Chunk]]) -> AsyncIterator[list[Chunk]]:
    yield first
    async for chunks in rest:
        yield chunks


def _shown(chunk: Chunk, *, include_usage: bool) -> str | None:
    """Hide what isn't for the caller; None where nothing is left of the chunk."""
    if chunk.usage and not chunk.choices and not include_usage:
        return None
    hidden = [name for name in ("cache_status", "usage") if name in chunk.value]
    if include_usage and "usage" in hidden:
        hidden.remove("usage")
    return jsontext.without(chunk.text, hidden) if hidden else chunk.text


def _closing(latest: Chunk) -> str:
    """Make an empty chunk to carry the status, where every one that the engine sent has gone out."""
    envelope = {name: latest.value[name] for name in _ENVELOPE if name in latest.value}
    return json.dumps({**envelope, "choices": []})
