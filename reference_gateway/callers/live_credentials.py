"""Credentials that follow their file: a change counts for every request that comes after it.

The file's identity, size and times are looked at for each request. As times are coarse, a file that changed
lately is also compared by its content. A new file is read off the event loop, and requests wait for it: none
is judged by an older one, so a revocation takes effect at once. Exchanges under way go on.

A file that can't be read or is wrong puts nobody in or out: the last good one stays in force, for a slip in
the file must not turn every caller away. It is said in the log, in the metric `credentials_stale` and in
`/readyz`, until the file is right again. So that nobody reads half a file, write a new one beside it and
rename it.
"""

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from cctest.contract.sharing import Context
from reference_gateway.callers.credentials_file import read_credentials, read_file
from reference_gateway.callers.expiry import ExpiryClock
from reference_gateway.problem import ConfigurationError
from reference_gateway.telemetry.gatewaylog import GatewayLog

_Look: TypeAlias = tuple[int, ...] | None
_UNSEEN: Final = (0,)
_NOTHING: Final = (b"", 0)
_COARSE_SECONDS: Final = 2.0
"""Within so many seconds two changes of a file can leave it with the same times."""


class LiveCredentials:
    """The credentials of a file as it is now. Raises ConfigurationError if it isn't right at the start."""

    def __init__(
        self,
        path: Path,
        log: GatewayLog,
        environment: Mapping[str, str] = os.environ,
        clock: ExpiryClock | None = None,
    ) -> None:
        self._path = path
        self._log = log
        self._environment = environment
        self._clock = clock or ExpiryClock()
        self._look: _Look = _look(path)
        self._looked = time.monotonic()
        self._judged = read_file(path)
        self._known = read_credentials(*self._judged, path, environment, self._clock)
        self._reading: asyncio.Task[None] | None = None
        self.problem: str | None = None
        """What is wrong with the file as it is; None as long as the credentials are those of the file."""
        self.changes = 0
        """How often a new file came into force."""

    def identify(self, authorization: Sequence[str]) -> Context:
        """Give the caller by the credentials that are in force. Raises RefusalError."""
        return self._known.identify(authorization)

    def outdated(self) -> bool:
        """Tell whether the file has changed since it was last read, or may have."""
        return (
            self._reading is not None
            or _look(self._path) != self._look
            or time.monotonic() - self._looked < _COARSE_SECONDS
        )

    async def follow(self) -> None:
        """Bring the credentials up to the file as it was when this was called, or later."""
        # The reading that is under way may have begun before the change; the one after it can't have.
        for _ in range(2):
            if not self.outdated():
                return
            mine = self._reading is None
            if self._reading is None:
                self._reading = asyncio.create_task(self._read())
                self._reading.add_done_callback(self._done)
            await asyncio.shield(self._reading)
            if mine:
                return

    def start_afresh(self) -> None:
        """Read the file again at the next request, and trust the wall clock as it is now."""
        self._clock.start_afresh()
        self._look, self._judged = _UNSEEN, _NOTHING

    def _done(self, _: "asyncio.Task[None]") -> None:
        self._reading = None

    async def _read(self) -> None:
        look = _look(self._path)
        if look != self._look:
            self._look, self._looked = look, time.monotonic()
        try:
            judged, self._judged = self._judged, _NOTHING
            self._judged = found = read_file(self._path)
            if found == judged:
                return
            known = await asyncio.to_thread(
                read_credentials, *found, self._path, self._environment, self._clock
            )
        except ConfigurationError as error:
            self._reject(error)
            return
        self._known, self.problem = known, None
        self.changes += 1
        self._log.event("info", "credentials_changed", credentials=len(known))

    def _reject(self, error: ConfigurationError) -> None:
        reason = str(error).partition("\n")[0]
        if reason != self.problem:
            self.problem = reason
            self._log.event("error", "credentials_rejected", reason=reason)


def _look(path: Path) -> _Look:
    try:
        found = os.stat(path)  # noqa: PTH116 - on every request, and Path.stat takes twice as long
    except OSError:
        return None
    return (found.st_ino, found.st_dev, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_mode)
