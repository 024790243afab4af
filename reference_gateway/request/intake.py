"""From the bytes of a chat body to its fragments in binding order with their intents, or a refusal.

Order of judgement (READ-24): the text, the shape of the fragments and their intents from the first to the
last, the rest of the envelope. A body member that names a tenant, a session or a cache partition is never
read (BND-6).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from cctest.contract.intent import CacheIntent, IntentError, duplicate_ids, read_intent
from cctest.contract.source import Fault, JsonValue, child
from reference_gateway.refusal import invalid_request, refused_intent, too_many_fragments
from reference_gateway.request.bodyjson import read_json
from reference_gateway.request.metadata import refuse_large_metadata
from reference_gateway.request.misplaced import CACHE_INTENT, misplaced_intent
from reference_gateway.request.model_visible import has_other_input, own_template, rendering_members

FRAGMENT_LIMIT: Final = 4096
"""Most fragments in one request."""
CHOICE_LIMIT: Final = 8
"""Most answers to one request."""


class Kind(StrEnum):
    """The body members whose elements are fragments, in the order in which they are rendered (BND-1)."""

    TOOL = "tools"
    MESSAGE = "messages"


@dataclass(frozen=True, slots=True)
class Fragment:
    """One element of `tools` or `messages` as the caller sent it, and its intent."""

    kind: Kind
    pointer: str
    value: Mapping[str, JsonValue]
    intent: CacheIntent | None


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What the gateway serves: fragments in binding order, and the envelope members that it honours.

    `text` is the whole body. `other_input` tells whether it has members that a model may see although they
    are no fragments, so that no intent speaks for them (READ-38). `own_template` is a pointer to a chat
    template that the caller supplies. `prompt_told` tells whether something is to be told of each token of
    the prompt: for that, an engine computes them all and looks nothing up. `rendering` holds the members by
    which an engine may render fragments otherwise.
    """

    model: str
    fragments: tuple[Fragment, ...]
    choices: int
    stream: bool
    include_usage: bool
    other_input: bool = False
    text: str = ""
    own_template: str | None = None
    prompt_told: bool = False
    rendering: Mapping[str, JsonValue] = field(default_factory=dict)


def read_chat_request(body: bytes) -> ChatRequest:
    """Read a chat completions body. Raises RefusalError."""
    members = _parse(body)
    text = body.decode()
    fragments = _fragments(members, text)
    _refuse_duplicate_ids(fragments)
    refuse_large_metadata(members)
    options = members.get("stream_options")
    if options is None:
        options = {}
    if not isinstance(options, dict):
        raise invalid_request("must be an object", "/stream_options")
    return ChatRequest(
        model=_model(members),
        fragments=fragments,
        choices=_choices(members),
        stream=_flag(members, "stream", ""),
        include_usage=_flag(options, "include_usage", "/stream_options"),
        other_input=has_other_input(members),
        text=text,
        own_template=own_template(members),
        prompt_told=members.get("prompt_logprobs") is not None or bool(members.get("echo")),
        rendering=rendering_members(members),
    )


def _parse(body: bytes) -> dict[str, JsonValue]:
    value = read_json(body)
    if not isinstance(value, dict):
        raise invalid_request("the body must be a JSON object", "")
    return value


def _fragments(members: Mapping[str, JsonValue], text: str) -> tuple[Fragment, ...]:
    tools = [] if members.get("tools") is None else _array(members, Kind.TOOL)
    messages = _array(members, Kind.MESSAGE)
    if not messages:
        raise invalid_request("must not be empty", "/messages")
    if len(tools) + len(messages) > FRAGMENT_LIMIT:
        raise too_many_fragments(FRAGMENT_LIMIT)
    placed = [(Kind.TOOL, index, value) for index, value in enumerate(tools)]
    placed += [(Kind.MESSAGE, index, value) for index, value in enumerate(messages)]
    search = _may_be_misplaced(text, [value for _, _, value in placed])
    fragments = []
    for kind, index, value in placed:
        fragments.append(_fragment(kind, index, value))
        if search:
            _refuse_misplaced(_less(fragments[-1].value, {CACHE_INTENT}), fragments[-1].pointer, (kind, "*"))
    if search:
        _refuse_misplaced(_less(members, {*Kind}), "", ())
    return tuple(fragments)


def _may_be_misplaced(text: str, fragments: list[JsonValue]) -> bool:
    r"""Tell quickly where all intents stand on fragments; the name is spelt as it is or with `\u` escapes."""
    placed = sum(CACHE_INTENT in value for value in fragments if isinstance(value, dict))
    return "\\u" in text or text.count(f'"{CACHE_INTENT}"') != placed


def _less(members: Mapping[str, JsonValue], names: set[str]) -> JsonValue:
    return {name: value for name, value in members.items() if name not in names}


def _array(members: Mapping[str, JsonValue], kind: Kind) -> list[JsonValue]:
    if kind not in members:
        raise invalid_request(f"{kind} is required", "")
    value = members[kind]
    if not isinstance(value, list):
        raise invalid_request("must be an array", f"/{kind}")
    return value


def _fragment(kind: Kind, index: int, value: JsonValue) -> Fragment:
    pointer = f"/{kind}/{index}"
    if not isinstance(value, dict):
        raise invalid_request("must be an object", pointer)
    intent = None
    if CACHE_INTENT in value:
        try:
            intent = read_intent(value[CACHE_INTENT], f"{pointer}/{CACHE_INTENT}")
        except IntentError as error:
            raise refused_intent(error.faults, error.code) from error
    (_check_message if kind is Kind.MESSAGE else _check_tool)(value, pointer)
    return Fragment(kind, pointer, value, intent)


def _check_message(message: Mapping[str, JsonValue], pointer: str) -> None:
    role = message.get("role")
    if not isinstance(role, str) or not role:
        raise invalid_request("needs a role, which is a string", pointer)
    content = message.get("content")
    if content is None or isinstance(content, str):
        return
    place = child(pointer, "content")
    if not isinstance(content, list):
        raise invalid_request("must be a string or an array of parts", place)
    for index, part in enumerate(content):
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            raise invalid_request("must be an object with a type", child(place, index))


def _check_tool(tool: Mapping[str, JsonValue], pointer: str) -> None:
    if not isinstance(tool.get("type"), str):
        raise invalid_request("needs a type, which is a string", pointer)


def _refuse_misplaced(value: JsonValue, pointer: str, place: tuple[str, ...]) -> None:
    found = misplaced_intent(value, pointer, place)
    if found is not None:
        raise refused_intent((found,))


def _refuse_duplicate_ids(fragments: tuple[Fragment, ...]) -> None:
    for first, later, _ in duplicate_ids(fragment.intent for fragment in fragments):
        message = f"the id is that of {fragments[first].pointer} already; ids are unique in a request"
        raise refused_intent((Fault(f"{fragments[later].pointer}/{CACHE_INTENT}/id", message),))


def _model(members: Mapping[str, JsonValue]) -> str:
    model = members.get("model")
    if not isinstance(model, str):
        raise invalid_request("model is required and is a string", "/model" if "model" in members else "")
    return model


def _choices(members: Mapping[str, JsonValue]) -> int:
    choices = members.get("n")
    if choices is None:
        return 1
    if isinstance(choices, bool) or not isinstance(choices, int) or not 1 <= choices <= CHOICE_LIMIT:
        raise invalid_request(f"must be an integer from 1 to {CHOICE_LIMIT}", "/n")
    return choices


def _flag(members: Mapping[str, JsonValue], name: str, pointer: str) -> bool:
    value = members.get(name)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise invalid_request("must be true or false", child(pointer, name))
    return value
