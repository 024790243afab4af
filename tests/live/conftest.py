"""A real vLLM for the tests: the one that the environment names, or one of our own. Run by `make live`.

Without any, tests are skipped as unverified, aloud; with `LIVE_REQUIRED` set that is a failure.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reference_gateway.live.chat import Client
from reference_gateway.live.engine import Engine, NoEngineError, Options, any_engine, running_engine
from reference_gateway.live.gateway import Gateway, running_gateway

if TYPE_CHECKING:
    from live.site import Site

Start = Callable[[Options], Engine]

HERE = Path(__file__).parent
START_SECONDS = 400
"""A test may have to start an engine."""

unverified: list[str] = []


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.live)
            item.add_marker(pytest.mark.timeout(START_SECONDS))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if unverified:
        terminalreporter.section("UNVERIFIED on a real vLLM", red=True, bold=True)
        terminalreporter.line(unverified[0])


def entered(stack: ExitStack, engine: AbstractContextManager[Engine]) -> Engine:
    try:
        return stack.enter_context(engine)
    except NoEngineError as problem:
        if os.environ.get("LIVE_REQUIRED"):
            pytest.fail(str(problem), pytrace=False)
        unverified.append(str(problem))
        pytest.skip(f"unverified: {problem}")


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """One engine for all tests; they use texts of their own."""
    with ExitStack() as stack:
        yield entered(stack, any_engine())


@pytest.fixture
def start_engine() -> Iterator[Start]:
    """Start an engine with options of its own, which ends with the test."""
    with ExitStack() as stack:
        yield lambda options: entered(stack, running_engine(options))


@pytest.fixture(scope="session")
def gateway(engine: Engine) -> Iterator[Gateway]:
    with running_gateway(engine) as running:
        yield running


@pytest.fixture(scope="session")
def direct(engine: Engine) -> Client:
    """Somebody who talks to the engine, past every gateway."""
    return Client(engine.url, engine.model, engine.headers())


@pytest.fixture(scope="session")
def block(engine: Engine) -> int:
    """Tokens of a block."""
    return engine.block_size()


@pytest.fixture(scope="session")
def standing_site() -> "Iterator[Site]":
    from live.site import standing

    with standing() as site:
        yield site


@pytest.fixture
def site(standing_site: "Site") -> "Site":
    """One engine with the plugin, and one gateway, for all attacks: texts and tenants are fresh in each."""
    standing_site.ready()
    return standing_site
