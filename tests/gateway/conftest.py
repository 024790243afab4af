from collections.abc import Callable, Iterator

import pytest

from gateway.engine import Setting, setting
from gateway.fuzzing import Front
from gateway.process import running
from gateway.talk import MONDAY, Caller

As = Callable[[str], Caller]


@pytest.fixture(scope="session")
def gateway_url() -> Iterator[str]:
    """One gateway for all tests; they use texts of their own."""
    with running() as (url, _):
        yield url


@pytest.fixture
def caller(gateway_url: str) -> Caller:
    """Alice of acme, in her Monday session."""
    return Caller(gateway_url, MONDAY)


@pytest.fixture
def caller_as(gateway_url: str) -> As:
    """Anybody, by token."""
    return lambda token: Caller(gateway_url, token)


@pytest.fixture(scope="session")
def two_ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    """A forwarding gateway in front of an instrumented engine; tests use texts of their own."""
    with setting(tmp_path_factory.mktemp("secrets")) as made:
        yield made


@pytest.fixture
def forwarding(two_ends: Setting) -> Iterator[Front]:
    front = Front(two_ends.url, two_ends, seen=two_ends.engine.about().latest)
    yield front
    front.hang_up()
