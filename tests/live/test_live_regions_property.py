"""Random scopes, lengths and callers against an independent model: never more is read, and what is public always."""

import random

import pytest

from live.permitted import SCOPES, Asked, Model, Part
from live.site import PLAIN, STREAMED, Site, Tenant, readable, reused, whole
from live.thorough import THOROUGH
from reference_gateway.live.chat import Client, Json, intent, message, text, tool

ROUNDS = range(40) if THOROUGH else range(4)
REQUESTS = 20
MOST_PARTS = 5


class Round:
    """Three tenants and a trunk of texts, of which every request has some first ones."""

    def __init__(self, site: Site, seed: int) -> None:
        self._site, self._drawn = site, random.Random(seed)
        self._tenants: list[Tenant] = [site.tenant() for _ in range(3)]
        roles = ["tool", "system", "user", "assistant", "user"]
        first = self._drawn.randrange(3)
        lengths = [self._drawn.choice([0, 1, 3, 8]) for _ in roles]
        lengths[first] = self._drawn.choice([4, 8])
        self._trunk = [(role, text(length)) for role, length in zip(roles, lengths, strict=True)][first:]
        self._scopes = sorted((self._drawn.choice(SCOPES[:4]) for _ in self._trunk), key=SCOPES.index)

    def request(self) -> tuple[Asked, Client, list[Json]]:
        drawn = self._drawn
        number = drawn.randrange(3)
        principal = drawn.randrange(2)
        who = self._tenants[number]
        client = (who.owner, who.colleague)[principal]
        trunk = list(self._trunk[: drawn.randint(1, MOST_PARTS)])
        if drawn.random() < 0.3:
            fork = drawn.randrange(len(trunk))
            trunk[fork] = (trunk[fork][0], text(drawn.choice([0, 2, 6])))
        if all(role == "tool" for role, _ in trunk):
            trunk.append(("user", text(2)))
        made = [self._fragment(role, words, at) for at, (role, words) in enumerate(trunk)]
        fragments = [fragment for fragment, *_ in made]
        tokens = self._site.tokens(*fragments)
        parts = [
            Part(words, scope, self._site.before(tokens, words), self._site.up_to(tokens, words), reads, kept)
            for (_, words), (_, scope, reads, kept) in zip(trunk, made, strict=True)
        ]
        caller = (f"tenant {number}", f"principal {principal}", "session")
        return Asked(caller, tuple(tokens), tuple(parts)), client, fragments

    def way(self) -> Json:
        return self._drawn.choice([PLAIN, STREAMED])

    def _fragment(self, role: str, words: str, at: int) -> tuple[Json, str | None, bool, bool]:
        drawn = self._drawn
        scope = self._scopes[at] if drawn.random() < 0.8 else drawn.choice([*SCOPES, None])
        reads, kept = drawn.random() > 0.04 or not at, drawn.random() > 0.04 or not at
        said = None
        if scope is not None:
            said = intent(scope, "exact" if reads else "none", mode="allow" if kept else "forbid")
        else:
            reads = kept = True
        return (
            tool("look_up", words, said) if role == "tool" else message(words, role, said),
            scope,
            reads,
            kept,
        )


@pytest.mark.parametrize("seed", ROUNDS)
def test_random_scopes_and_lengths(site: Site, seed: int) -> None:
    this, model = Round(site, seed), Model()
    shared = 0
    with site.counted() as answers:
        for _ in range(REQUESTS):
            request, client, fragments = this.request()
            most, least = whole(model.most(request)), whole(model.least(request))
            answer = client.ask(*fragments, **this.way())
            answers.append(answer)
            assert answer.prompt == len(request.tokens)
            assert min(least, readable(answer)) <= reused(answer) <= most
            model.asked.append(request)
            shared += reused(answer) > 0
    assert shared
