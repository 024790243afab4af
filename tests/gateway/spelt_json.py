"""JSON read as it was spelt: members in order and each time they occur, numbers by their text.

From it follows what an engine should get of a caller's body. That is worked out here once more, from the
rules and on values instead of texts, so that it shares nothing with the gateway.
"""

import json
from typing import TypeAlias


class Number(str):
    """A number's text."""

    __slots__ = ()


class Members(tuple["tuple[str, Spelt]", ...]):
    """The members of an object, in order."""

    __slots__ = ()


Spelt: TypeAlias = "bool | str | Number | list[Spelt] | Members | None"

WHOSE = {"tenant", "principal", "session", "group"}
NOT_FORWARDED = {
    *WHOSE,
    *("tenant_id", "principal_id", "session_id", "group_id", "organization", "organization_id", "project"),
    *("project_id", "user", "user_id", "safety_identifier", "metadata", "cache_salt", "cache_partition"),
    *("cache_namespace", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "request_id"),
    *("kv_transfer_params", "ec_transfer_params", "vllm_xargs", "prompt_token_ids", "disaggregated_params"),
    *(
        "input_ids",
        "rid",
        "extra_key",
        "session_params",
        "bootstrap_host",
        "bootstrap_port",
        "bootstrap_room",
    ),
}
"""Members of the body that name whose state is meant, or where it lies."""
NOT_OF_A_FRAGMENT = {*WHOSE, "cache_intent", "cache_salt"}
NOT_OF_A_PART = {"cache_salt", "uuid"}


def read(text: str | bytes) -> Spelt:
    """Read a text. Raises ValueError."""
    value: Spelt = json.loads(text, object_pairs_hook=Members, parse_int=Number, parse_float=Number)
    return value


def member(value: Spelt, name: str) -> Spelt:
    """The last member with that name; None where there is none."""
    return dict(value).get(name) if isinstance(value, Members) else None


def less(value: Spelt, names: set[str]) -> Spelt:
    if not isinstance(value, Members):
        return value
    return Members((name, item) for name, item in value if name not in names)


def changed(value: Spelt, name: str, change: "dict[str, Spelt]") -> Spelt:
    """Put `change` in place of a member, in its place."""
    assert isinstance(value, Members)
    return Members((known, change[name] if known == name else item) for known, item in value)


def expected(body: Spelt) -> Spelt:
    """What an engine gets of a caller's body, but for the partition that the gateway sets."""
    kept = less(body, NOT_FORWARDED)
    for name in ("tools", "messages"):
        fragments = member(kept, name)
        if isinstance(fragments, list):
            kept = changed(kept, name, {name: [_fragment(one) for one in fragments]})
    return _with_usage(kept) if member(kept, "stream") is True else kept


def _fragment(value: Spelt) -> Spelt:
    fragment = less(value, NOT_OF_A_FRAGMENT)
    parts = member(fragment, "content")
    if member(fragment, "role") is None or not isinstance(parts, list):
        return fragment
    return changed(fragment, "content", {"content": [less(part, NOT_OF_A_PART) for part in parts]})


def _with_usage(body: Spelt) -> Spelt:
    """A stream is always asked for its usage."""
    assert isinstance(body, Members)
    asked = Members((*_others(member(body, "stream_options")), ("include_usage", True)))
    if any(name == "stream_options" for name, _ in body):
        return changed(body, "stream_options", {"stream_options": asked})
    return Members((*body, ("stream_options", asked)))


def _others(options: Spelt) -> Members:
    kept = less(options, {"include_usage"})
    return kept if isinstance(kept, Members) else Members()


def in_any_order_of_usage(body: Spelt) -> Spelt:
    """Put `include_usage` last: where it stands among the stream's options is the gateway's choice."""
    options = member(body, "stream_options")
    if not isinstance(options, Members) or member(options, "include_usage") is None:
        return body
    asked = Members((*_others(options), ("include_usage", member(options, "include_usage"))))
    return changed(body, "stream_options", {"stream_options": asked})
