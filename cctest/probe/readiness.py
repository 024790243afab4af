"""Waiting for a target that isn't up yet."""

import time
from collections.abc import Callable
from typing import Final

from cctest.probe.preflight import CAPABILITIES_PATH
from cctest.problem import TargetProblem
from cctest.target.credential import Credential
from cctest.target.exchange import ExchangeError, Request, Target

MODELS_PATH: Final = "/v1/models"

_PAUSE: Final = 0.5
"""Seconds between two rounds of questions."""

_PATIENCE: Final = 5.0
"""Seconds that one question may take: a service that is starting may hold it for ever."""


def wait_until_ready(
    target: Target,
    credential: Credential | None,
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until the target answers anything below 500 to a question for its capabilities or its models.

    Raises TargetProblem after `seconds`, with what was wrong the last time.
    """
    ends = clock() + seconds
    while True:
        for path in (CAPABILITIES_PATH, MODELS_PATH):
            left = max(ends - clock(), 0.1)
            seen = _ask(target, Request("GET", path, credential=credential), min(left, _PATIENCE))
            if seen is None:
                return
        if clock() >= ends:
            raise TargetProblem(
                f"{target.url} wasn't ready within {seconds:g} s: {seen}",
                hint="`wait_ready` in the target file says how long to wait",
            )
        sleep(min(_PAUSE, max(ends - clock(), 0.0)))


def _ask(target: Target, request: Request, seconds: float) -> str | None:
    """Say why the target isn't ready; None if it is."""
    try:
        response = target.send(request, deadline=min(seconds, target.deadline))
    except ExchangeError as error:
        return str(error)
    return f"HTTP {response.status}" if response.status >= 500 else None
