"""Faults of a gateway in front of an engine: what of the caller's body it forwards, and in which order."""

import json
from collections.abc import Callable
from functools import partial
from secrets import token_hex
from typing import Any, TypeAlias

from . import model, seams
from .model import Backend, Word

fault = partial(model.fault, backend=Backend.FORWARDING, status=Word.SILENT)

Body: TypeAlias = dict[str, Any]

_UNCHANGED = ("forwarding#arrives-unchanged",)


def _rewrite(change: Callable[[Body, Body], None]) -> None:
    """Change the body that is forwarded, in the light of the one that the caller sent."""

    def make(original: Any) -> Any:
        def forwarded(text: str, salt: str | None, **how: Any) -> bytes:
            body = json.loads(original(text, salt, **how))
            change(body, json.loads(text))
            return json.dumps(body, ensure_ascii=False).encode()

        return forwarded

    seams.FORWARDED.wrap(make)


def _with_intents(body: Body, sent: Body, where: Callable[[str, Body], bool]) -> None:
    """Put intents back on the fragments of which `where` is true, told their kind."""
    for kind in ("tools", "messages"):
        for fragment, original in zip(body.get(kind, ()), sent.get(kind, ()), strict=True):
            if "cache_intent" in original and where(kind, fragment):
                fragment["cache_intent"] = original["cache_intent"]


@fault(rules=("BND-4",), checks=("forwarding#intent-removed",), public="D32")
def intents_forwarded() -> None:
    """Intents are forwarded to an engine that doesn't define them."""
    _rewrite(lambda body, sent: _with_intents(body, sent, lambda kind, fragment: True))


@fault(
    rules=("BND-4",),
    checks=("forwarding#intent-removed",),
    cells=({"place": "tools"},),
    public="D32",
)
def intents_forwarded_on_tools() -> None:
    """Intents are removed from messages only."""
    _rewrite(lambda body, sent: _with_intents(body, sent, lambda kind, fragment: kind == "tools"))


@fault(
    rules=("BND-4",),
    checks=("forwarding#intent-removed",),
    cells=({"place": "parts"},),
    public="D32",
)
def intents_forwarded_with_content_in_parts() -> None:
    """Intents are overlooked on messages whose content is an array."""

    def in_parts(kind: str, fragment: Body) -> bool:
        return isinstance(fragment.get("content"), list)

    _rewrite(lambda body, sent: _with_intents(body, sent, in_parts))


@fault(
    rules=("BND-4",),
    checks=("forwarding#intent-removed",),
    cells=({"stream": "streamed"},),
    public="D32",
)
def intents_forwarded_when_streamed() -> None:
    """The route of streams forwards intents."""
    _rewrite(
        lambda body, sent: (
            _with_intents(body, sent, lambda kind, fragment: True) if sent.get("stream") is True else None
        )
    )


@fault(
    rules=("BND-4", "BND-3", "BND-1"),
    checks=("misplaced-forwarding#in-function-removed", "misplaced-forwarding#beside-removed"),
    public="D32",
)
def misplaced_intents_forwarded() -> None:
    """An intent that stands anywhere but on a fragment is neither refused nor removed."""
    seams.MISPLACED.wrap(lambda _: lambda value, pointer, place: None)


def _parts(body: Body) -> list[Body]:
    contents = [message.get("content") for message in body["messages"]]
    return [part for content in contents if isinstance(content, list) for part in content]


@fault(rules=("SHR-4",), checks=("named-items#not-found-by-name",))
def names_of_images_forwarded() -> None:
    """The name that a caller gives an image is forwarded as it came, to an engine that keeps images by it."""

    def named(body: Body, sent: Body) -> None:
        for part, original in zip(_parts(body), _parts(sent), strict=True):
            part.update({name: original[name] for name in ("uuid",) if name in original})

    _rewrite(named)


@fault(rules=("BND-6",), checks=("salt-inside-stripped#stripped-from-part",))
def salts_of_parts_forwarded() -> None:
    """A salt that stands on a content part is forwarded as it came."""

    def salted(body: Body, sent: Body) -> None:
        for part, original in zip(_parts(body), _parts(sent), strict=True):
            part.update({name: original[name] for name in ("cache_salt",) if name in original})

    _rewrite(salted)


@fault(
    rules=("BND-6",),
    checks=("salt-inside-stripped#stripped-from-fragment", "salt-inside-stripped#stripped-from-tool"),
)
def salts_of_fragments_forwarded() -> None:
    """A salt that stands on a fragment is forwarded as it came."""

    def salted(body: Body, sent: Body) -> None:
        for kind in ("tools", "messages"):
            for fragment, original in zip(body.get(kind, ()), sent.get(kind, ()), strict=True):
                fragment.update({name: original[name] for name in ("cache_salt",) if name in original})

    _rewrite(salted)


@fault(rules=("BND-6",), checks=("partition-members#members-stripped",))
def tenant_member_forwarded() -> None:
    """A member of the body that names a tenant is forwarded as it came."""
    _rewrite(lambda body, sent: body.update({name: sent[name] for name in ("tenant",) if name in sent}))


@fault(
    rules=("CMP-10",),
    checks=_UNCHANGED,
    cells=({"place": "system", "position": "middle"}, {"place": "system", "position": "last"}),
    public="D33",
)
def system_messages_hoisted() -> None:
    """System messages are moved to the front."""
    _rewrite(lambda body, sent: body["messages"].sort(key=lambda message: message["role"] != "system"))


@fault(rules=("CMP-10",), checks=_UNCHANGED, cells=({"place": "tools"},), public="D34")
def tools_in_another_order() -> None:
    """Tools pass through an unordered map, and come out as they may."""

    def turned(body: Body, sent: Body) -> None:
        if "tools" in body:
            body["tools"] = body["tools"][1:] + body["tools"][:1]

    _rewrite(turned)


@fault(rules=("CMP-10", "BND-4"), checks=("content-kept#arrives-unchanged",), public="D34")
def properties_of_tools_sorted() -> None:
    """The properties of a tool's parameters are sorted by name."""

    def ordered(body: Body, sent: Body) -> None:
        for tool in body.get("tools", ()):
            parameters = tool["function"]["parameters"]
            parameters["properties"] = dict(sorted(parameters["properties"].items()))

    _rewrite(ordered)


@fault(rules=("CMP-10", "BND-4"), checks=("content-kept#arrives-unchanged",))
def parameter_of_that_name_removed() -> None:
    """Intents are removed wherever the name occurs, parameters of tools among it."""

    def pruned(value: Any) -> Any:
        if isinstance(value, list):
            return [pruned(item) for item in value]
        if not isinstance(value, dict):
            return value
        return {name: pruned(item) for name, item in value.items() if name != "cache_intent"}

    def all_pruned(body: Body, sent: Body) -> None:
        body.update(pruned(body))

    _rewrite(all_pruned)


@fault(rules=("CMP-10",), checks=_UNCHANGED, public="D35")
def telemetry_in_front() -> None:
    """A line that changes with every request is put in front of the conversation."""

    def traced(body: Body, sent: Body) -> None:
        body["messages"].insert(0, {"role": "system", "content": f"trace {token_hex(8)}"})

    _rewrite(traced)


@fault(rules=("CMP-10",), checks=_UNCHANGED, cells=({"count": "many"},))
def long_conversations_cut() -> None:
    """Of a conversation or a list of tools the first sixteen are forwarded, and the last one."""

    def cut(body: Body, sent: Body) -> None:
        for kind in ("tools", "messages"):
            if len(body.get(kind, ())) > 17:
                body[kind] = [*body[kind][:16], body[kind][-1]]

    _rewrite(cut)
