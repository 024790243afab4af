"""Which requests may have one partition, worked out once more from the rules (BND-10, CMP-2..5, SHR-4, NS-1)."""

from collections import defaultdict
from dataclasses import dataclass, field

from gateway.spelt_json import Spelt, member

SCOPES = ("request", "session", "principal", "tenant", "public")


@dataclass(frozen=True)
class Policy:
    """The composition of all intents of a request whose state may be shared.

    The public scope counts as the tenant's: what a model sees beside the fragments narrows it to that.
    """

    scope: str
    namespaces: tuple[Spelt, ...]


@dataclass
class Use:
    """Who got a partition, and for what."""

    policies: set[Policy] = field(default_factory=set)
    tenants: set[str] = field(default_factory=set)
    all_public: bool = True


@dataclass
class Partitions:
    """All partitions that were seen so far."""

    _uses: dict[str, Use] = field(default_factory=lambda: defaultdict(Use))

    def judge(self, body: Spelt, tenant: str, salt: str) -> None:
        """Hold the partition of a served request against all before it."""
        intents = [member(fragment, "cache_intent") for fragment in _fragments(body)]
        is_known = salt in self._uses
        use = self._uses[salt]
        policy = composed(intents)
        if policy is None:
            assert not is_known, "what may not be shared has the partition of an earlier request"
            return
        use.policies.add(policy)
        use.tenants.add(tenant)
        use.all_public &= all(_constraint(intent, "share_max") == "public" for intent in intents)
        assert len(use.policies) == 1, f"one partition for {use.policies}"
        assert len(use.tenants) == 1 or use.all_public, f"one partition for {use.tenants}"


def composed(intents: list[Spelt]) -> Policy | None:
    """Compose intents, None among them for fragments without; None where nothing may be shared."""
    scopes = []
    for intent in intents:
        if intent is None:
            scopes.append("tenant")
            continue
        retention = _constraint(intent, "retention")
        if member(retention, "mode") == "forbid" or member(retention, "max_age") is not None:
            return None
        if _constraint(intent, "reuse") == "none":
            return None
        scopes.append(str(_constraint(intent, "share_max")))
    narrowest = min(scopes, key=SCOPES.index)
    if narrowest == "request":
        return None
    namespaces = (_constraint(intent, "namespace") for intent in intents)
    return Policy(
        "tenant" if narrowest == "public" else narrowest, tuple(one for one in namespaces if one is not None)
    )


def _fragments(body: Spelt) -> list[Spelt]:
    found: list[Spelt] = []
    for name in ("tools", "messages"):
        value = member(body, name)
        found += value if isinstance(value, list) else []
    return found


def _constraint(intent: Spelt, name: str) -> Spelt:
    return member(member(intent, "constraints"), name)
