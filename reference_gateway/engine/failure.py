"""What a caller is told where the engine failed (in OpenAI's shape, and in no words that betray a partition).

The engine's refusals keep their status, since they are about the caller's own request; but those for want of
permission are about the gateway's. Its failures become 502, save that 503 stays: it says that a retry may do.
"""

import json
from collections.abc import Collection, Mapping
from typing import Final

from cctest.contract.source import JsonValue
from reference_gateway.refusal import RefusalError, code_of

_ABOUT_THE_GATEWAY: Final = (401, 402, 403, 407)
_TELLING: Final = 8
"""So many characters of a salt are more than chance puts into a message."""


def unreachable() -> RefusalError:
    """The engine can't be reached, or closed the connection before it answered."""
    return RefusalError(502, "engine_unreachable", "the engine can't be reached")


def too_slow() -> RefusalError:
    """The engine didn't finish within the gateway's deadline."""
    return RefusalError(504, "engine_timeout", "the engine didn't answer in time")


def broken_off() -> RefusalError:
    """The engine's answer ended in the middle."""
    return RefusalError(502, "engine_broke_off", "the engine broke off its answer")


def no_completion() -> RefusalError:
    """The engine said 200, and what came is no chat completion."""
    return RefusalError(502, "engine_answer_unreadable", "the engine's answer is no chat completion")


def refused(status: int, body: bytes, retry_after: str | None, salts: Collection[str]) -> RefusalError:
    """Tell a status other than 200 with what the engine said about it, unless that holds part of a salt."""
    if retry_after is not None and not (retry_after.isascii() and retry_after.isprintable()):
        retry_after = None
    if not 400 <= status < 500 or status in _ABOUT_THE_GATEWAY:
        status = 503 if status == 503 else 502
        return RefusalError(status, _code(status), "the engine failed", retry_after=retry_after)
    error = _error(body)
    message, param, code = (_text(error.get(name)) for name in ("message", "param", "code"))
    if message is None or any(_betrays(told, salts) for told in (message, param or "", code or "")):
        message, param, code = "the engine refused the request", None, None
    return RefusalError(status, code or _code(status), message, param, retry_after)


def error_in(value: Mapping[str, JsonValue]) -> RefusalError | None:
    """Find the error that an engine tells under the status 200, or in the middle of a stream."""
    if "error" not in value or value["error"] is None:
        return None
    return RefusalError(502, "engine_failed", "the engine failed while it answered")


def _betrays(message: str, salts: Collection[str]) -> bool:
    """Tell whether a message holds part of a salt: who cites what it refuses may shorten it."""
    return any(
        salt[at : at + _TELLING] in message for salt in salts for at in range(len(salt) - _TELLING + 1)
    )


def _error(body: bytes) -> Mapping[str, JsonValue]:
    """Find the error in a body: OpenAI's shape, or that of older engines and of web frameworks."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    inner = value.get("error")
    if isinstance(inner, dict):
        return inner
    return {"message": value.get("detail"), **value}


def _text(value: JsonValue) -> str | None:
    """Give a text that is worth telling, with a form in UTF-8."""
    if not isinstance(value, str) or not value:
        return None
    return value.encode("utf-8", "replace").decode()


def _code(status: int) -> str:
    try:
        return code_of(status)
    except ValueError:
        return "engine_refused"
