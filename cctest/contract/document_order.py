"""The order in which the faults of a document are told: that of the document."""

from collections.abc import Iterable

from cctest.contract.source import Fault, JsonValue, tokens_of


def in_document_order(value: JsonValue, faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Sort faults by where their pointers lie in a document, a container before what it holds."""
    ranks: dict[int, dict[str, int]] = {}
    return tuple(sorted(faults, key=lambda fault: _place(value, fault.pointer, ranks)))


def _place(value: JsonValue, pointer: str, ranks: dict[int, dict[str, int]]) -> tuple[int, ...]:
    place: list[int] = []
    for token in tokens_of(pointer):
        if isinstance(value, dict) and token in value:
            place.append(_rank(value, token, ranks))
            value = value[token]
        elif isinstance(value, list) and token.isdecimal() and int(token) < len(value):
            place.append(int(token))
            value = value[int(token)]
        else:
            break
    return tuple(place)


def _rank(members: dict[str, JsonValue], name: str, ranks: dict[int, dict[str, int]]) -> int:
    # Ranked once for each object: an object with many faults would otherwise cost their square.
    names = ranks.get(id(members))
    if names is None:
        names = ranks[id(members)] = {name: rank for rank, name in enumerate(members)}
    return names[name]
