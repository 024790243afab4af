"""Sending the requests of all cells to one target, and giving up once it has plainly gone."""

import threading
import time
from email.utils import parsedate_to_datetime
from typing import Final

from cctest.probe.case import Step
from cctest.probe.observation import Observation
from cctest.probe.prompt import BuiltRequest
from cctest.target.chat import read_chat
from cctest.target.exchange import ExchangeError, ExchangeKind, Request, Response, Target

PATIENCE: Final = 6
"""Broken exchanges in a row after which nothing more is sent to the target."""

LONGEST_WAIT: Final = 30.0
"""Seconds that a target is waited for at most, whatever its Retry-After says."""

USUAL_WAIT: Final = 1.0
"""Seconds to wait where a 429 doesn't say."""


class Courier:
    """Notes whether anything still comes back. Safe to use from several threads."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._lock = threading.Lock()
        self._broken_in_a_row = 0

    def deliver(self, step: Step, built: BuiltRequest, request: Request, *, streamed: bool) -> Observation:
        """Send the request of a step. What went wrong is part of the observation."""
        with self._lock:
            gone = self._broken_in_a_row >= PATIENCE
        if gone:
            message = f"not sent: the last {PATIENCE} exchanges with the target broke off"
            error = ExchangeError(ExchangeKind.UNREACHABLE, message)
            return Observation(step, built, request, error=error)
        try:
            response = self.target.send(request, deadline=step.give_up)
        except ExchangeError as error:
            self._note(broken=step.give_up is None and step.misbehaviour is None)
            return Observation(step, built, request, error=error)
        self._note(broken=False)
        return Observation(step, built, request, response, read_chat(response, streamed=streamed))

    def _note(self, *, broken: bool) -> None:
        with self._lock:
            self._broken_in_a_row = self._broken_in_a_row + 1 if broken else 0


TURNED_AWAY: Final = 6
"""How often a request that was put off (429, 503) is sent again."""


def asked_to_wait(response: Response | None) -> float | None:
    """Return the seconds for which a 429 or a 503 asks to be left alone; None for any other response."""
    if response is None or response.status not in (429, 503):
        return None
    return min(max(_stated(response.headers.get("retry-after", "")), 0.0), LONGEST_WAIT)


def _stated(retry_after: str) -> float:
    """Read a Retry-After: seconds, or a date."""
    try:
        return float(retry_after)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(retry_after).timestamp() - time.time()
    except (ValueError, TypeError):
        return USUAL_WAIT
