"""Casting the configured credentials in the roles that cases ask for."""

from collections.abc import Mapping, Sequence
from typing import Final

from cctest.probe.case import Role
from cctest.target.credential import Credential

_OPTIONAL: Final = (
    Role.OTHER_TENANT,
    Role.OTHER_PRINCIPAL,
    Role.OTHER_SESSION,
    Role.NAMESAKE,
    Role.SESSIONLESS,
)

UNCREDENTIALED: Final = frozenset({Role.STRANGER, Role.NOBODY})
"""Roles that need nothing from the configuration."""

_LACKING: Final = {
    Role.OTHER_SESSION: "a second session of the same principal",
    Role.OTHER_PRINCIPAL: "a second principal of the same tenant",
    Role.OTHER_TENANT: "a credential of a second tenant",
    Role.NAMESAKE: "a principal of the same name in a second tenant",
    Role.SESSIONLESS: "a credential without a session for the same principal",
    Role.SELF: "a credential",
}


def cast(credentials: Sequence[Credential]) -> Mapping[Role, Credential]:
    """Give each role a credential, choosing the first caller so that as many roles as possible are filled."""
    castings = [_cast_around(base, credentials) for base in credentials]
    return max(castings, key=len, default={})


def lacking(role: Role) -> str:
    """Say what the configuration would have to hold for `role` to be filled."""
    return _LACKING[role]


def absences(
    callers: Mapping[Role, Credential], credentials: Sequence[Credential], refusals: Mapping[Credential, str]
) -> dict[Role, str]:
    """Say of each role that nobody fills what it needs: a credential, or one that is accepted.

    `refusals` says why credentials of the configuration aren't cast.
    """
    base = callers[Role.SELF]
    told = {}
    for role in _OPTIONAL:
        if role in callers:
            continue
        refused = [refusals[one] for one in credentials if one in refusals and _fits(role, base, one)]
        told[role] = f"needs {lacking(role)}; {refused[0] if refused else 'the configuration has none'}"
    return told


def _cast_around(base: Credential, credentials: Sequence[Credential]) -> dict[Role, Credential]:
    found = {Role.SELF: base}
    for role in _OPTIONAL:
        match = next((other for other in credentials if _fits(role, base, other)), None)
        if match is not None:
            found[role] = match
    return found


def _fits(role: Role, base: Credential, other: Credential) -> bool:
    same_tenant = other.tenant == base.tenant
    same_person = same_tenant and other.principal == base.principal
    match role:
        case Role.OTHER_SESSION:
            return same_person and None not in (base.session, other.session) and other.session != base.session
        case Role.SESSIONLESS:
            return same_person and base.session is not None and other.session is None
        case Role.OTHER_PRINCIPAL:
            return same_tenant and other.principal != base.principal
        case Role.NAMESAKE:
            return not same_tenant and other.principal == base.principal
        case Role.OTHER_TENANT:
            return not same_tenant and other.principal != base.principal
    return False
