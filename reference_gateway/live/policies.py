"""What four policies reuse on one workload: tools that are public, a tenant's system prompt, a question.

Without our plugin in the engine they are three. What the application permits of each prompt is counted apart,
by the engine's tokenizer: the whole blocks of the fragments that this caller may read.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from reference_gateway.live.chat import Answer, Json, intent, message, text, tool
from reference_gateway.live.engine import Engine
from reference_gateway.live.figures import Occasion, paragraph, reusable, table
from reference_gateway.live.gateway import PRINCIPALS
from reference_gateway.live.policy import Clients, Policy, all_policies
from reference_gateway.live.prompt import boundary, whole_blocks

NEW_TENANT: Final = "a new tenant with its own system prompt"
SAME_BYTES: Final = "a new tenant sends the first one's bytes"
COLLEAGUE: Final = "a colleague sends the same bytes"
PUBLIC: Final = "a new tenant sends the same bytes"

LEAST_SHARE: Final = 0.9
"""Of what is reused with everything shared, by a new tenant whose intents have boundaries of their own."""

_TOTALS: Final = """\
The ceiling is what *everything shared* reuses for a new tenant with its own system prompt. *Not permitted*
are the tokens, in all situations together, that somebody reused and the application doesn't let them."""

_READING: Final = (
    """*A new tenant with its own system prompt* is what such an application wants most: its tools are public,
    so that every tenant could reuse them. One partition for each request can't grant that without sharing
    what comes after them too. {regions}""",
    """*A new tenant sends the first one's bytes*: what *everything shared* reuses beyond the tools is another
    tenant's text, confirmed to a stranger.""",
    """*A colleague sends the same bytes*: a salt per tenant can't know that the text was one person's alone;
    the intent says so.""",
    """*Public throughout*: with a salt per tenant each one computes it anew; by the intent it is shared.""",
    """None of it shows how often such requests occur, or what time a token saves that wasn't computed: see
    `ttft.md` and `mix.md`.""",
)
_WITH_REGIONS: Final = """\
With a boundary for each fragment the intent is worth what it says: {regions} of the {ceiling} tokens that
*everything shared* reuses, and none of another tenant's text."""
_WITHOUT: Final = "A boundary for each fragment needs our plugin in the engine, which this one hasn't."

