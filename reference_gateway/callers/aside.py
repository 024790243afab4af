"""Work on large bodies, off the event loop and on few threads, so that it can't crowd out anything else."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

_T = TypeVar("_T")
_THREADS: Final = ThreadPoolExecutor(2, "large-bodies")


async def aside(work: Callable[[], _T]) -> _T:
    """Do work in a thread, in the context of the caller; at most two at a time, the others wait."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(_THREADS, lambda: context.run(work))
