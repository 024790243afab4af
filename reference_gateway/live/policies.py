"""What three policies reuse on one workload: tools that are public, a tenant's system prompt, a question.

- *everything shared*: no salt at all. The most that can be reused, and no isolation;
- *tenant salt*: one partition for each tenant, whatever the texts are;
- *intent*: what the application said of each fragment, through our gateway. vLLM has one partition for each
  request, so the narrowest boundary is applied to all of it (CAP-6, BND-10).
"""

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from reference_gateway.live.chat import Answer, Client, Json, intent, message, text, tool
from reference_gateway.live.engine import Engine
from reference_gateway.live.figures import Occasion, paragraph, table
from reference_gateway.live.gateway import PRINCIPALS, Gateway, running_gateway

Ask: TypeAlias = Callable[[int, str, Sequence[Json]], Answer]
"""Send fragments as somebody: a tenant's number, and a principal of it."""

_READING: Final = (
    """\
    - *A new tenant with its own system prompt* is what such an application wants most: its tools are
    public, so that every tenant could reuse them. With one partition per request that can't be granted
    without sharing what comes after them too. So the intent reuses {intent} of the {ceiling} tokens that
    *everything shared* does, and *tenant salt* {salt}. Boundaries per fragment need an engine that has
    them.""",
    """\
    - *A new tenant sends the first one's bytes*: what *everything shared* reuses beyond the tools is
    another tenant's text, confirmed to a stranger.""",
    """\
    - *A colleague sends the same bytes*: a salt per tenant can't know that the text was one person's alone;
    the intent says so.""",
    """\
    - *Public throughout*: with a salt per tenant each one computes it anew; by the intent it is shared.""",
    """\
    - None of it shows how often such requests occur, or what time a token saves that wasn't computed.""",
)
_NEW_TENANT: Final = 2
"""The row of a new tenant with its own system prompt."""

POLICIES: Final = ("everything shared", "tenant salt", "intent")

_TOOLS: Final = 8
_ALICE, _BOB = PRINCIPALS


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens reused of a prompt in one situation, under each policy; None where a response doesn't tell.

    `may` says in words what the application lets this caller reuse.
    """

    situation: str
    may: str
    prompt: int
    reused: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class _Situation:
    what: str
    may: str
    tenant: int
    principal: str
    fragments: tuple[Json, ...]


def policies(engine: Engine) -> tuple[Row, ...]:
    """Play the workload under each policy, with the same texts."""
    situations = tuple(_situations())
    with running_gateway(engine) as gateway:
        played = [_play(ask, situations) for ask in (_shared(engine), _salted(engine), _intended(gateway))]
    return tuple(
        Row(situation.what, situation.may, answers[0].prompt or 0, tuple(answer.cached for answer in answers))
        for situation, answers in zip(situations, zip(*played, strict=True), strict=True)
    )


def markdown(occasion: Occasion, rows: Sequence[Row]) -> str:
    """Render the comparison as a table, with what is to be read from it."""
    lines = [(row.situation, row.prompt, *row.reused, row.may) for row in rows]
    header = ("situation", "prompt", *POLICIES, "the application permits")
    ceiling, salt, by_intent = rows[_NEW_TENANT].reused
    reading = "\n".join(
        paragraph(line.format(ceiling=ceiling, salt=salt, intent=by_intent), indent="  ") for line in _READING
    )
    return "\n\n".join(
        ("# Policies on a real vLLM", str(occasion), "Tokens reused:", table(header, lines), reading)
    )


def document(occasion: Occasion, rows: Sequence[Row]) -> Json:
    """Give the comparison as a JSON value."""
    return {
        "seen_on": occasion.document(),
        "rows": [
            {
                "situation": row.situation,
                "permitted": row.may,
                "prompt_tokens": row.prompt,
                "reused_tokens": dict(zip(POLICIES, row.reused, strict=True)),
            }
            for row in rows
        ],
    }


def _situations() -> Iterator[_Situation]:
    tools = tuple(tool(f"tool_{number}", text(20), intent("public")) for number in range(_TOOLS))
    first, second = (message(text(30), "system", intent("tenant")) for _ in range(2))
    private = message(text(30), "system", intent("principal"))
    public = message(text(30), "system", intent("public"))
    question, other = (message(text(4)) for _ in range(2))
    shown = message(text(4), "user", intent("public"))

    yield _Situation("a first tenant warms the cache", "nothing yet", 0, _ALICE, (*tools, first, question))
    yield _Situation("it asks another question", "tools, system prompt", 0, _ALICE, (*tools, first, other))
    yield _Situation(
        "a new tenant with its own system prompt", "tools", 1, _ALICE, (*tools, second, question)
    )
    yield _Situation(
        "a new tenant sends the first one's bytes", "tools", 2, _ALICE, (*tools, first, question)
    )
    yield _Situation("somebody sends what is only theirs", "tools", 0, _ALICE, (*tools, private, question))
    yield _Situation("a colleague sends the same bytes", "tools", 0, _BOB, (*tools, private, question))
    yield _Situation("a prompt that is public throughout", "tools", 0, _ALICE, (*tools, public, shown))
    yield _Situation("a new tenant sends the same bytes", "all of it", 3, _ALICE, (*tools, public, shown))


def _play(ask: Ask, situations: Sequence[_Situation]) -> tuple[Answer, ...]:
    return tuple(ask(one.tenant, one.principal, one.fragments) for one in situations)


def _shared(engine: Engine) -> Ask:
    client = _direct(engine)
    return lambda _tenant, _principal, fragments: client.ask(*map(_bare, fragments))


def _salted(engine: Engine) -> Ask:
    client, run = _direct(engine), secrets.token_hex(16)
    return lambda tenant, _principal, fragments: client.ask(
        *map(_bare, fragments), cache_salt=f"{run}-{tenant}"
    )


def _intended(gateway: Gateway) -> Ask:
    return lambda tenant, principal, fragments: gateway.client(tenant, principal).ask(*fragments)


def _direct(engine: Engine) -> Client:
    return Client(engine.url, engine.model, engine.headers())


def _bare(fragment: Json) -> Json:
    return {name: value for name, value in fragment.items() if name != "cache_intent"}
