"""Attempts to get one private token across between tenants, through the gateway, on a live engine with the plugin.

Each is by a tenant that has asked nothing before, and has its control: a colleague reads all there is. What was
read is what the engine says, in its answers and by its own counter; where private text begins is found in the
rendered text, and not by the gateway's way of finding boundaries.

Which bench holds what (`reference_gateway/vllm_cache_regions/tests/live` is the plugin's own, on the engine):

| attack | here | plugin's |
|---|---|---|
| public prefix of every length within and around a block | `_attacks` | `_regions` |
| three scopes in one request; public after private | `_attacks` | `_regions` |
| identical prefixes under different scopes | `_attacks` | `_regions` |
| two fragments of different scope in one block | `_attacks` | `_regions` |
| regions, cache_salt, vllm_xargs of the caller's own | `_members` | (is the engine's interface) |
| regions that are malformed, or have no cache_salt | (never sent) | `_regions` |
| digests that don't match, a boundary that reaches into private text | (no caller can) | `_regions` |
| boundaries from before the template changed | `_restart` | (the same as a digest that doesn't match) |
| truncate_prompt_tokens; beam search; n > 1 | `_members` | `_regions` |
| generated tokens that continue a private region | `_members` | `_regions` |
| prompts computed in parts; requests put off for want of room | all; `_pressure` | `_pressure` |
| many tenants at once, plain and streamed | `_pressure` | |
| bounds on age; a request that waited in the queue | `_attacks`, `_restart` | `_pressure` |
| an engine without the plugin | `_restart` | `_without` |
| an engine that differs from those that the plugin knows | (doesn't start) | `_refusal` |
| random scopes and lengths against a model | `_property` | `_regions` |
"""

import secrets
import time

import pytest

from live.attack import PUBLIC, Prompt, ask_all, attack, bounds, described, prompt, schema
from live.site import Site, readable, reused, whole
from live.thorough import THOROUGH
from reference_gateway.live.chat import Json, intent, message, text, tool
from reference_gateway.live.engine import BLOCK_SIZE

OFFSETS = range(2 * BLOCK_SIZE + 2) if THOROUGH else range(BLOCK_SIZE)


def test_public_prefixes_of_every_length_within_and_around_a_block(site: Site) -> None:
    public, most = text(6), set[int]()
    for offset in OFFSETS:
        words = f"{secrets.token_hex(2)} {public}{' a' * offset}"

        def make(words: str = words) -> Prompt:
            tools = tool("look_up", words, PUBLIC)
            own = text(6)
            return [tools, message(own, "system", intent("tenant")), message("?")], described(tools), own

        fragments, _, own = make()
        most.add(site.before(site.tokens(*fragments), own) % BLOCK_SIZE)
        attack(site, make)
    assert len(most) > BLOCK_SIZE // 2


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_private_text_of_every_role(site: Site, role: str) -> None:
    attack(site, lambda: prompt(role=role))


@pytest.mark.parametrize("first", ["Qq0", "Zz1", " ", "\n", "0", "é", '"'])
def test_private_text_that_begins_like_a_sentinel_or_joins_what_is_before_it(site: Site, first: str) -> None:
    attack(site, lambda: prompt(private=first + text(10)))


