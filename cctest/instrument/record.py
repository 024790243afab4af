"""The record of everything that reached the engine, bounded in entries and in bytes.

Instants are seconds of the machine's monotonic clock, so that a harness on the same machine can compare them
with its own. Values of headers that may be credentials are kept as their SHA-256 only.
"""

import base64
import hashlib
import re
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Final

from cctest.contract.source import JsonValue
from cctest.instrument.regions import Region

ENTRY_LIMIT: Final = 20_000
"""Most entries kept."""
BYTE_LIMIT: Final = 256 * 1024 * 1024
"""Most bytes of bodies and headers kept."""
PAGE_ENTRIES: Final = 250
"""Most entries told at a time: while a page is written, nothing is served."""
PAGE_BYTES: Final = 1024 * 1024
"""Most bytes of bodies and headers told at a time, unless a single entry has more."""

_SECRET_NAME: Final = re.compile(rb"auth|cookie|key|secret|token|password|credential", re.IGNORECASE)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Ending(StrEnum):
    """How a request ended."""

    OPEN = "open"
    """It is still being served."""
    COMPLETED = "completed"
    REFUSED = "refused"
    """It was answered with an error status."""
    CUT = "cut"
    """The engine broke its answer off, as it was told to."""
    CLIENT_GONE = "client_gone"
    """Who sent it closed the connection before the answer was complete."""


@dataclass(slots=True)
class Entry:
    """One request, while and after it is served; `body` is what was received of it.

    `has_salt` tells whether the body had a top-level `cache_salt`. `regions` are those that it brought, and
    `in_effect` those that held, once they were compared with the tokens. `looked_up` is the instant at which
    the look-up was made and the rest computed; `retained` tells whether anything was kept. `recalled` counts
    the parts whose item came with an earlier request, under the same name.
    """

    number: int
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    arrived: float
    ended: float | None = None
    ending: Ending = Ending.OPEN
    status: int | None = None
    body: bytes = b""
    body_complete: bool = False
    has_salt: bool = False
    cache_salt: JsonValue = None
    regions: tuple[Region, ...] = ()
    in_effect: tuple[Region, ...] = ()
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    looked_up: float | None = None
    retained: bool | None = None
    recalled: int = 0
    canaries: tuple[str, ...] = ()
    misbehaviour: JsonValue = None

    @property
    def size(self) -> int:
        """The bytes that the entry counts for."""
        return len(self.body) + sum(len(name) + len(value) for name, value in self.headers)

    def to_json(self) -> dict[str, JsonValue]:
        """Give the entry as it is sent: `cache_salt` is absent where the body had none."""
        told: dict[str, JsonValue] = {
            "number": self.number,
            "method": self.method,
            "path": self.path,
            "headers": [list(header) for header in self.headers],
            "arrived": self.arrived,
            "ended": self.ended,
            "ending": str(self.ending),
            "status": self.status,
            "body_complete": self.body_complete,
            "prompt_tokens": self.prompt_tokens,
            "cached_tokens": self.cached_tokens,
            "looked_up": self.looked_up,
            "retained": self.retained,
            "recalled": self.recalled,
            "canaries": list(self.canaries),
            "misbehaviour": self.misbehaviour,
            "regions": [asdict(region) for region in self.regions],
            "in_effect": [asdict(region) for region in self.in_effect],
        }
        if self.has_salt:
            told["cache_salt"] = self.cache_salt
        return told | _body(self.body)


def header_digest(value: str) -> str:
    """Give what the record keeps of a header value that may be a credential."""
    return "sha256:" + hashlib.sha256(value.encode("latin-1")).hexdigest()


@dataclass(frozen=True, slots=True)
class Page:
    """Some entries in order. The bounds dropped `missed` of those wanted; `more` says that others follow."""

    entries: tuple[Entry, ...]
    missed: int
    more: bool


@dataclass(slots=True)
class Record:
    """The latest entries; the oldest are dropped where there are too many of them, or too many bytes."""

    entry_limit: int = ENTRY_LIMIT
    byte_limit: int = BYTE_LIMIT
    clock: Callable[[], float] = time.monotonic
    latest: int = 0
    """The number of the latest entry; numbers start at 1 and are never used again."""
    dropped: int = 0
    """How many entries the bounds have dropped so far."""
    _entries: deque[Entry] = field(default_factory=deque)
    _bytes: int = 0
    _cleared: int = 0

    def open(self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]]) -> Entry:
        """Enter a request as it arrives."""
        self.latest += 1
        entry = Entry(self.latest, method, path, tuple(map(_header, headers)), self.clock())
        self._entries.append(entry)
        self._bytes += entry.size
        self._trim()
        return entry

    def keep_body(self, entry: Entry, body: bytes, *, complete: bool) -> None:
        """Enter the body of a request."""
        entry.body_complete = complete
        if entry.number >= self._first:
            entry.body = body
            self._bytes += len(body)
            self._trim()

    def close(self, entry: Entry, ending: Ending) -> None:
        """Enter how a request ended; only the first time counts."""
        if entry.ending is Ending.OPEN:
            entry.ending, entry.ended = ending, self.clock()

    def page(self, after: int) -> Page:
        """Give the first entries with numbers above `after`, as many as make a page."""
        start = max(after + 1, self._first)
        wanted = islice(self._entries, start - self._first, start - self._first + PAGE_ENTRIES)
        entries: list[Entry] = []
        room = PAGE_BYTES
        for entry in wanted:
            if entries and entry.size > room:
                break
            room -= entry.size
            entries.append(entry)
        missed = max(0, self._first - 1 - max(after, self._cleared))
        last = entries[-1].number if entries else self.latest
        return Page(tuple(entries), missed, more=last < self.latest)

    def clear(self) -> None:
        """Forget all entries; they don't count as dropped."""
        self._entries.clear()
        self._bytes = 0
        self._cleared = self.latest

    @property
    def _first(self) -> int:
        return self._entries[0].number if self._entries else self.latest + 1

    def _trim(self) -> None:
        while len(self._entries) > self.entry_limit or self._bytes > self.byte_limit:
            self._bytes -= self._entries.popleft().size
            self.dropped += 1


def _header(header: tuple[bytes, bytes]) -> tuple[str, str]:
    name, value = header[0].decode("latin-1"), header[1].decode("latin-1")
    return (name, header_digest(value)) if _SECRET_NAME.search(header[0]) else (name, value)


def _body(body: bytes) -> dict[str, JsonValue]:
    """Give the exact bytes of a body, as text where it is text."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        text = None
    if text is None or _CONTROL.search(text):
        return {"body_base64": base64.b64encode(body).decode()}
    return {"body_text": text}
