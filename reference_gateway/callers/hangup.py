"""Work for a caller who may hang up before it is done."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from reference_gateway.callers.interruption import Interruption

_T = TypeVar("_T")

_SOON_SECONDS: Final = 0.01
"""Work that is done so soon isn't worth calling off, and a task to watch costs a tenth of a short request."""


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, _T]) -> _T:
    """Do the work for a request whose body has been read, and cancel it when the caller hangs up.

    Raises ClientDisconnect then.
    """
    interruption = Interruption()
    watch = _Watch(receive, interruption)
    try:
        return await work
    except asyncio.CancelledError:
        if interruption.meant():
            raise ClientDisconnect from None
        raise
    finally:
        watch.end()


class _Watch:
    """Calls `gone` when the caller has gone; begins to look after a moment."""

    def __init__(self, receive: Receive, gone: Callable[[], None]) -> None:
        self._receive = receive
        self._gone = gone
        self._watching: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(_SOON_SECONDS, self._begin)

    def end(self) -> None:
        """Look no longer."""
        self._timer.cancel()
        if self._watching is not None:
            self._watching.cancel()

    def _begin(self) -> None:
        self._watching = asyncio.create_task(self._until_gone())

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone()
