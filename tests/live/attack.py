"""An attack: somebody's request, the same bytes by a tenant that never asked before, and a colleague as the control."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from live.site import STREAMED, Site, readable, reused, whole
from reference_gateway.live.chat import Client, Json, intent, message, text, tool

PUBLIC = intent("public")
Prompt = tuple[list[Json], str | None, str]
"""Fragments, the last text in them that is public, and the first that is private."""

ATTEMPTS = 3
"""A boundary that isn't found out in time costs reuse. It mustn't each time."""


@dataclass(frozen=True)
class Bounds:
    """Tokens of a prompt: those that are all of public fragments, and those before the first private word."""

    least: int
    most: int


@dataclass(frozen=True)
class Seen:
    """Tokens that a stranger read, and a colleague, and the most that anybody could."""

    stranger: int
    colleague: int
    readable: int


def bounds(site: Site, fragments: list[Json], public: str | None, private: str) -> Bounds:
    """`public` is the last public text, `private` the first private one. Neither is asked of the gateway."""
    tokens = site.tokens(*fragments)
    least = 0 if public is None else whole(site.up_to(tokens, public))
    return Bounds(least, whole(site.before(tokens, private)))


def seen(site: Site, fragments: list[Json], **members: Any) -> Seen:
    """Let an owner ask, a fresh tenant the very same, plain or in a stream, and then a colleague of the owner."""
    owners, stranger = site.tenant(), site.tenant().owner
    with site.counted() as answers:
        answers += [
            client.ask(*fragments, **{**way, **members})
            for client, way in ((owners.owner, {}), (stranger, STREAMED), (owners.colleague, {}))
        ]
    _, theirs, control = answers
    return Seen(reused(theirs), reused(control), readable(control))


def attack(site: Site, make: Callable[[], Prompt], **members: Any) -> Bounds:
    """Attack prompts of `make`: fragments, their last public text and their first private one.

    Nothing private may be read in any attempt; in one of them, all whole public blocks must.
    """
    least = []
    for _ in range(ATTEMPTS):
        fragments, public, private = make()
        limits = bounds(site, fragments, public, private)
        saw = seen(site, fragments, **members)
        assert saw.stranger <= limits.most
        least.append((saw.stranger, limits.least))
        if saw.colleague == saw.readable > limits.most and saw.stranger >= limits.least:
            return limits
    raise AssertionError(
        f"less is shared than what is public, or the control finds less than all: {saw}, {least}"
    )


def ask_all(clients: list[Client], fragments: list[Json], **members: Any) -> list[int]:
    return [reused(client.ask(*fragments, **members)) for client in clients]


def schema(sentences: int = 6, scope: Json = PUBLIC) -> Json:
    return tool("look_up", text(sentences), scope)


def described(one: Json) -> str:
    return str(one["function"]["description"])


def prompt(*, padding: str = "", private: str | None = None, role: str = "system") -> Prompt:
    """A public tool, and private text behind it."""
    tools, own = schema(), text(10) if private is None else private
    tools["function"]["description"] += padding
    fragments = [tools, message(own, role, intent("tenant")), message("And now?")]
    return fragments, described(tools), own
