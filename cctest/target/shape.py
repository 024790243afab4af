"""A document against a schema, with messages that say what would be right and quote no value."""

from collections.abc import Mapping
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from cctest import datafile
from cctest.contract.source import Fault, JsonValue, child, descend


def shape_fault(value: JsonValue, schema: Mapping[str, Any]) -> Fault | None:
    """Give the first thing, in document order, that a schema has against a document."""
    errors = sorted(
        Draft202012Validator(schema).iter_errors(value), key=lambda error: list(map(str, error.path))
    )
    return _fault(errors[0]) if errors else None


def _fault(error: ValidationError) -> Fault:
    pointer = descend("", error.absolute_path)
    rule, demanded = str(error.validator), cast(Any, error.validator_value)
    if rule == "additionalProperties" and isinstance(demanded, bool):
        return _unknown_member(error, pointer)
    if rule == "required":
        missing = next(name for name in demanded if name not in cast(Any, error.instance))
        return Fault(pointer, f"`{missing}` is missing")
    if error.parent is not None or "propertyNames" in error.absolute_schema_path:
        return Fault(pointer, "a member has a name that isn't allowed here")
    name = pointer.rpartition("/")[2] or "the document"
    return Fault(pointer, f"{name}: {_demand(rule, demanded, error)}")


def _demand(rule: str, demanded: Any, error: ValidationError) -> str:
    match rule:
        case "dependentRequired":
            there = cast(Any, error.instance)
            name, needed = next(
                (name, other)
                for name, others in demanded.items()
                for other in others
                if name in there and other not in there
            )
            return f"`{name}` needs `{needed}` beside it"
        case "type":
            kinds = [demanded] if isinstance(demanded, str) else demanded
            return "must be " + " or ".join(_A[kind] for kind in kinds)
        case "minLength":
            return "must not be empty"
        case "minimum":
            return f"must be at least {demanded}"
        case "exclusiveMinimum":
            return f"must be more than {demanded}"
        case "maximum":
            return f"must be at most {demanded}"
        case _:
            return str(cast(Any, error.schema).get("description", f"breaks the schema's {rule}"))


def _unknown_member(error: ValidationError, pointer: str) -> Fault:
    known = list(cast(Any, error.schema)["properties"])
    unknown = next(name for name in cast(Any, error.instance) if name not in known)
    advice = datafile.suggestion(unknown, known)
    return Fault(child(pointer, unknown), f"unknown member `{unknown}`; {advice}")


_A = {
    "object": "an object",
    "array": "a list",
    "string": "a string",
    "number": "a number",
    "integer": "an integer",
    "boolean": "true or false",
    "null": "null",
}
