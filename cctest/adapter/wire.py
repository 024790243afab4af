"""Lines of the adapter protocol (`spec/adapter.md`): requests as they are sent, answers as they must be."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from jsonschema.exceptions import best_match

from cctest import datafile
from cctest.contract import strict_json
from cctest.contract.source import SourceError, descend
from cctest.vectors.implementation import AnswerError, NotOffered, json_text

PROTOCOL: Final = 1
"""Version of the protocol; grows when an adapter would have to change."""

SHOWN: Final = 160
"""As many characters are shown of what an adapter wrote."""

_SCHEMA: Final = "adapter.schema.json"


class Operation(StrEnum):
    """What an adapter is asked for."""

    HELLO = "hello"
    VALIDATE = "validate"
    DIGEST = "digest"
    IDENTITY = "identity"
    COMPOSE = "compose"
    INTAKE = "intake"
    HINTS = "hints"
    ELIGIBLE = "eligible"
    ADMIT = "admit"


class OutOfStepError(Exception):
    """What came is no answer to what was asked, so that nothing after it can be trusted either."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question; `id` is its number in the run."""

    id: int
    operation: Operation
    input: Mapping[str, Any]

    @property
    def line(self) -> str:
        """The request as it is sent, in ASCII and without its line end."""
        return json_text({"id": self.id, "op": str(self.operation), "input": self.input})


def read_answer(request: Request, line: bytes) -> dict[str, Any]:
    """Give the result in an answer to `request`.

    Raises OutOfStepError for what is no answer to it, NotOffered where the adapter says that it doesn't offer
    this, and AnswerError where it says that it failed, or has a result of the wrong shape.
    """
    try:
        answer = strict_json.loads(line)
    except SourceError as error:
        raise OutOfStepError(f"the adapter wrote what is no JSON ({error}): {shown(line)}") from None
    fault = _fault(answer, "response")
    if fault or not isinstance(answer, dict):
        raise OutOfStepError(f"the adapter wrote what is no answer ({fault}): {shown(line)}")
    if answer["id"] != request.id:
        raise OutOfStepError(f"the adapter answered another request than {request.id}: {shown(line)}")
    if "unsupported" in answer:
        reason = shown(str(answer["unsupported"]))
        raise NotOffered(f"the adapter doesn't support `{request.operation}` here: {reason}")
    if "error" in answer:
        raise AnswerError(f"the adapter failed: {shown(str(answer['error']))}")
    result: Any = answer["result"]
    fault = _fault(result, f"{request.operation}_result")
    if fault:
        raise AnswerError(f"the result has the wrong shape ({fault}): {shown(line)}")
    checked: dict[str, Any] = result
    return checked


def _fault(value: object, definition: str) -> str:
    """Say what is wrong with a value, and where; empty if nothing is."""
    error = best_match(datafile.validator(_SCHEMA, definition).iter_errors(value))
    if error is None:
        return ""
    place = descend("", error.absolute_path)
    return f"{f'at {place}: ' if place else ''}{shown(error.message)}"


def shown(text: bytes | str, most: int = SHOWN) -> str:
    """Show what came from an adapter: shortened, on one line, with nothing in it that a terminal obeys."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "backslashreplace")
    text = text.strip()
    cut = text if len(text) <= most else f"{text[:most]}..."
    return "".join(letter if letter.isprintable() else _escaped(letter) for letter in cut)


def _escaped(letter: str) -> str:
    return json.dumps(letter)[1:-1] if letter != "\x7f" else "\\u007f"


def seconds_text(seconds: int | float) -> str:
    """Write seconds as decimal digits, so that no JSON reader can round them."""
    return str(seconds) if isinstance(seconds, int) else format(Decimal(repr(seconds)), "f")
