"""The backends with one partition per request say and do the same; the null backend does nothing, and says so."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from gateway.engine import MODEL, Setting
from gateway.prediction import CAPABILITIES, POINTS, Point, bear_out, capabilities
from gateway.process import running
from gateway.talk import MONDAY, Caller, Json, intent, message, text

Start = Callable[[tuple[str, ...]], str]
points = pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)


@pytest.fixture(scope="module")
def salt_only() -> Iterator[Start]:
    """Start a gateway on the model of such an engine, one for each choice of options."""
    with ExitStack() as stack:
        started: dict[tuple[str, ...], str] = {}

        def start(options: tuple[str, ...]) -> str:
            if options not in started:
                started[options] = stack.enter_context(running("--backend", "salt-only", *options))[0]
            return started[options]

        yield start


@pytest.fixture(scope="module")
def forwarding(two_ends: Setting) -> Start:
    """Start a gateway in front of the instrumented engine, one for each choice of options."""
    started: dict[tuple[str, ...], str] = {}

    def start(options: tuple[str, ...]) -> str:
        if options not in started:
            started[options] = two_ends.gateway(*options)
        return started[options]

    return start


@points
def test_the_model_of_an_engine_predicts(point: Point, salt_only: Start) -> None:
    bear_out(point, salt_only(point.options), "salt-only")


@points
def test_the_gateway_in_front_of_an_engine_bears_it_out(point: Point, forwarding: Start) -> None:
    bear_out(point, forwarding(point.options), MODEL)


def test_both_advertise_the_same(salt_only: Start, forwarding: Start) -> None:
    assert capabilities(salt_only(())) == capabilities(forwarding(())) == CAPABILITIES
    bounding = ("--max-age", "generations")
    told = {**CAPABILITIES, "constraints": {**CAPABILITIES["constraints"], "retention_max_age": True}}
    assert capabilities(salt_only(bounding)) == capabilities(forwarding(bounding)) == told


@pytest.mark.parametrize("mode", ["bypass", "reject"])
@pytest.mark.parametrize(
    ("asked", "retention"),
    [
        (intent(), "declined"),
        (intent("public", namespace="tools:v1"), "declined"),
        (intent(reuse="approximate", max_age=60), "declined"),
        (intent(reuse="none"), "declined"),
        (intent(mode="forbid"), "forbidden"),
    ],
)
def test_the_null_backend_never_looks_and_never_retains(mode: str, asked: Json, retention: str) -> None:
    with running("--backend", "null", "--on-unenforceable", mode) as (url, _):
        words = text()
        for _ in range(2):
            reply = Caller(url, MONDAY, "null").chat(message(words, asked), message("What now?"))
            assert reply.cached == 0
            assert reply.each("outcome") == ["bypass", "bypass"]
            assert reply.each("effective_share") == ["request", "request"]
            assert reply.each("retention") == [retention, retention]


def test_options_of_another_backend_are_refused_in_words() -> None:
    import subprocess

    from gateway.process import command

    for options, named in (
        (("--backend", "null", "--block-size", "16"), "--block-size"),
        (("--backend", "embedded", "--max-age", "generations"), "--max-age"),
        (("--backend", "salt-only", "--abort-margin", "1"), "--abort-margin"),
    ):
        done = subprocess.run(command(*options), capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2
        assert named in done.stderr
