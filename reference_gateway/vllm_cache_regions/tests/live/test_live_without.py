"""An engine without the plugin ignores regions, and is as safe as the one salt that comes with them."""

from collections.abc import Iterator

import pytest
import requests
from serving import BLOCK, Engine, fresh, running, text


@pytest.fixture(scope="module")
def bare(model: None) -> Iterator[Engine]:
    with running(plugins="") as engine:
        yield engine


def test_requests_with_regions_are_flat(bare: Engine) -> None:
    tokens, public = text(4 * BLOCK + 1), fresh()
    a, b, c = fresh(), fresh(), fresh()
    boundary = 2 * BLOCK
    assert [
        bare.cached(tokens, a, (0, public), (boundary, a)),
        bare.cached(tokens, b, (0, public), (boundary, b)),
        bare.cached(tokens, b, (0, public), (boundary, b)),
        bare.cached(tokens, c),
    ] == [0, 0, 4 * BLOCK, 0]


def test_nothing_answers_for_the_plugin(bare: Engine) -> None:
    assert requests.get(bare.url + "/cache_regions", timeout=10).status_code == 404
