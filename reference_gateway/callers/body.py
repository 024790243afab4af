"""Reading a request's body within bounds of size, time and memory."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final

from starlette.requests import Request

from cctest.contract.sharing import Context
from reference_gateway.callers.interruption import Interruption
from reference_gateway.callers.limits import Limits
from reference_gateway.refusal import RefusalError, too_large
from reference_gateway.telemetry.exchange import current

_SMALL: Final = 65_536
"""Bodies up to so many bytes aren't counted; connections are bounded, and so are they."""
_SHARES: Final = 4
"""A principal may have this part of the room, and one body of the largest size in any case."""


class BodyReader:
    """Reads bodies; those under way may have `bodies_bytes` together, and no principal takes all of that."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._share = max(limits.body_bytes, limits.bodies_bytes // _SHARES)
        self._held_by: Counter[tuple[str, str]] = Counter()
        self.held = 0
        """Bytes in large bodies that are being read or served."""

    async def read(self, request: Request, caller: Context) -> bytes:
        """Read a body to its end.

        Raises RefusalError: 413 where it is too large, 408 where it is too slow, 503 where there is no room,
        429 where the caller's part of it is taken; ClientDisconnect where the caller has gone.
        """
        too_slow = Interruption()
        timer = asyncio.get_running_loop().call_later(self._limits.body_seconds, too_slow)
        try:
            return await self._read(request, (caller.tenant, caller.principal))
        except asyncio.CancelledError:
            if not too_slow.meant():
                raise
            message = f"the request body didn't come within {self._limits.body_seconds:g} seconds"
            raise RefusalError(408, "body_timeout", message, close=True) from None
        finally:
            timer.cancel()

    async def _read(self, request: Request, who: tuple[str, str]) -> bytes:
        body = bytearray()
        limit = self._limits.body_bytes
        async for chunk in request.stream():
            body += chunk
            if len(body) > limit:
                raise too_large(limit)
            if len(body) > _SMALL:
                self._hold(len(chunk) if len(body) - len(chunk) > _SMALL else len(body), who)
        return bytes(body)

    def _hold(self, size: int, who: tuple[str, str]) -> None:
        if self.held + size > self._limits.bodies_bytes:
            message = "too many large requests are under way; try again later"
            raise RefusalError(503, "server_busy", message, retry_after="1")
        if self._held_by[who] + size > self._share:
            message = (
                f"{self._share} bytes of large requests of yours are under way; that is the most at once"
            )
            raise RefusalError(429, "too_many_requests", message, retry_after="1")
        self.held += size
        self._held_by[who] += size
        current().hold(self._release(size, who))

    def _release(self, size: int, who: tuple[str, str]) -> Callable[[], None]:
        def release() -> None:
            self.held -= size
            self._held_by[who] -= size
            if not self._held_by[who]:
                del self._held_by[who]

        return release
