import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from local_server import Behaviour, LocalServer, local_server

# Properties are about answers; how long one takes depends on what else the machine does.
settings.register_profile("whenever", deadline=None)
settings.load_profile("whenever")

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Serve = Callable[[Behaviour], LocalServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start local servers that are closed when the test ends."""
    with ExitStack() as stack:
        yield lambda behaviour: stack.enter_context(local_server(behaviour))


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A Chromium, skipped without one unless CHROMIUM_REQUIRED is set."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        assert "CHROMIUM_REQUIRED" not in os.environ
        pytest.skip("no Chromium here: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()
