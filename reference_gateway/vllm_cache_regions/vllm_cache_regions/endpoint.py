"""`GET /cache_regions`: the engine core's own answer to whether regions are in force, and its counters.

It needs `VLLM_PLUGINS=vllm_cache_regions` (with the names of all other plugins that are wanted): vLLM adds
routes of plugins only where they are named. Without it regions are in force all the same, but nobody can ask.
"""

import asyncio
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from argparse import Namespace

    from fastapi import FastAPI
    from starlette.datastructures import State
    from starlette.requests import Request
    from starlette.responses import Response

PATH: Final = "/cache_regions"
_SECONDS: Final = 5.0


class StatusEndpoint:
    """An endpoint plugin of vLLM's (`vllm.plugins.endpoint_plugins.interface.EndpointPlugin`)."""

    name = "vllm_cache_regions"
    required_tasks: tuple[str, ...] | None = ("generate",)

    def __init__(self) -> None:
        self._engine: Any = None

    def attach_router(self, app: "FastAPI") -> None:
        """Add the route."""
        app.add_route(PATH, self.show, methods=["GET"])

    async def init_state(self, engine_client: Any, state: "State", args: "Namespace") -> None:  # noqa: ARG002 - vLLM's
        """Keep the way to the engine core."""
        self._engine = engine_client

    async def show(self, request: "Request") -> "Response":  # noqa: ARG002 - Starlette's
        """Answer with the engine core's status, or 503 if it has none to give."""
        from starlette.responses import JSONResponse  # noqa: PLC0415 - vLLM's environment has it

        from vllm_cache_regions.engine_core import STATUS_METHOD  # noqa: PLC0415

        try:
            asked = self._engine.engine_core.call_utility_async(STATUS_METHOD)
            return JSONResponse(await asyncio.wait_for(asked, _SECONDS))
        except Exception as error:
            # Whatever the reason, to whoever asks it means: no regions.
            reason = f"the engine core gave no status: {type(error).__name__}: {error}"
            return JSONResponse({"plugin": self.name, "active": False, "inactive_because": [reason]}, 503)
