"""What of a caller's body reaches the engine: all of it, less what names a partition.

- `cache_intent` is removed from fragments. It can't stand anywhere else (READ-22), and what the parameters of
  tools, arguments and texts hold is content (BND-4).
- Members by which a caller could name a partition, or state that is cached, are removed: see `stripped`. What
  the gateway puts in the place of such a member is its own.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from reference_gateway.request.intake import Fragment, Kind
from reference_gateway.request.jsontext import Edit, Spell, edited
from reference_gateway.request.misplaced import CACHE_INTENT
from reference_gateway.request.respelling import respelt
from reference_gateway.request.stripped import CACHE_SALT, STRIPPED, WHOSE

_ENVELOPE: Final = frozenset(STRIPPED)
_FRAGMENT: Final = Edit(drop=frozenset((CACHE_INTENT, CACHE_SALT, *WHOSE)))
_PART: Final = Edit(drop=frozenset((CACHE_SALT, "uuid")))
_MESSAGE: Final = Edit(drop=_FRAGMENT.drop, inner={"content": Edit(each=_PART)})
_FRAGMENTS: Final = {"tools": Edit(each=_FRAGMENT), "messages": Edit(each=_MESSAGE)}


_XARGS: Final = "vllm_xargs"


def forwarded_body(
    text: str,
    salt: str | None,
    *,
    stream: bool,
    regions: Mapping[str, list[str | int]] | None = None,
) -> bytes:
    """Make the engine's body of a caller's, with the partition `salt`; None leaves the engine its default.

    `regions` are for an engine that knows them. A stream is asked to tell its usage, since that alone tells
    what was reused.
    """
    put: dict[str, Spell] = {"stream_options": _with_usage} if stream else {}
    if salt is not None:
        put[CACHE_SALT] = lambda _: json.dumps(salt)
    if regions is not None:
        put[_XARGS] = lambda _: json.dumps(regions)
    return respelt(text, Edit(drop=_ENVELOPE, put=put, inner=_FRAGMENTS))


def forwarded_fragments(fragments: Iterable[Fragment]) -> tuple[bytes, ...]:
    """Give each fragment as it reaches an engine."""
    edits = {Kind.TOOL: _FRAGMENT, Kind.MESSAGE: _MESSAGE}
    return tuple(respelt(json.dumps(one.value), edits[one.kind]) for one in fragments)


def _with_usage(text: str | None) -> str:
    if text is None or text == "null":
        return '{"include_usage":true}'
    return edited(text, Edit(put={"include_usage": lambda _: "true"}))