_TOOLS: Final = 8
_ALICE, _BOB = PRINCIPALS


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens reused of a prompt in one situation, under each policy; None where a response doesn't tell.

    `may` says in words what the application lets this caller reuse, `permitted` in tokens.
    """

    situation: str
    may: str
    prompt: int
    permitted: int
    reused: Mapping[Policy, int | None]


@dataclass(frozen=True, slots=True)
class Total:
    """What one policy comes to.

    `share` is what a new tenant with its own system prompt reuses, as a share of what it does with everything
    shared; `beyond` are tokens that somebody reused in all situations together and was not permitted.
    """

    policy: Policy
    share: float
    beyond: int


@dataclass(frozen=True, slots=True)
class _Situation:
    """`readable` is how many fragments, from the first on, the caller may read; all of them: the prompt."""

    what: str
    may: str
    readable: int
    tenant: int
    principal: str
    fragments: tuple[Json, ...]


def policies(engine: Engine) -> tuple[Row, ...]:
    """Play the workload under each policy that the engine permits, with the same texts."""
    situations = tuple(_situations())
    with all_policies(engine) as clients:
        played = {policy: _play(clients_of, situations) for policy, clients_of in clients.items()}
    rows = []
    for index, situation in enumerate(situations):
        answers = {policy: answers[index] for policy, answers in played.items()}
        could = reusable(answers[Policy.SHARED], engine.block_size())
        reused = {policy: answer.cached for policy, answer in answers.items()}
        prompt = answers[Policy.SHARED].prompt or 0
        permitted = min(could, _permitted(engine, situation))
        rows.append(Row(situation.what, situation.may, prompt, permitted, reused))
    return tuple(rows)


def totals(rows: Sequence[Row]) -> tuple[Total, ...]:
    """Sum up each policy."""
    (new,) = (row for row in rows if row.situation == NEW_TENANT)
    ceiling = new.reused[Policy.SHARED] or 0
    return tuple(
        Total(
            policy,
            (new.reused[policy] or 0) / ceiling if ceiling else 0.0,
            sum(max(0, (row.reused[policy] or 0) - row.permitted) for row in rows),
        )
        for policy in new.reused
    )


def as_expected(rows: Sequence[Row]) -> bool:
    """Whether every response told, and intents were kept and, where they have boundaries, worth it.

    With regions each situation reuses exactly what the application permits.
    """
    told = all(reused is not None for row in rows for reused in row.reused.values())
    exactly = all(row.reused.get(Policy.REGIONS, row.permitted) == row.permitted for row in rows)
    by_policy = {total.policy: total for total in totals(rows)}
    kept = all(by_policy[one].beyond == 0 for one in by_policy if one in {Policy.INTENT, Policy.REGIONS})
    worth = Policy.REGIONS not in by_policy or by_policy[Policy.REGIONS].share >= LEAST_SHARE
    return told and exactly and kept and worth and by_policy[Policy.SHARED].share > 0


def markdown(occasion: Occasion, rows: Sequence[Row]) -> str:
    """Render the comparison as tables, with what is to be read from it."""
    named = tuple(rows[0].reused)
    lines = [(row.situation, row.prompt, *row.reused.values(), row.permitted, row.may) for row in rows]
    header = ("situation", "prompt", *named, "permitted", "that is")
    (new,) = (row for row in rows if row.situation == NEW_TENANT)
    summed = [(total.policy, f"{total.share:.0%}", total.beyond) for total in totals(rows)]
    regions = _WITHOUT
    if Policy.REGIONS in new.reused:
        regions = _WITH_REGIONS.format(regions=new.reused[Policy.REGIONS], ceiling=new.reused[Policy.SHARED])
    reading = [paragraph(f"- {line.format(regions=regions)}", indent="  ") for line in _READING]
    return "\n\n".join(
        (
            "# Policies on a real vLLM",
            str(occasion),
            "Tokens reused:",
            table(header, lines),
            paragraph(_TOTALS),
            table(("policy", "a new tenant's share of the ceiling", "not permitted"), summed),
            "\n".join(reading),
            "As expected." if as_expected(rows) else "NOT AS EXPECTED.",
        )
    )


def document(occasion: Occasion, rows: Sequence[Row]) -> Json:
    """Give the comparison as a JSON value."""
    return {
        "seen_on": occasion.document(),
        "as_expected": as_expected(rows),
        "rows": [
            {
                "situation": row.situation,
                "permitted": row.may,
                "permitted_tokens": row.permitted,
                "prompt_tokens": row.prompt,
                "reused_tokens": dict(row.reused),
            }
            for row in rows
        ],
        "totals": [
            {"policy": total.policy, "share_of_ceiling": total.share, "not_permitted_tokens": total.beyond}
            for total in totals(rows)
        ],
    }


def _situations() -> Iterator[_Situation]:
    tools = tuple(tool(f"tool_{number}", text(20), intent("public")) for number in range(_TOOLS))
    first, second = (message(text(30), "system", intent("tenant")) for _ in range(2))
    private = message(text(30), "system", intent("principal"))
    public = message(text(30), "system", intent("public"))
    question, other = (message(text(4)) for _ in range(2))
    shown = message(text(4), "user", intent("public"))

    after_tools, after_system = len(tools), len(tools) + 1
    yield _Situation("a first tenant warms the cache", "nothing yet", 0, 0, _ALICE, (*tools, first, question))
    yield _Situation(
        "it asks another question", "tools, system prompt", after_system, 0, _ALICE, (*tools, first, other)
    )
    yield _Situation(NEW_TENANT, "tools", after_tools, 1, _ALICE, (*tools, second, question))
    yield _Situation(SAME_BYTES, "tools", after_tools, 2, _ALICE, (*tools, first, question))
    yield _Situation(
        "somebody sends what is only theirs", "tools", after_tools, 0, _ALICE, (*tools, private, question)
    )
    yield _Situation(COLLEAGUE, "tools", after_tools, 0, _BOB, (*tools, private, question))
    everything = (*tools, public, shown)
    yield _Situation("a prompt that is public throughout", "tools", after_tools, 0, _ALICE, everything)
    yield _Situation(PUBLIC, "all of it", len(everything), 3, _ALICE, everything)


def _permitted(engine: Engine, situation: _Situation) -> int:
    """Give the whole blocks of what a caller may read; those of the prompt are the caller's to bound."""
    if situation.readable == len(situation.fragments):
        return sys.maxsize
    if situation.readable == 0:
        return 0
    return whole_blocks(boundary(engine, situation.fragments, situation.readable), engine.block_size())


def _play(clients: Clients, situations: Sequence[_Situation]) -> tuple[Answer, ...]:
    return tuple(clients(one.tenant, one.principal).ask(*one.fragments) for one in situations)
