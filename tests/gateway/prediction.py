"""What a gateway says and does in front of an engine with one partition per request, point by point.

The in-process model `salt-only` makes the prediction; the forwarding backend has to bear it out, in front of the
instrumented engine and of a real vLLM alike.
"""

from dataclasses import dataclass, field
from typing import Any, Final

import requests

from gateway.talk import (
    BOB,
    MONDAY,
    NAMESAKE,
    NO_SESSION,
    TUESDAY,
    Caller,
    Json,
    Reply,
    intent,
    message,
    text,
)


@dataclass(frozen=True)
class Turn:
    """A request of whoever has the token: the point's text under an intent, and a question without one."""

    token: str
    asked: Json | None
    reused: bool
    entry: dict[str, Any] = field(default_factory=dict)
    refused: str | None = None


@dataclass(frozen=True)
class Point:
    """What is asked in turn, of a gateway with these options."""

    name: str
    turns: tuple[Turn, ...]
    options: tuple[str, ...] = ()


MISS: Final = {"outcome": "miss", "retention": "unobserved"}
HIT: Final = {"outcome": "exact_hit", "retention": "retained"}
BYPASS: Final = {"outcome": "bypass", "effective_share": "request"}
DECLINED: Final = {**BYPASS, "retention": "declined"}
FORBIDDEN: Final = {**BYPASS, "retention": "forbidden"}

UNENFORCEABLE: Final = "cache_intent_unenforceable"
REJECT: Final = ("--on-unenforceable", "reject")


def _shared(scope: str, within: str, outside: str) -> Point:
    """State is shared within a scope, and not outside."""
    asked, share = intent(scope), {"effective_share": scope}
    return Point(
        f"share_max {scope}",
        (
            Turn(MONDAY, asked, reused=False, entry=MISS | share),
            Turn(outside, asked, reused=False, entry=MISS | share),
            Turn(within, asked, reused=True, entry=HIT | share),
        ),
    )


def _twice(name: str, asked: Json, entry: dict[str, Any], *options: str, reused: bool = False) -> Point:
    """The same is asked twice, and the second time it's served like this."""
    first = MISS | {name: word for name, word in entry.items() if name == "effective_share"}
    turns = (
        Turn(MONDAY, asked, reused=False, entry=first if reused else entry),
        Turn(MONDAY, asked, reused=reused, entry=entry),
    )
    return Point(name, turns, options)


def _refused(name: str, asked: Json, *options: str) -> Point:
    return Point(name, (Turn(MONDAY, asked, reused=False, refused=UNENFORCEABLE),), options)


POINTS: Final = (
    _twice("no intent", {}, {}, reused=True),
    _shared("tenant", BOB, NAMESAKE),
    _shared("principal", TUESDAY, BOB),
    _shared("session", MONDAY, TUESDAY),
    _twice("share_max request", intent("request"), DECLINED),
    Point(
        "share_max public is the tenant's, as the question has no intent",
        (
            Turn(MONDAY, intent("public"), reused=False, entry=MISS | {"effective_share": "tenant"}),
            Turn(NAMESAKE, intent("public"), reused=False, entry=MISS | {"effective_share": "tenant"}),
            Turn(BOB, intent("public"), reused=True, entry=HIT | {"effective_share": "tenant"}),
        ),
    ),
    Point(
        "share_max session without a session",
        tuple(Turn(NO_SESSION, intent("session"), reused=False, entry=DECLINED) for _ in range(2)),
    ),
    _twice("retention forbid", intent(mode="forbid"), FORBIDDEN),
    _twice("reuse none", intent(reuse="none"), DECLINED),
    Point(
        "reuse none leaves warm state where it is",
        (
            Turn(MONDAY, intent(), reused=False, entry=MISS),
            Turn(MONDAY, intent(reuse="none"), reused=False, entry=DECLINED),
            Turn(MONDAY, intent(), reused=True, entry=HIT),
        ),
    ),
    Point(
        "namespace",
        (
            Turn(MONDAY, intent(namespace="tools:v1"), reused=False, entry=MISS),
            Turn(MONDAY, intent(namespace="tools:v2"), reused=False, entry=MISS),
            Turn(MONDAY, intent(), reused=False, entry=MISS),
            Turn(MONDAY, intent(namespace="tools:v1"), reused=True, entry=HIT),
        ),
    ),
    _twice("max_age 0", intent(max_age=0), FORBIDDEN),
    _twice("max_age by bypass", intent(max_age=3600), DECLINED),
    _refused("max_age in reject mode", intent(max_age=3600), *REJECT),
    _twice("max_age 0 in reject mode", intent(max_age=0), FORBIDDEN, *REJECT),
    _twice("max_age by generations", intent(max_age=3600), HIT, "--max-age", "generations", reused=True),
    _twice("max_age that leaves no time", intent(max_age=30), DECLINED, "--max-age", "generations"),
    _twice("approximate as exact", intent(reuse="approximate"), HIT, reused=True),
    _twice(
        "approximate as unenforceable",
        intent(reuse="approximate"),
        DECLINED,
        *("--approximate", "unenforceable"),
    ),
    _refused(
        "approximate as unenforceable in reject mode",
        intent(reuse="approximate"),
        *("--approximate", "unenforceable", *REJECT),
    ),
)

CAPABILITIES: Final[dict[str, Any]] = {
    "versions": [1],
    "constraints": {
        "retention_modes": ["allow", "forbid"],
        "reuse": ["none", "exact"],
        "share_max": ["request", "session", "principal", "tenant", "public"],
        "namespace": True,
    },
    "on_unenforceable": "bypass",
    "status": True,
    "per_fragment_share": False,
}


def capabilities(url: str) -> Any:
    response = requests.get(f"{url}/v1/cache_intent_capabilities", timeout=30)
    told = response.json()["cache_intent_capabilities"]
    return {
        **told,
        "constraints": {name: value for name, value in told["constraints"].items() if value is not False},
    }


def bear_out(point: Point, url: str, model: str) -> None:
    """Go through the turns of a point; plain and streamed responses must tell the same.

    The text is so long that a token count alone proves what became of it: see `reference_gateway.engine.usage`.
    """
    for stream in (False, True):
        words = text(450)
        for turn in point.turns:
            reply = Caller(url, turn.token, model).chat(
                message(words, turn.asked or None, role="system"),
                message("What now?"),
                stream=stream,
                max_tokens=4,
            )
            check(turn, reply)


def check(turn: Turn, reply: Reply) -> None:
    if turn.refused is not None:
        assert (reply.http, reply.error["code"]) == (400, turn.refused)
        return
    assert reply.http == 200
    assert (reply.cached > 0) == turn.reused
    if turn.asked:
        assert turn.entry.items() <= reply.status[0].items()
    else:
        assert "cache_status" not in reply.body
