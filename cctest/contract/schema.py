"""JSON Schema validation (2020-12) whose faults point at the member that is wrong."""

import re
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from cctest.contract.document_order import in_document_order
from cctest.contract.shape import listed, shown
from cctest.contract.source import Fault, JsonValue, child, descend

_BOUNDS: Final = {
    "minItems": "must have {} or more items",
    "maxItems": "must have {} or fewer items",
    "minLength": "must have {} or more characters",
    "maxLength": "must have {} or fewer characters",
    "minimum": "must be {} or more",
    "maximum": "must be {} or less",
}


class SchemaSet:
    """Schemas that may refer to one another, each compiled once.

    They are addressed by their `$id`, a part of one by a JSON pointer as fragment:
    `urn:cctest:schema:cache_intent#/$defs/cache_intent`. Raises ValueError for a schema without an `$id`.
    """

    def __init__(self, schemas: Iterable[JsonValue]) -> None:
        resources = [(_identifier(schema), DRAFT202012.create_resource(schema)) for schema in schemas]
        self._registry: Registry[Any] = Registry().with_resources(resources).crawl()
        self._validators: dict[str, Draft202012Validator] = {}

    def faults(self, value: JsonValue, reference: str) -> tuple[Fault, ...]:
        """Validate a value against the schema that `reference` addresses; faults come in document order.

        Raises referencing.exceptions.Unresolvable if there is no such schema.
        """
        validator = self._validators.get(reference)
        if validator is None:
            self._registry.resolver().lookup(reference)
            validator = Draft202012Validator({"$ref": reference}, registry=self._registry)
            self._validators[reference] = validator
        faults = (fault for error in validator.iter_errors(value) for fault in _faults(error))
        return in_document_order(value, dict.fromkeys(faults))


def _identifier(schema: JsonValue) -> str:
    if not isinstance(schema, dict) or "$id" not in schema:
        raise ValueError("a schema needs an $id, by which it is addressed")
    return str(schema["$id"])


def _faults(error: ValidationError) -> Iterator[Fault]:
    """Turn one error into faults at the members that are wrong."""
    if error.context and (closest := best_match([error])) is not None:
        error = closest
    pointer = descend("", error.absolute_path)
    wanted: Any = error.validator_value
    instance: Any = error.instance
    match error.validator:
        case "additionalProperties":
            yield from _unknown_members(instance, error.schema, pointer)
        case "required":
            for name in wanted:
                if name not in instance:
                    yield Fault(pointer, f"needs the member {name}")
        case "uniqueItems":
            for index, first in _repeated(instance):
                yield Fault(child(pointer, index), f"must not repeat item {first}")
        case _:
            yield Fault(pointer, _message(error))


def _unknown_members(members: dict[str, JsonValue], schema: Any, pointer: str) -> Iterator[Fault]:
    allowed = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    message = f"unknown member; allowed here: {listed(allowed)}" if allowed else "unknown member"
    for name in members:
        if name not in allowed and not any(re.search(pattern, name) for pattern in patterns):
            yield Fault(child(pointer, name), message)


def _repeated(items: list[JsonValue]) -> Iterator[tuple[int, int]]:
    first: dict[Hashable, int] = {}
    for index, item in enumerate(items):
        earlier = first.setdefault(_key(item), index)
        if earlier != index:
            yield index, earlier


def _key(value: JsonValue) -> Hashable:
    """Give equal keys to what JSON Schema holds equal: 1 and 1.0 are, 1 and true aren't."""
    if isinstance(value, list):
        return ("array", *map(_key, value))
    if isinstance(value, dict):
        return frozenset((name, _key(inner)) for name, inner in value.items())
    return isinstance(value, bool), value


def _message(error: ValidationError) -> str:
    """Say what would be right."""
    keyword, seen = error.validator, shown(error.instance)
    wanted: Any = error.validator_value
    if keyword == "not" and not wanted:
        return "must not stand here"
    if keyword == "enum":
        return f"must be one of {listed(shown(word) for word in wanted)}, not {seen}"
    if keyword == "const":
        return f"must be {shown(wanted)}, not {seen}"
    if keyword == "type":
        types = [wanted] if isinstance(wanted, str) else wanted
        return f"must be of type {listed(types)}, not {seen}"
    if keyword in _BOUNDS:
        return _BOUNDS[keyword].format(wanted)
    return str(error.message)
