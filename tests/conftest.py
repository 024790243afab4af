from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from local_server import Behaviour, LocalServer, local_server

Serve = Callable[[Behaviour], LocalServer]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start local servers that are closed when the test ends."""
    with ExitStack() as stack:
        yield lambda behaviour: stack.enter_context(local_server(behaviour))
