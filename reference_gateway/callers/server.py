"""Listen, say where, and stop when told to."""

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from reference_gateway.callers.connections import GuardedProtocol, guarded, swept
from reference_gateway.callers.front import Front
from reference_gateway.problem import ConfigurationError

_GRACE_SECONDS = 5
_GARBAGE = 20_000
"""New containers that are still there after which garbage is looked for; a request makes some hundreds."""


class _Server(uvicorn.Server):
    """Says on stdout where it listens as soon as it does; ends normally when a signal stops it."""

    def __init__(
        self, config: uvicorn.Config, url: str, protocol: type[GuardedProtocol], on_hangup: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._url = url
        self._protocol = protocol
        self._on_hangup = on_hangup

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, self._on_hangup)
        await super().startup(sockets)
        _settle()
        # Whoever was to read the line may be gone already; that is no reason not to serve.
        with contextlib.suppress(BrokenPipeError):
            print(f"listening on {self._url}", flush=True)

    async def main_loop(self) -> None:
        """Serve until it is told to stop."""
        async with swept(self._protocol):
            await super().main_loop()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        del sig, frame
        self.force_exit = self.should_exit
        self.should_exit = True


def serve(app: ASGIApp, front: Front, host: str, port: int, *, stop_with_stdin: bool) -> None:
    """Serve until a signal comes, or until stdin ends if `stop_with_stdin`; port 0 takes a free one.

    SIGHUP doesn't end it: the credentials are read afresh then.
    Raises ConfigurationError if the address can't be had.
    """
    with _listen(host, port) as listener:
        bound_port = listener.getsockname()[1]
        shown_host = f"[{host}]" if ":" in host else host
        protocol = guarded(front)
        config = uvicorn.Config(
            app,
            loop="uvloop",
            http=protocol,
            ws="none",
            lifespan="on",
            access_log=False,
            proxy_headers=False,
            log_config=None,
            log_level="warning",
            server_header=False,
            timeout_keep_alive=front.limits.idle_seconds,
            timeout_graceful_shutdown=_GRACE_SECONDS,
        )
        server = _Server(
            config, f"http://{shown_host}:{bound_port}", protocol, front.credentials.start_afresh
        )
        if stop_with_stdin:
            threading.Thread(target=_stop_at_end_of_stdin, args=(server,), daemon=True).start()
        server.run(sockets=[listener])


def _settle() -> None:
    """Spare the collector of cyclic garbage what was made at the start, and what requests make and drop."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE, 20, 50)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(f"can't listen there: {reason}", where=f"{host} port {port}") from error


def _stop_at_end_of_stdin(server: uvicorn.Server) -> None:
    with contextlib.suppress(OSError):
        while os.read(sys.stdin.fileno(), 4096):
            pass
    server.should_exit = True
