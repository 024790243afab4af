from collections.abc import Iterator

import pytest

from cctest.instrument.client import Engine, running_engine


@pytest.fixture(scope="session")
def engine_url() -> Iterator[str]:
    """One engine for all tests; they use texts of their own."""
    with running_engine() as url:
        yield url


@pytest.fixture
def engine(engine_url: str) -> Iterator[Engine]:
    with Engine(engine_url) as engine:
        yield engine