def test_private_text_that_begins_with_what_everybody_guesses(site: Site) -> None:
    """A stranger who sends half of it reads no more than one who sends none of it."""
    tools, own = schema(), text(12)
    owners, stranger = site.tenant(), site.tenant().owner
    fragments = [tools, message(own, "system", intent("tenant"))]
    half = [tools, message(own[: len(own) // 2], "system", intent("tenant"))]
    limits = bounds(site, fragments, described(tools), own)
    assert reused(owners.owner.ask(*fragments)) <= limits.most
    assert reused(stranger.ask(*half)) <= limits.most
    for scope in ("public", "session", "principal"):
        guessed = [tools, message(own, "system", intent(scope))]
        assert reused(site.tenant().owner.ask(*guessed)) <= limits.most
        # Who says of a guess that it is public shares it from now on; it is the guesser's word, not the owner's.
        tools, own = schema(), text(12)
        fragments = [tools, message(own, "system", intent("tenant"))]
        reused(owners.owner.ask(*fragments))
        limits = bounds(site, fragments, described(tools), own)
    assert reused(owners.colleague.ask(*fragments)) > limits.most


def test_three_scopes_in_one_request(site: Site) -> None:
    owners, stranger = site.tenant(), site.tenant().owner
    texts = [text(8) for _ in range(3)]
    tools = tool("look_up", texts[0], PUBLIC)
    fragments = [
        tools,
        message(texts[1], "system", intent("tenant")),
        message(texts[2], "user", intent("principal")),
    ]
    tokens = site.tokens(*fragments)
    most = [whole(site.before(tokens, words)) for words in texts[1:]]
    least = [whole(site.up_to(tokens, words)) for words in texts[:2]]
    with site.counted() as answers:
        answers += [
            client.ask(*fragments) for client in (owners.owner, owners.colleague, stranger, owners.owner)
        ]
    _, colleague, foreign, again = answers
    assert least[1] <= reused(colleague) <= most[1]
    assert least[0] <= reused(foreign) <= most[0]
    assert reused(again) == readable(again)


def test_public_text_after_private_text_is_private(site: Site) -> None:
    def make() -> Prompt:
        own, public = text(8), text(8)
        return [message(own, "system", intent("tenant")), message(public, "user", PUBLIC)], None, own

    attack(site, make)


def test_public_text_after_another_tenants_private_text_is_not_found_behind_ones_own(site: Site) -> None:
    public = text(8)
    for _ in range(3):
        own = [message(text(8), "system", intent("tenant")), message(public, "user", PUBLIC)]
        assert reused(site.tenant().owner.ask(*own)) < whole(BLOCK_SIZE)


def test_identical_prefixes_under_different_scopes(site: Site) -> None:
    words = text(10)
    ways: list[Json | None] = [
        None,
        *map(intent, ("session", "principal", "tenant", "public")),
        intent("public") | {"constraints": {**PUBLIC["constraints"], "namespace": "ours"}},
    ]
    for way in ways:
        assert reused(site.tenant().owner.ask(message(words, "system", way))) == 0
    mine = site.tenant()
    assert reused(mine.owner.ask(message(words, "system", intent("tenant")))) == 0
    control = mine.colleague.ask(message(words, "system", intent("tenant")))
    assert reused(control) == readable(control)
    # What somebody declared to be public throughout is.
    shared = site.tenant().owner.ask(message(words, "system", PUBLIC))
    assert reused(shared) == readable(shared)


@pytest.mark.parametrize("length", [1, 7, 15, 40])
def test_two_fragments_of_different_scope_in_one_block(site: Site, length: int) -> None:
    """Of the block that a boundary crosses nobody beyond it gets anything, however little of it is private."""

    def make() -> Prompt:
        short = f"~{secrets.token_hex(20)}"[:length]
        fragments = [schema(), message(short, "system", intent("tenant")), message(text(8), "user", PUBLIC)]
        return fragments, described(fragments[0]), short

    def narrower() -> Prompt:
        fragments, public, short = make()
        return [*fragments, message(text(8), "user", intent("principal"))], public, short

    attack(site, make)
    owners, stranger = site.tenant(), site.tenant().owner
    fragments, public, short = narrower()
    limits = bounds(site, fragments, public, short)
    first, foreign, own = ask_all([owners.owner, stranger, owners.owner], fragments)
    assert first <= limits.most >= foreign
    assert own > limits.most


def test_what_may_not_be_kept_is_not_found_by_anybody(site: Site) -> None:
    for way in (intent("tenant", mode="forbid"), intent("tenant", "none"), intent("request")):
        fragments, public, own = prompt()
        fragments[1]["cache_intent"] = way
        limits = bounds(site, fragments, public, own)
        mine = site.tenant()
        for client in (mine.owner, mine.owner, mine.colleague, site.tenant().owner):
            assert reused(client.ask(*fragments)) <= limits.most
        del fragments[1]["cache_intent"]
        assert reused(mine.owner.ask(*fragments)) <= limits.most


def test_a_bound_on_age_in_one_region(site: Site) -> None:
    """Past its bound it is read by nobody, its own tenant included; the public part has none."""
    bound = 2
    fragments, public, own = prompt()
    fragments[1]["cache_intent"] = intent("tenant", max_age=bound)
    limits = bounds(site, fragments, public, own)
    owners = site.tenant()
    ask_all([owners.owner], fragments)
    computed = time.monotonic()
    assert ask_all([site.tenant().owner], fragments)[0] <= limits.most
    time.sleep(max(0.0, computed + bound - time.monotonic()))
    before = site.engine.regions()
    late = ask_all([owners.colleague], fragments)[0]
    assert limits.least <= late <= limits.most
    after = site.engine.regions()
    assert before is not None
    assert after is not None
    assert after["counters"]["blocks_refused_for_age"] > before["counters"]["blocks_refused_for_age"]
    fragments[1]["cache_intent"] = intent("tenant")
    assert ask_all([owners.owner], fragments)[0] <= limits.most
