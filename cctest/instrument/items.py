"""Images and the like, kept under the names that callers give them, as vLLM keeps them: whatever the salt.

A content part may have a `uuid`. What came first under it is what every later part of that name and type
stands for, be it sent along again or not.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cctest.contract.source import JsonValue
from cctest.instrument.intake import RefusalError

CAPACITY: Final = 1_024
"""Most items kept; the least recently used goes first."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """A body with what its names stand for, and how many of its parts an earlier request had filled."""

    members: Mapping[str, JsonValue]
    count: int


class NamedItems:
    """The items of all callers. Safe to use from several threads."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._items: OrderedDict[tuple[str, str], JsonValue] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, members: Mapping[str, JsonValue]) -> Recalled:
        """Put what is kept in the place of what its names stand for, and keep what is new.

        Raises RefusalError where a part has a name for nothing. What has no names is left as it is.
        """
        messages = members.get("messages")
        if not isinstance(messages, list):
            return Recalled(members, 0)
        earlier: list[str] = []
        with self._lock:
            told = [self._message(message, earlier) for message in messages]
        return Recalled({**members, "messages": told}, len(earlier))

    def _message(self, message: JsonValue, earlier: list[str]) -> JsonValue:
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(content, list):
            return message
        return {**message, "content": [self._part(part, earlier) for part in content]}

    def _part(self, part: JsonValue, earlier: list[str]) -> JsonValue:
        if not isinstance(part, dict):
            return part
        kind, name = part.get("type"), part.get("uuid")
        if not isinstance(kind, str) or kind == "text" or not isinstance(name, str):
            return part
        place, sent = (kind, name), part.get(kind)
        if place in self._items:
            earlier.append(name)
        elif sent is None:
            raise RefusalError(400, f"no {kind} is known by this uuid, and none was sent", "messages")
        self._items.setdefault(place, sent)
        self._items.move_to_end(place)
        if len(self._items) > self._capacity:
            self._items.popitem(last=False)
        return {**part, kind: self._items[place]}
