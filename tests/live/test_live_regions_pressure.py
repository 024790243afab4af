"""Many at once, on an engine that computes prompts in parts and has room for a dozen of them."""

from concurrent.futures import ThreadPoolExecutor

from live.attack import ask_all, bounds
from live.site import PLAIN, STREAMED, Site, readable, reused, whole
from live.thorough import THOROUGH
from reference_gateway.live.chat import Answer, Client, Json, intent, message, text, tool
from reference_gateway.live.engine import BLOCK_SIZE

PREEMPTIONS = "vllm:num_preemptions_total"
AT_ONCE = 16
TENANTS = 96 if THOROUGH else 32


def prompt(sentences: int) -> tuple[list[Json], str, str]:
    public, own = text(sentences), text(sentences)
    fragments = [tool("look_up", public, intent("public")), message(own, "system", intent("tenant"))]
    return [*fragments, message("And now?")], public, own


def test_long_prompts_are_computed_in_parts(site: Site) -> None:
    fragments, public, own = prompt(100)
    limits = bounds(site, fragments, public, own)
    assert len(site.tokens(*fragments)) > 1000
    owners, stranger = site.tenant(), site.tenant().owner
    first, foreign, control = ask_all([owners.owner, stranger, owners.colleague], fragments)
    assert first == 0
    assert limits.least <= foreign <= limits.most
    assert control > limits.most


def test_requests_put_off_for_want_of_room(site: Site) -> None:
    """All of them private behind one public prefix, so long that most have to wait and be computed again."""
    fragments, public, own = prompt(8)
    limits = bounds(site, fragments, public, own)
    before = site.engine.counter(PREEMPTIONS)
    long: Json = {"max_tokens": 30 * BLOCK_SIZE, "ignore_eos": True}

    def one(number: int) -> Answer:
        return site.tenant().owner.ask(*fragments, **long, **(STREAMED if number % 2 else PLAIN))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(one, range(AT_ONCE + 4)))
    assert site.engine.counter(PREEMPTIONS) > before
    assert max(map(reused, answers)) <= limits.most
    assert ask_all([site.tenant().owner], fragments)[0] <= limits.most


def test_many_tenants_at_once(site: Site) -> None:
    """Each sends the same bytes, which are everybody's secret; then a colleague of each finds all of them."""
    fragments, public, own = prompt(6)
    limits = bounds(site, fragments, public, own)
    tenants = [site.tenant() for _ in range(TENANTS)]

    def both(number: int) -> tuple[Answer, Answer]:
        one = tenants[number]
        ways: list[tuple[Client, Json]] = [(one.owner, PLAIN), (one.colleague, STREAMED)]
        first, second = (client.ask(*fragments, **way) for client, way in ways[:: 1 if number % 2 else -1])
        return first, second

    with site.counted() as answers, ThreadPoolExecutor(AT_ONCE) as pool:
        seen = list(pool.map(both, range(TENANTS)))
        answers += [answer for pair in seen for answer in pair]
    assert max(reused(first) for first, _ in seen) <= limits.most
    found = [reused(second) for _, second in seen]
    assert set(found) <= {0, whole(limits.least), limits.most, readable(seen[0][1])}
    assert max(found) == readable(seen[0][1])
