"""What the rules of composition and digest give, worked out the long way round.

It shares no code with the core, which is judged by it: only the standard library and the rules as they are
written. Every policy is worked out from all intents that it rests on, and nothing is carried from one to the
next.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

REUSE: Final = ("none", "exact", "approximate")
"""Strictest first (CMP-4)."""

SCOPES: Final = ("request", "session", "principal", "tenant", "public")
"""Narrowest first (CMP-5)."""


def digest_of(namespaces: Sequence[str]) -> str | None:
    """Digest the records of the namespaces (DIG-1); None where there is no namespace (DIG-3)."""
    records = b""
    for namespace in namespaces:
        octets = namespace.encode("utf-8")
        records += str(len(octets)).encode("ascii") + b"\x3a" + octets
    return sha256(records).hexdigest() if namespaces else None


def policy_after(fragments: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Give what a vector is to expect of the state after the last of these fragments; None for no policy."""
    all_constraints = [fragment["constraints"] for fragment in fragments if "constraints" in fragment]
    if not all_constraints:
        return None  # CMP-6
    digest = digest_of([each["namespace"] for each in all_constraints if "namespace" in each])
    return {
        "retention": _retention([each["retention"] for each in all_constraints]),
        "reuse": REUSE[min(REUSE.index(each["reuse"]) for each in all_constraints)],
        "share_max": SCOPES[min(SCOPES.index(each["share_max"]) for each in all_constraints)],
        **({"absent": ["namespace_identity"]} if digest is None else {"namespace_identity": digest}),
    }


def _retention(retentions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if any(each["mode"] == "forbid" for each in retentions):
        return {"mode": "forbid"}  # CMP-2
    bounds = [each["max_age"] for each in retentions if "max_age" in each]
    return {"mode": "allow", "max_age": min(bounds)} if bounds else {"mode": "allow"}  # CMP-3
