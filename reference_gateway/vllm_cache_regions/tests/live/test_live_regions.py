"""What is shared and what is not, on a real vLLM. Every attack is by a salt that nobody has used before."""

import random

import pytest
from serving import BLOCK, Engine, cached_of, fresh, spelled, text, whole

from vllm_cache_regions.carrier import DIGESTS, MAX_AGES, REGIONS


def test_the_engine_core_says_that_regions_are_in_force(engine: Engine) -> None:
    status = engine.status()
    assert (status["active"], status["inactive_because"]) == (True, [])
    assert (status["plugin"], status["block_size"], status["tested"]) == ("vllm_cache_regions", BLOCK, True)


def test_four_requests_tell_whether_regions_are_in_force(engine: Engine) -> None:
    tokens, public = text(4 * BLOCK + 1), fresh()
    a, b, c = fresh(), fresh(), fresh()
    boundary = 2 * BLOCK
    assert [
        engine.cached(tokens, a, (0, public), (boundary, a)),
        engine.cached(tokens, b, (0, public), (boundary, b)),
        engine.cached(tokens, b, (0, public), (boundary, b)),
        engine.cached(tokens, c),
    ] == [0, 2 * BLOCK, 4 * BLOCK, 0]


@pytest.mark.parametrize("boundary", range(1, 2 * BLOCK + 3))
def test_a_fresh_tenant_reuses_the_whole_blocks_before_the_boundary_and_nothing_more(
    engine: Engine, boundary: int
) -> None:
    tokens, public, victim, other, flat = text(4 * BLOCK), fresh(), fresh(), fresh(), fresh()
    assert engine.cached(tokens, victim, (0, public), (boundary, victim)) == 0
    assert engine.cached(tokens, other, (0, public), (boundary, other)) == whole(boundary)
    assert engine.cached(tokens, flat) == 0
    assert engine.cached(tokens, fresh(), (0, public), (boundary + 1, fresh())) == whole(boundary)
    assert engine.cached(tokens, victim, (0, public), (boundary, victim)) == 3 * BLOCK


def test_three_regions(engine: Engine) -> None:
    tokens, public, org, own = text(6 * BLOCK + 1), fresh(), fresh(), fresh()
    first, second = 2 * BLOCK - 5, 4 * BLOCK + 3
    assert engine.cached(tokens, own, (0, public), (first, org), (second, own)) == 0
    colleague, stranger = fresh(), fresh()
    assert engine.cached(tokens, colleague, (0, public), (first, org), (second, colleague)) == 4 * BLOCK
    assert engine.cached(tokens, stranger, (0, public), (first, fresh()), (second, stranger)) == BLOCK
    assert engine.cached(tokens, own, (0, public), (first, org), (second, own)) == 6 * BLOCK


def test_two_boundaries_in_one_block(engine: Engine) -> None:
    tokens, public, org, own = text(4 * BLOCK + 1), fresh(), fresh(), fresh()
    first, second = BLOCK + 5, BLOCK + 20
    assert engine.cached(tokens, own, (0, public), (first, org), (second, own)) == 0
    other = fresh()
    assert engine.cached(tokens, other, (0, public), (first, org), (second, other)) == BLOCK
    assert engine.cached(tokens, fresh(), (0, public), (first, fresh()), (second, own)) == BLOCK
    assert engine.cached(tokens, fresh(), (0, public), (first, org), (second + 1, own)) == BLOCK
    assert engine.cached(tokens, own, (0, public), (first, org), (second, own)) == 4 * BLOCK


@pytest.mark.parametrize("boundary", [2 * BLOCK, 2 * BLOCK + 7])
def test_public_text_after_private_text_stays_private(engine: Engine, boundary: int) -> None:
    tokens, public, victim = text(5 * BLOCK), fresh(), fresh()
    assert engine.cached(tokens, victim, (0, victim), (boundary, public)) == 0
    attacker = fresh()
    assert engine.cached(tokens, attacker, (0, attacker), (boundary, public)) == 0
    assert engine.cached(tokens, fresh(), (0, public)) == 0


def test_the_same_text_under_different_scopes_is_not_shared(engine: Engine) -> None:
    tokens = text(4 * BLOCK + 1)
    salts = [fresh() for _ in range(4)]
    for salt in salts:
        assert engine.cached(tokens, salt, (0, salt)) == 0
    assert engine.cached(tokens, fresh(), (0, salts[0]), (BLOCK, salts[1]), (2 * BLOCK, salts[2])) == BLOCK


def test_one_region_is_the_same_as_its_salt_alone(engine: Engine) -> None:
    tokens, salt = text(4 * BLOCK + 1), fresh()
    assert engine.cached(tokens, salt) == 0
    assert engine.cached(tokens, fresh(), (0, salt)) == 4 * BLOCK


