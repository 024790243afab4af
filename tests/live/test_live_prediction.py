"""What the in-process model of such an engine predicts, held against a real vLLM point by point."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from gateway.engine import forwarding
from gateway.prediction import CAPABILITIES, POINTS, Point, bear_out, capabilities
from gateway.process import running

from reference_gateway.live.engine import Engine

Serve = Callable[[tuple[str, ...]], str]


@pytest.fixture(scope="module")
def serve(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Start a gateway in front of the engine, one for each choice of options."""
    folder = tmp_path_factory.mktemp("secrets")
    with ExitStack() as stack:
        started: dict[tuple[str, ...], str] = {}

        def start(options: tuple[str, ...]) -> str:
            if options not in started:
                arguments = (*forwarding(engine.url, folder), *options)
                started[options] = stack.enter_context(running(*arguments))[0]
            return started[options]

        yield start


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)
def test_a_real_vllm_bears_out_the_prediction(point: Point, engine: Engine, serve: Serve) -> None:
    bear_out(point, serve(point.options), engine.model)


def test_the_capabilities_are_those_predicted(serve: Serve) -> None:
    assert capabilities(serve(())) == CAPABILITIES
