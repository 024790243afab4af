from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from hypothesis import settings
from local_server import Behaviour, LocalServer, local_server

# Properties are about answers; how long one takes depends on what else the machine does.
settings.register_profile("whenever", deadline=None)
settings.load_profile("whenever")

Serve = Callable[[Behaviour], LocalServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start local servers that are closed when the test ends."""
    with ExitStack() as stack:
        yield lambda behaviour: stack.enter_context(local_server(behaviour))