def test_boundaries_measured_on_other_tokens_make_the_request_flat(engine: Engine) -> None:
    tokens, public, victim = text(4 * BLOCK + 1), fresh(), fresh()
    boundary = 2 * BLOCK
    engine.cached(tokens, fresh(), (0, public), (boundary, fresh()))
    before = engine.count("regions_fallen_back", "digest_mismatch")
    stale = spelled([*tokens[:10], 299, *tokens[11:]], (0, public), (boundary, victim))
    assert cached_of(engine.complete(tokens, victim, stale)) == 0
    assert cached_of(engine.complete(tokens, victim, stale)) == 4 * BLOCK
    assert engine.cached(tokens, victim) == 4 * BLOCK
    assert engine.count("regions_fallen_back", "digest_mismatch") == before + 2


def test_a_boundary_that_reaches_into_private_text_by_drift_shares_nothing_private(engine: Engine) -> None:
    """The public part became shorter: what is now before the old boundary is the tenant's."""
    long, public = text(4 * BLOCK), fresh()
    for tenant in (fresh(), fresh()):
        drifted = [*long[:BLOCK], *text(4 * BLOCK)]
        stale = spelled(long, (0, public), (3 * BLOCK, tenant))
        engine.complete(drifted, tenant, stale)
        attacker = fresh()
        stale_too = spelled(long, (0, public), (3 * BLOCK, attacker))
        assert cached_of(engine.complete(drifted, attacker, stale_too)) == 0


def test_boundaries_before_a_mismatch_hold(engine: Engine) -> None:
    tokens, public, org, own = text(6 * BLOCK + 1), fresh(), fresh(), fresh()
    first, second = 2 * BLOCK, 4 * BLOCK
    engine.cached(tokens, own, (0, public), (first, org), (second, own))
    colleague = fresh()
    args = spelled(tokens, (0, public), (first, org), (second, colleague))
    args[DIGESTS][1] = "00" * 32
    assert cached_of(engine.complete(tokens, colleague, args)) == 2 * BLOCK


@pytest.mark.parametrize("side", ["left", "right"])
def test_truncated_prompts_share_nothing_that_is_private(engine: Engine, side: str) -> None:
    tokens, public, victim, attacker = text(6 * BLOCK), fresh(), fresh(), fresh()
    boundary, kept = 2 * BLOCK, 4 * BLOCK + 1
    cut = {"truncate_prompt_tokens": kept, "truncation_side": side}
    for salt in (victim, attacker):
        response = engine.complete(tokens, salt, spelled(tokens, (0, public), (boundary, salt)), **cut)
        assert response.status_code == 200, response.text
    # Cut at its end, a prompt still begins with what is public.
    assert cached_of(response) == (boundary if side == "right" else 0)


def test_several_answers_to_one_prompt_share_only_what_is_public(engine: Engine) -> None:
    tokens, public, victim = text(4 * BLOCK + 1), fresh(), fresh()
    boundary = BLOCK + 9
    args = spelled(tokens, (0, public), (boundary, victim))
    several = {"n": 3, "temperature": 1.0, "max_tokens": 2 * BLOCK, "ignore_eos": True}
    assert engine.complete(tokens, victim, args, **several).status_code == 200
    assert engine.cached(tokens, fresh(), (0, public), (boundary, fresh())) == BLOCK
    attacker = fresh()
    assert engine.complete(tokens, attacker, spelled(tokens, (0, public), (boundary, attacker)), **several).ok
    assert engine.cached(tokens, fresh()) == 0
    assert engine.cached(tokens, fresh(), (0, public), (boundary, fresh())) == BLOCK


@pytest.mark.parametrize("boundary", [2 * BLOCK, 4 * BLOCK], ids=["inside the prompt", "at its end"])
def test_generated_tokens_are_in_the_last_region(engine: Engine, boundary: int) -> None:
    tokens, public, victim = text(4 * BLOCK), fresh(), fresh()
    args = spelled(tokens, (0, public), (boundary, victim))
    answer = engine.complete(
        tokens, victim, args, max_tokens=3 * BLOCK, ignore_eos=True, return_token_ids=True
    ).json()
    generated = answer["choices"][0]["token_ids"]
    assert len(generated) == 3 * BLOCK
    longer = [*tokens, *generated, *text(5)]
    attacker = fresh()
    assert engine.cached(longer, attacker, (0, public), (boundary, attacker)) == boundary
    assert engine.cached(longer, fresh(), (0, public)) == boundary
    # The last generated token is never computed, and so the last block is not there.
    assert engine.cached(longer, victim, (0, public), (boundary, victim)) >= 6 * BLOCK


