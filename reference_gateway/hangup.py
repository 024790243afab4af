"""Work for a caller who may hang up before it is done."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Receive

_T = TypeVar("_T")


async def unless_gone(receive: Receive, work: Coroutine[Any, Any, _T]) -> _T:
    """Do the work for a request whose body has been read, and cancel it when the caller hangs up.

    Raises ClientDisconnect then.
    """
    watch = _Watch(receive)
    watching = asyncio.create_task(watch.until_gone())
    try:
        return await work
    except asyncio.CancelledError:
        if watch.gone and watch.working.uncancel() == 0:
            raise ClientDisconnect from None
        raise
    finally:
        watching.cancel()


class _Watch:
    """Cancels the task that made it as soon as the caller has gone."""

    def __init__(self, receive: Receive) -> None:
        working = asyncio.current_task()
        if working is None:
            raise RuntimeError("work for a caller is done in a task")
        self.working: Final = working
        self.gone = False
        self._receive = receive

    async def until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.gone = True
        self.working.cancel()
