"""The intents of a chat request, each checked as a document of its own (the binding to Chat Completions)."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from cctest.contract.documents import check_document
from cctest.contract.source import Fault, JsonValue, child
from cctest.contract.vocabulary import Kind
from cctest.datafile import contract_schemas

IN_CHAT: Final = re.compile(r"/(?:tools|messages)/\d+(?:/content/\d+)?/cache_intent(?:/|$)")
"""Pointers into the intents of a chat request."""


def intents_of_chat(body: JsonValue) -> Iterator[tuple[str, tuple[Fault, ...]]]:
    """Yield the JSON pointer of each intent with its faults: of tools first, then of messages (BND-1).

    One on a content part is at fault for being there (BND-3). Nothing is yielded for what is no chat request.
    """
    if not isinstance(body, dict):
        return
    for name in ("tools", "messages"):
        for place, fragment in _elements(body, "", name):
            if Kind.CACHE_INTENT in fragment:
                yield child(place, Kind.CACHE_INTENT), tuple(_faults(fragment, place))
            for inner, part in _elements(fragment, place, "content"):
                if Kind.CACHE_INTENT in part:
                    pointer = child(inner, Kind.CACHE_INTENT)
                    yield pointer, (Fault(pointer, "an intent has no place on a content part", ("BND-3",)),)


def _elements(
    parent: Mapping[str, JsonValue], place: str, name: str
) -> Iterator[tuple[str, Mapping[str, JsonValue]]]:
    """Yield the objects in an array of `parent`, which may be no array."""
    array = parent.get(name)
    for index, element in enumerate(array if isinstance(array, list) else ()):
        if isinstance(element, dict):
            yield child(child(place, name), index), element


def _faults(fragment: Mapping[str, JsonValue], place: str) -> Iterator[Fault]:
    document: JsonValue = {Kind.CACHE_INTENT: fragment[Kind.CACHE_INTENT]}
    for fault in check_document(document, Kind.CACHE_INTENT, contract_schemas()):
        yield replace(fault, pointer=place + fault.pointer)
