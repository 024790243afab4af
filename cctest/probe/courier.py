"""Sending the requests of all cells to one target, and giving up once it has plainly gone."""

import threading
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
    """Counts what it sends, and whether anything still comes back. Safe to use from several threads."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.sent = 0
        self._lock = threading.Lock()
        self._broken_in_a_row = 0

    def deliver(self, step: Step, built: BuiltRequest, request: Request, *, streamed: bool) -> Observation:
        """Send the request of a step. What went wrong is part of the observation."""
        with self._lock:
            gone = self._broken_in_a_row >= PATIENCE
            self.sent += not gone
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


def asked_to_wait(response: Response | None) -> float | None:
    """Return the seconds for which a 429 asks to be left alone; None for any other response."""
    if response is None or response.status != 429:
        return None
    stated = response.headers.get("retry-after", "")
    return min(float(stated), LONGEST_WAIT) if stated.isdecimal() else USUAL_WAIT
