"""One exchange with a caller: what logs and metrics may know of it, and nothing that names anybody.

No token, tenant, principal, namespace, intent id or text is ever put here. Whatever comes from outside (path,
method, an engine's error code) is held as a word of a closed vocabulary.
"""

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from cctest.contract.vocabulary import ErrorCode

OTHER: Final = "other"
METHODS: Final = frozenset({"GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"})
CODES: Final = frozenset(
    {
        *map(str, ErrorCode),
        "bad_request",
        "body_timeout",
        "client_gone",
        "conflict",
        "context_length_exceeded",
        "engine_answer_unreadable",
        "engine_broke_off",
        "engine_failed",
        "engine_refused",
        "engine_timeout",
        "engine_unavailable",
        "engine_unreachable",
        "headers_too_large",
        "internal_error",
        "invalid_api_key",
        "invalid_json",
        "invalid_request",
        "method_not_allowed",
        "metadata_too_large",
        "model_not_found",
        "not_found",
        "rate_limited",
        "request_too_large",
        "server_busy",
        "too_many_namespaces",
        "too_many_requests",
        "unprocessable_content",
        "unprocessable_entity",
    }
)
"""The error codes that logs and metrics tell apart."""


class Route(StrEnum):
    """The end points; a path that is none of them is `other`."""

    CHAT = "chat"
    CAPABILITIES = "capabilities"
    MODELS = "models"
    HEALTH = "health"
    READINESS = "readiness"
    METRICS = "metrics"
    OTHER = OTHER


@dataclass(slots=True)
class Exchange:
    """One request and what became of it.

    `id` is opaque and made here: the caller gets it as `x-request-id`, and it stands in the log. `started` is
    an instant of the monotonic clock in seconds. `admitted` tells whether its caller was let in.
    """

    id: str
    method: str
    route: Route
    started: float
    status: int = 0
    code: str | None = None
    fragments: int = 0
    complete: bool = False
    admitted: bool = False
    _releases: list[Callable[[], None]] = field(default_factory=list)

    def hold(self, release: Callable[[], None]) -> None:
        """Note what gives back something that was taken for it."""
        self._releases.append(release)

    def end(self) -> None:
        """Give back all that was taken for it."""
        while self._releases:
            self._releases.pop()()


_CURRENT: Final[ContextVar[Exchange | None]] = ContextVar("exchange", default=None)


def begin(exchange: Exchange) -> None:
    """Make it the exchange of the running task and of those that it starts."""
    _CURRENT.set(exchange)


def current() -> Exchange:
    """Give the exchange that is being served; outside of any, one that nobody looks at."""
    return _CURRENT.get() or Exchange("", OTHER, Route.OTHER, 0.0)


def note_error(code: str) -> None:
    """Note the error code of the exchange that is being served."""
    current().code = code if code in CODES else OTHER
