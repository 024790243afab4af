from cctest.probe.callers import cast
from cctest.probe.case import Role
from cctest.target.credential import Credential


def credential(name: str, tenant: str, principal: str, session: str | None = None) -> Credential:
    return Credential(name, f"token-of-{name}", tenant, principal, session)


ALICE = credential("alice", "acme", "alice", "s1")
ALICE_AGAIN = credential("alice-again", "acme", "alice", "s2")
ALICE_SESSIONLESS = credential("alice-sessionless", "acme", "alice")
BOB = credential("bob", "acme", "bob", "s1")
CAROL = credential("carol", "globex", "carol", "s1")
NAMESAKE = credential("namesake", "globex", "alice", "s1")
EVERYBODY = (ALICE, ALICE_AGAIN, ALICE_SESSIONLESS, BOB, CAROL, NAMESAKE)


def test_every_role_is_filled_by_relation() -> None:
    assert cast(EVERYBODY) == {
        Role.SELF: ALICE,
        Role.OTHER_SESSION: ALICE_AGAIN,
        Role.OTHER_PRINCIPAL: BOB,
        Role.OTHER_TENANT: CAROL,
        Role.NAMESAKE: NAMESAKE,
        Role.SESSIONLESS: ALICE_SESSIONLESS,
    }


def test_the_first_caller_is_the_one_with_most_relations_whatever_the_order() -> None:
    for shift in range(len(EVERYBODY)):
        turned = EVERYBODY[shift:] + EVERYBODY[:shift]
        assert len(cast(turned)) == len(cast(EVERYBODY))


def test_equal_session_names_of_two_principals_are_two_sessions() -> None:
    assert Role.OTHER_SESSION not in cast((ALICE, BOB))


def test_a_single_tenant_leaves_the_foreign_roles_open() -> None:
    roles = cast((ALICE, ALICE_AGAIN, BOB))
    assert not roles.keys() & {Role.OTHER_TENANT, Role.NAMESAKE}


def test_without_credentials_nobody_is_cast() -> None:
    assert cast(()) == {}
