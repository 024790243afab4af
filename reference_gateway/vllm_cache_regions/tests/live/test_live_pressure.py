"""Maximum ages, queues, prompts computed in parts, and requests that are put off and computed again."""

import contextlib
import http.client
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from serving import BLOCK, Engine, cached_of, fresh, running, spelled, text, whole

SEATS = 4


@pytest.fixture(scope="module")
def tight(model: None) -> Iterator[Engine]:
    """40 blocks of cache, and prompts computed 64 tokens at a time."""
    options = (
        "--num-gpu-blocks-override",
        "40",
        "--max-num-batched-tokens",
        "64",
        "--max-num-seqs",
        str(SEATS),
    )
    with running(*options, "--max-model-len", "1024") as engine:
        yield engine


def wait_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def test_a_bound_holds_in_its_region_and_leaves_the_other_alone(tight: Engine) -> None:
    tokens, public, own = text(6 * BLOCK + 1), fresh(), fresh()
    regions = ((0, public, None), (2 * BLOCK + 3, own, 3000))
    began = time.monotonic()
    assert tight.cached(tokens, own, *regions) == 0
    computed = time.monotonic()
    hit = tight.cached(tokens, own, *regions)
    if time.monotonic() < began + 3:
        assert hit == 6 * BLOCK
    before = tight.count("blocks_refused_for_age")
    wait_until(computed + 3)
    assert tight.cached(tokens, own, *regions) == 2 * BLOCK
    assert tight.count("blocks_refused_for_age") == before + 1
    # Computed again, it is there again.
    began = time.monotonic()
    hit = tight.cached(tokens, own, *regions)
    if time.monotonic() < began + 2:
        assert hit == 6 * BLOCK


def test_the_writers_bound_holds_for_a_reader_without_any(tight: Engine) -> None:
    tokens, own = text(4 * BLOCK + 1), fresh()
    tight.cached(tokens, own, (0, own, 1000))
    wait_until(time.monotonic() + 1)
    assert tight.cached(tokens, own) == 0


def test_a_bound_of_0_leaves_nothing(tight: Engine) -> None:
    tokens, public, own = text(4 * BLOCK + 1), fresh(), fresh()
    regions = ((0, public, None), (2 * BLOCK, own, 0))
    assert tight.cached(tokens, own, *regions) == 0
    assert tight.cached(tokens, own, *regions) == 2 * BLOCK
    assert tight.cached(tokens, own, (0, public), (2 * BLOCK, own)) == 2 * BLOCK


@pytest.fixture(scope="module")
def single(model: None) -> Iterator[Engine]:
    """One request at a time: the next one waits for its turn."""
    with running("--max-num-seqs", "1") as engine:
        yield engine


def test_a_request_that_waited_in_the_queue_is_judged_when_its_turn_comes(single: Engine) -> None:
    tokens, public, own = text(6 * BLOCK + 1), fresh(), fresh()
    bound = 2.0
    regions = ((0, public, None), (2 * BLOCK, own, int(bound * 1000)))
    single.cached(text(BLOCK), fresh())  # the first request of an engine takes its time
    assert single.cached(tokens, own, *regions) == 0
    computed = time.monotonic()
    with occupied(single) as seat, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(single.cached, tokens, own, *regions)
        wait_until(computed + bound)
        seat.close()
        assert waiting.result() == 2 * BLOCK


@contextlib.contextmanager
def occupied(engine: Engine) -> Iterator[http.client.HTTPConnection]:
    """Keep the only seat by a request of many seconds, until it is hung up."""
    body = {"model": "tiny", "prompt": text(8), "max_tokens": 8000, "ignore_eos": True}
    seat = http.client.HTTPConnection(engine.url.removeprefix("http://"))
    with contextlib.closing(seat):
        seat.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
        begun = time.monotonic()
        while engine.metric("vllm:num_requests_running") < 1 and time.monotonic() < begun + 5:
            time.sleep(0.02)
        yield seat


def test_prompts_computed_in_parts_share_only_what_is_public(tight: Engine) -> None:
    tokens, public, victim = text(12 * BLOCK + 1), fresh(), fresh()
    boundary = 5 * BLOCK + 11
    assert tight.cached(tokens, victim, (0, public), (boundary, victim)) == 0
    attacker = fresh()
    assert tight.cached(tokens, attacker, (0, public), (boundary, attacker)) == whole(boundary)
    assert tight.cached(tokens, fresh()) == 0


def test_requests_put_off_for_want_of_room_share_only_what_is_public(tight: Engine) -> None:
    head, public, boundary = text(3 * BLOCK + 9), fresh(), 3 * BLOCK + 9
    tail = text(4 * BLOCK)
    tokens = [*head, *tail]
    before = tight.metric("vllm:num_preemptions_total")

    def one(_: int) -> int:
        salt = fresh()
        args = spelled(tokens, (0, public), (boundary, salt))
        answer = tight.complete(tokens, salt, args, max_tokens=12 * BLOCK, ignore_eos=True)
        assert answer.status_code == 200, answer.text
        return cached_of(answer)

    with ThreadPoolExecutor(2 * SEATS) as pool:
        reused = list(pool.map(one, range(12)))
    assert tight.metric("vllm:num_preemptions_total") > before
    assert max(reused) == whole(boundary)
    assert tight.cached(tokens, fresh(), (0, public), (boundary, fresh())) <= whole(boundary)
