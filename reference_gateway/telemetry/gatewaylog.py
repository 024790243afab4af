"""What the gateway says on standard error: one JSON object a line.

A request's line has its opaque id, route, status, error code, duration and the number of its fragments;
never a token, a name of a tenant or principal, a namespace, an intent id or text. Of a fault the type and the
places in the code are told, not its message, which might quote a caller.
"""

import contextlib
import json
import logging
import time
import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import Final

from reference_gateway.telemetry.exchange import Exchange
from reference_gateway.telemetry.logsink import LogSink

_FRAMES: Final = 20


class GatewayLog:
    """The log; without a sink, nothing is said. Without `requests`, only what goes wrong here is."""

    def __init__(self, sink: LogSink | None, *, requests: bool = True) -> None:
        self._sink = sink
        self._requests = requests
        self._second = 0
        self._stamp = ""

    @property
    def lost(self) -> int:
        """How many lines were lost, for want of room or because they couldn't be written."""
        return 0 if self._sink is None else self._sink.lost

    def request(self, exchange: Exchange, seconds: float) -> None:
        """Say what became of a request."""
        if self._sink is None or not self._requests:
            return
        code = "null" if exchange.code is None else f'"{exchange.code}"'
        # Every word here is of a closed vocabulary or our own: nothing needs to be escaped.
        self._sink.put(
            f'{{"time":"{self._now()}","level":"info","event":"request","id":"{exchange.id}",'
            f'"method":"{exchange.method}","route":"{exchange.route.value}","status":{exchange.status},'
            f'"code":{code},"ms":{seconds * 1000:.2f},"fragments":{exchange.fragments}}}'
        )

    def event(self, level: str, event: str, **members: str | int | list[str]) -> None:
        """Say something about the gateway itself. The members must tell nothing of a caller."""
        if self._sink is not None and (self._requests or level != "info"):
            self._sink.put(json.dumps({"time": self._now(), "level": level, "event": event, **members}))

    def close(self) -> None:
        """Write out what is left."""
        if self._sink is not None:
            self._sink.close()

    def _now(self) -> str:
        """Give the time in UTC to the millisecond (RFC 3339)."""
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second = second
            self._stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._stamp}.{int((now - second) * 1000):03}Z"


class LogHandler(logging.Handler):
    """Carries what the web server says over into the gateway's log."""

    def __init__(self, log: GatewayLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Say it in one line. A fault's message is left out, and so are a record's arguments."""
        members: dict[str, str | list[str]] = {"message": str(record.msg).strip()}
        if record.exc_info is not None and record.exc_info[0] is not None:
            members["fault"] = record.exc_info[0].__name__
            members["places"] = places(record.exc_info[2])
        self._log.event(record.levelname.lower(), "server", **members)


@contextlib.contextmanager
def open_log(descriptor: int | None, *, requests: bool = True) -> Iterator[GatewayLog]:
    """Log to a file descriptor, or nowhere; what the web server says goes there too."""
    log = GatewayLog(None if descriptor is None else LogSink(descriptor), requests=requests)
    logger, handler = logging.getLogger("uvicorn"), LogHandler(log)
    logger.addHandler(handler)
    propagate, logger.propagate = logger.propagate, False
    try:
        yield log
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate
        log.close()


def places(trace: TracebackType | None) -> list[str]:
    """Give the innermost places of a traceback in the code: `module.py:12 function`."""
    frames = traceback.extract_tb(trace)[-_FRAMES:]
    return [f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
