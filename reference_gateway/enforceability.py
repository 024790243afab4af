"""Which constraints a backend can't enforce: those that its capabilities don't list (CAP-3, INT-2).

The capabilities are taken at their word. `allow` on a backend that lists no `allow`, or a scope that isn't
listed, counts as unenforceable, though a stricter policy would be permitted too (READ-27): what is
advertised is then exactly what is served. Judged is each intent by itself, not what it composes to (READ-28).
"""

from collections.abc import Iterator
from dataclasses import replace

from cctest.contract.capabilities import Capabilities
from cctest.contract.intent import Constraints, Retention
from cctest.contract.vocabulary import RetentionMode, Reuse


def lacking(capabilities: Capabilities, constraints: Constraints) -> tuple[str, ...]:
    """Name what a backend would have to advertise to serve these constraints, but doesn't.

    The answer holds JSON pointers into the capabilities object; none if all can be enforced.

    `approximate` asks for no more than `exact` does, which is a stricter policy (INT-1, READ-7). Where the
    operator has it otherwise, it is taken out beforehand: see `approximate`.
    """
    return tuple(f"/constraints/{name}" for name in _lacking(capabilities, _as_enforced(constraints)))


def _as_enforced(constraints: Constraints) -> Constraints:
    """Spell `max_age` 0 as the `forbid` that it amounts to: there is no bound to be kept (RET-6)."""
    if constraints.retention.max_age != 0:
        return constraints
    return replace(constraints, retention=Retention(RetentionMode.FORBID))


def _lacking(capabilities: Capabilities, constraints: Constraints) -> Iterator[str]:
    retention, reuse = constraints.retention, constraints.reuse
    if retention.mode not in capabilities.retention_modes:
        yield "retention_modes"
    if retention.max_age is not None and not capabilities.retention_max_age:
        yield "retention_max_age"
    exact_will_do = reuse is Reuse.APPROXIMATE and Reuse.EXACT in capabilities.reuse
    if reuse not in capabilities.reuse and not exact_will_do:
        yield "reuse"
    if constraints.share_max not in capabilities.share_max:
        yield "share_max"
    if constraints.namespace is not None and not capabilities.namespace:
        yield "namespace"
