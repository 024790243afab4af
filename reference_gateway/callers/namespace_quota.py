"""How many different effective namespaces a tenant may use in a time.

Each opens a partition in the engine's cache; without a bound one tenant could fill the cache with partitions
that nobody comes back to, and what is kept here could grow with them.
"""

import math
import time
from collections.abc import Callable, Iterable

from reference_gateway.callers.limits import Limits
from reference_gateway.plan import Plan
from reference_gateway.refusal import RefusalError


class _Used:
    """The namespaces that a tenant used in this half of the window and, less those, in the half before."""

    __slots__ = ("before", "lately", "turned")

    def __init__(self, turned: float) -> None:
        self.lately: set[int] = set()
        self.before: set[int] = set()
        self.turned = turned


class NamespaceQuota:
    """Counts namespaces by tenant. A namespace counts for at least half the window after it was last used.

    What is kept is a number for each, so about 100 bytes; the bound on their number bounds it.
    """

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = limits.namespaces
        self._half = limits.namespace_seconds / 2
        self._clock = clock
        self._tenants: dict[str, _Used] = {}

    def use(self, tenant: str, plan: Plan) -> None:
        """Count the namespaces of a plan. If they are too many, count none and raise RefusalError (429)."""
        digests = {one.policy.namespace_digest for one in plan.fragments}
        digests.discard(None)
        if digests and self._most is not None:
            self._count(tenant, map(hash, digests), self._most)

    def _count(self, tenant: str, namespaces: Iterable[int], most: int) -> None:
        used = self._now(tenant)
        fresh = [one for one in namespaces if one not in used.lately]
        new = sum(one not in used.before for one in fresh)
        if new and len(used.lately) + len(used.before) + new > most:
            message = f"the tenant has used {most} different namespaces lately; that is the most"
            wait = math.ceil(max(1.0, used.turned + self._half - self._clock()))
            raise RefusalError(429, "too_many_namespaces", message, retry_after=str(wait))
        used.lately.update(fresh)
        used.before.difference_update(fresh)

    def _now(self, tenant: str) -> _Used:
        now = self._clock()
        used = self._tenants.get(tenant)
        if used is None:
            used = self._tenants[tenant] = _Used(now)
        passed = now - used.turned
        if passed >= self._half:
            used.before = used.lately if passed < 2 * self._half else set()
            used.lately, used.turned = set(), now
        return used
