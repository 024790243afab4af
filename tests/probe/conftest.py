from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import cache
from typing import Any

import pytest
from faulty.model import Backend

from cctest.instrument.client import running_engine
from cctest.report.model import Report


class Ahead:
    """Probes that are run ahead: one waits a lot, so that two at a time take little longer than one.

    What a test probes is told by its mark `probes`: a function of its parameters and of the engine.
    """

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._pool = self._stack.enter_context(ThreadPoolExecutor(2))
        self._begun: dict[str, Future[Report]] = {}
        self._engine = cache(lambda: self._stack.enter_context(running_engine()))

    def begin(self, item: pytest.Item | None) -> None:
        """Begin the probe of a test that has one, unless it has begun."""
        mark = item.get_closest_marker("probes") if item is not None else None
        if item is None or mark is None or item.nodeid in self._begun:
            return
        parameters: dict[str, Any] = getattr(item, "callspec").params  # noqa: B009 - unknown to pytest's types
        self._begun[item.nodeid] = self._pool.submit(mark.args[0], engine=self.engine, **parameters)

    def report(self, item: pytest.Item) -> Report:
        """Give what a test's probe came to."""
        return self._begun.pop(item.nodeid).result()

    def engine(self, backend: Backend) -> str | None:
        """Give the URL of an instrumented engine for a backend that needs one; it is started when first asked for.

        All tests of a process share it: no two probes send the same text, and no partition is guessed.
        """
        return self._engine() if backend is Backend.FORWARDING else None

    def close(self) -> None:
        self._stack.close()


AHEAD = pytest.StashKey[Ahead]()


def ahead(config: pytest.Config) -> Ahead:
    if AHEAD not in config.stash:
        config.stash[AHEAD] = Ahead()
        config.add_cleanup(config.stash[AHEAD].close)
    return config.stash[AHEAD]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    for one in (item, nextitem):
        ahead(item.config).begin(one)


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """What the probe of this test, told by its mark `probes`, came to."""
    return ahead(request.config).report(request.node)