def test_beam_search_ignores_regions_and_is_flat(engine: Engine) -> None:
    tokens, public, victim = text(4 * BLOCK + 1), fresh(), fresh()
    boundary = 2 * BLOCK
    beam = {"use_beam_search": True, "n": 2, "max_tokens": BLOCK + 4, "ignore_eos": True}
    response = engine.complete(tokens, victim, spelled(tokens, (0, public), (boundary, victim)), **beam)
    assert response.status_code == 200, response.text
    assert engine.cached(tokens, fresh(), (0, public), (boundary, fresh())) == 0
    assert engine.cached(tokens, victim) == 4 * BLOCK


@pytest.mark.parametrize(
    "xargs",
    [
        {REGIONS: [0]},
        {REGIONS: "0,public"},
        {REGIONS: [5, "public"]},
        {REGIONS: [0, "public", 64, "own"]},
        {REGIONS: [0, "public", 64, "own"], DIGESTS: ["zz" * 32]},
        {REGIONS: [0, "public", 64, "own", 64, "more"], DIGESTS: ["00" * 32] * 2},
        {REGIONS: [0, "public"], MAX_AGES: [-7]},
        {DIGESTS: ["00" * 32]},
    ],
)
def test_bad_regions_get_400(engine: Engine, xargs: dict[str, object]) -> None:
    response = engine.complete(text(3 * BLOCK), fresh(), xargs)
    assert response.status_code == 400
    assert response.json()["error"]["param"] == "vllm_xargs"
    assert "salt_region" in response.json()["error"]["message"]


def test_regions_without_a_cache_salt_get_400(engine: Engine) -> None:
    tokens = text(3 * BLOCK)
    response = engine.complete(tokens, None, spelled(tokens, (0, "public")))
    assert response.status_code == 400
    assert "needs cache_salt" in response.json()["error"]["message"]


def test_other_extra_arguments_are_left_alone(engine: Engine) -> None:
    assert engine.complete(text(BLOCK), fresh(), {"of_another_plugin": [1, "x"]}).status_code == 200


def test_chats_carry_regions_too(engine: Engine) -> None:
    messages = [
        {"role": "system", "content": f"{fresh()} public " * 40},
        {"role": "user", "content": "private " * 40},
    ]
    ids = engine.post("/tokenize", messages=messages, add_generation_prompt=True).json()["tokens"]
    public, boundary = fresh(), len(ids) // 2

    def cached(salt: str) -> int:
        return cached_of(
            engine.post(
                "/v1/chat/completions",
                messages=messages,
                max_tokens=1,
                cache_salt=salt,
                vllm_xargs=spelled(ids, (0, public), (boundary, salt)),
            )
        )

    victim = fresh()
    assert [cached(victim), cached(fresh()), cached(victim)] == [0, whole(boundary), whole(len(ids) - 1)]


class Expected:
    """An independent model of what may be reused.

    A block is known by all tokens up to its end, and by every salt that has begun up to there and where.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[tuple[int, ...], tuple[tuple[int, str], ...]]] = set()

    def reused(self, tokens: list[int], regions: list[tuple[int, str]]) -> int:
        """Tokens that a request reuses; what it computes is there for the next one."""
        blocks = [
            (tuple(tokens[:end]), tuple(region for region in regions if region[0] < end))
            for end in range(BLOCK, len(tokens) + 1, BLOCK)
        ]
        readable = 0
        while readable < (len(tokens) - 1) // BLOCK and blocks[readable] in self._seen:
            readable += 1
        self._seen.update(blocks)
        return readable * BLOCK


@pytest.mark.parametrize("seed", range(6))
def test_random_regions_reuse_exactly_what_the_model_says(engine: Engine, seed: int) -> None:
    drawn = random.Random(seed)
    expected, salts, trunk = Expected(), [fresh() for _ in range(3)], text(8 * BLOCK)
    for _ in range(40):
        length = drawn.randint(BLOCK, 8 * BLOCK)
        forked = drawn.randint(0, 3) * 2 * BLOCK
        tokens = trunk[:length] if forked == 0 else [*trunk[:forked], *text(length)][:length]
        starts = [0, *sorted(drawn.sample(range(1, length), drawn.randint(0, min(3, length - 1))))]
        if drawn.random() < 0.5:
            starts = [0, *sorted({start for start in starts[1:] if start % 8 == 0})]
        regions = [(start, drawn.choice(salts)) for start in starts]
        assert engine.cached(tokens, fresh(), *regions) == expected.reused(tokens, regions)
