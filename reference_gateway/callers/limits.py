"""Bounds that keep one caller, or many, from starving the process or the other callers.

None of them weakens a constraint: what is over a bound is refused, and the error says which bound it was.
Nesting is bounded by the contract's reader (64 levels), a request's answers and its metadata by `intake`.
"""

import resource
from dataclasses import dataclass, field
from typing import Final

_MOST_CONNECTIONS: Final = 8192


def default_connections() -> int:
    """As many connections as leave two thirds of the process's files for the engine and everything else."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return min(_MOST_CONNECTIONS, max(16, soft // 3))


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds, as `serve` takes them. None is no bound.

    - `body_bytes` and `body_seconds`: a request's body, and the time from its head to its end;
    - `bodies_bytes`: all bodies that are being read or served; a principal's may have a quarter of that;
    - `fragments`: tools and messages of a request;
    - `header_bytes`, `header_count` and `head_seconds`: the head of a request;
    - `connections`: open ones;
    - `idle_seconds`: how long a connection without a request is kept. Longer than those in front keep one, by
      custom 60 seconds: who sends on a connection just as it is closed can't tell what became of a request;
    - `stall_seconds`: how long a caller may take nothing of an answer that is there;
    - `concurrency` and `rate` (requests per second, on average over a second): each principal's;
    - `namespaces` and `namespace_seconds`: how many different effective namespaces a tenant may use
      in that time.
    """

    body_bytes: int = 1024 * 1024
    body_seconds: float = 30.0
    bodies_bytes: int = 256 * 1024 * 1024
    fragments: int = 4096
    header_bytes: int = 65_536
    header_count: int = 100
    head_seconds: float = 10.0
    idle_seconds: int = 75
    stall_seconds: float = 60.0
    connections: int = field(default_factory=default_connections)
    concurrency: int | None = 1024
    rate: float | None = None
    namespaces: int | None = 100_000
    namespace_seconds: float = 3600.0
