"""Around the whole application: an id for each request, its line in the log, and its place in the metrics."""

import time
from collections.abc import MutableMapping
from typing import Any, Final

from starlette.types import ASGIApp, Receive, Scope, Send

from reference_gateway.nonce import Nonces
from reference_gateway.telemetry.exchange import METHODS, OTHER, Exchange, Route, begin
from reference_gateway.telemetry.gatewaylog import GatewayLog
from reference_gateway.telemetry.metrics import Metrics

_ROUTES: Final = {
    "/v1/chat/completions": Route.CHAT,
    "/v1/cache_intent_capabilities": Route.CAPABILITIES,
    "/v1/models": Route.MODELS,
    "/healthz": Route.HEALTH,
    "/readyz": Route.READINESS,
    "/metrics": Route.METRICS,
}
_NAMES: Final = Nonces(8)


class Observer:
    """An ASGI application around another. The caller's own `x-request-id` is neither read nor echoed."""

    def __init__(self, app: ASGIApp, log: GatewayLog, metrics: Metrics) -> None:
        self._app = app
        self._log = log
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve an exchange; everything else is passed on as it is."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"]
        exchange = Exchange(
            _NAMES(),
            method if method in METHODS else OTHER,
            _ROUTES.get(scope["path"], Route.OTHER),
            time.monotonic(),
        )
        begin(exchange)
        name = (b"x-request-id", exchange.id.encode())

        async def named(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), name]}
            elif not message.get("more_body", False):
                exchange.complete = True
            await send(message)

        self._metrics.in_progress += 1
        try:
            await self._app(scope, receive, named)
        finally:
            self._ended(exchange)

    def _ended(self, exchange: Exchange) -> None:
        self._metrics.in_progress -= 1
        exchange.end()
        if not exchange.complete and exchange.code is None:
            exchange.code = "client_gone"
        seconds = time.monotonic() - exchange.started
        self._metrics.ended(exchange, seconds)
        self._log.request(exchange, seconds)
