"""From a body to what the engine computes, or a refusal in vLLM's words and shape.

Unknown members are ignored, wherever they stand. `max_tokens` and `stop` are ignored too: a truncated answer
would have no canary.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cctest.contract.source import JsonValue
from cctest.instrument.regions import SALT_LENGTH, Region, Regions, RegionsError, read_regions
from cctest.instrument.settings import Settings
from cctest.instrument.template import execution_identity, numbered_token, render, tokenize

CHOICE_LIMIT: Final = 16
"""Most answers to one request."""

_FORBIDDEN_IN_SALT: Final = re.compile(r"[@/\\\0]")
_KINDS: Final = {404: "NotFoundError", 429: "RateLimitError", 500: "InternalServerError"}


class RefusalError(Exception):
    """The request is answered with an error: its HTTP status, a message, and the member that it is about."""

    def __init__(self, status: int, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param

    def body(self) -> dict[str, JsonValue]:
        """Give the error object."""
        kind = _KINDS.get(self.status, "BadRequestError")
        error: dict[str, JsonValue] = {"message": self.message, "type": kind}
        return {"error": {**error, "param": self.param, "code": self.status}}


@dataclass(frozen=True, slots=True)
class ComputedRequest:
    """What is computed. `salt` is None for the engine's shared partition, `carried` what came of regions.

    Where something is to be told of each token of the prompt, all are computed and none is looked up, as in
    vLLM: `looks_up` is false then.
    """

    salt: str | None
    carried: Regions | None
    tokens: list[bytes]
    identity: bytes
    choices: int
    stream: bool
    include_usage: bool
    looks_up: bool

    @property
    def regions(self) -> tuple[Region, ...]:
        """The partitions that hold, in order; none at all where that is the shared one."""
        if self.salt is None:
            return ()
        flat = (Region(0, self.salt),)
        return flat if self.carried is None else self.carried.in_effect(self.tokens, self.salt)


def read_members(body: bytes) -> dict[str, JsonValue]:
    """Parse a body, as leniently as an engine does. Raises RefusalError."""
    try:
        value: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        raise RefusalError(400, "the body is no JSON") from None
    if not isinstance(value, dict):
        raise RefusalError(400, "the body must be an object")
    return value


def read_chat_request(members: Mapping[str, JsonValue], settings: Settings) -> ComputedRequest:
    """Read the members of a chat body. Raises RefusalError."""
    return _read_request(members, settings, rendered(members))


def read_completion_request(members: Mapping[str, JsonValue], settings: Settings) -> ComputedRequest:
    """Read the members of a body whose `prompt` is a text or the numbers of tokens. Raises RefusalError."""
    prompt = members.get("prompt")
    return _read_request(
        members, settings, tokenize(prompt) if isinstance(prompt, str) else numbered(prompt, "prompt")
    )


def rendered(members: Mapping[str, JsonValue]) -> list[bytes]:
    """Give the tokens of a conversation. Raises RefusalError."""
    return render(_fragments(members, "tools"), _fragments(members, "messages", least=1))


def numbered(value: JsonValue, name: str) -> list[bytes]:
    """Give the tokens that a member `name` has the numbers of. Raises RefusalError."""
    numbers = [one for one in value if type(one) is int] if isinstance(value, list) else []
    try:
        if numbers and numbers == value:
            return list(map(numbered_token, numbers))
    except OverflowError:
        pass
    raise RefusalError(400, "must be the numbers of tokens", name)


def _read_request(
    members: Mapping[str, JsonValue], settings: Settings, tokens: list[bytes]
) -> ComputedRequest:
    model = members.get("model") or settings.model
    if model != settings.model:
        raise RefusalError(404, f"The model `{model}` does not exist.", "model")
    options = members.get("stream_options") or {}
    if not isinstance(options, dict):
        raise RefusalError(400, "must be an object", "stream_options")
    stream = members.get("stream") is True
    if options and not stream:
        raise RefusalError(400, "Stream options can only be defined when `stream=True`.", "stream_options")
    salt = _salt(members.get("cache_salt"))
    return ComputedRequest(
        salt=salt,
        carried=_carried(members.get("vllm_xargs"), salt) if settings.regions else None,
        tokens=tokens,
        identity=execution_identity(settings.model, members),
        choices=_choices(members.get("n")),
        stream=stream,
        include_usage=options.get("include_usage") is True,
        looks_up=members.get("prompt_logprobs") is None and not members.get("echo"),
    )


def _salt(value: JsonValue) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        message = "Parameter 'cache_salt' must be a non-empty string if provided."
    elif len(value) > SALT_LENGTH:
        message = f"Parameter 'cache_salt' must have at most {SALT_LENGTH} characters."
    elif _FORBIDDEN_IN_SALT.search(value):
        message = "Parameter 'cache_salt' must not contain '@', '/', '\\' or NUL."
    else:
        return value
    raise RefusalError(400, message, "cache_salt")


def _carried(extra: JsonValue, salt: str | None) -> Regions | None:
    try:
        carried = read_regions(extra)
    except RegionsError as error:
        raise RefusalError(400, str(error), "vllm_xargs") from None
    if carried is not None and salt is None:
        raise RefusalError(400, "regions need a cache_salt beside them", "cache_salt")
    return carried


def _fragments(members: Mapping[str, JsonValue], name: str, least: int = 0) -> list[JsonValue]:
    value = members.get(name)
    fragments = [] if value is None else value
    if not isinstance(fragments, list) or not all(isinstance(item, dict) for item in fragments):
        raise RefusalError(400, "must be an array of objects", name)
    if len(fragments) < least:
        raise RefusalError(400, "must not be empty", name)
    if name == "messages" and not all(
        isinstance(item.get("role"), str) for item in fragments if isinstance(item, dict)
    ):
        raise RefusalError(400, "every message needs a role", name)
    return fragments


def _choices(value: JsonValue) -> int:
    if value is None:
        return 1
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= CHOICE_LIMIT:
        raise RefusalError(400, f"must be an integer from 1 to {CHOICE_LIMIT}", "n")
    return value
