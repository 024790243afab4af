"""Listen, say where, and stop when told to."""

import contextlib
import ipaddress
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final

import uvicorn

from cctest.instrument.control import create_app
from cctest.instrument.settings import Settings
from cctest.problem import UsageProblem

_GRACE_SECONDS: Final = 2


class _Server(uvicorn.Server):
    """Says where it listens as soon as it does; ends normally when a signal stops it."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        del frame
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def serve(
    settings: Settings, host: str, port: int, announce: Callable[[str], None], *, stop_with_stdin: bool
) -> None:
    """Serve until a signal comes, or until stdin ends if `stop_with_stdin`; port 0 takes a free one.

    `announce` gets the URL once the engine listens. Raises UsageProblem if the address can't be had.
    """
    with _listen(host, port) as listener:
        shown_host = f"[{host}]" if ":" in host else host
        url = f"http://{shown_host}:{listener.getsockname()[1]}"
        server = _Server(_config(settings), lambda: announce(url))
        if stop_with_stdin:
            threading.Thread(target=_stop_at_end_of_stdin, args=(server,), daemon=True).start()
        server.run(sockets=[listener])


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _config(settings: Settings) -> uvicorn.Config:
    config = uvicorn.Config(
        create_app(settings),
        http="httptools",
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_no_cut)
    return config


def _is_no_cut(record: logging.LogRecord) -> bool:
    """Tell whether a message is about anything else than an answer that was cut off on purpose."""
    return not str(record.msg).startswith("ASGI callable returned without completing")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageProblem(f"can't listen there: {reason}", where=f"{host} port {port}") from error


def _stop_at_end_of_stdin(server: uvicorn.Server) -> None:
    with contextlib.suppress(OSError):
        while os.read(sys.stdin.fileno(), 4096):
            pass
    server.should_exit = True
