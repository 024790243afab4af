"""The credentials file: who is who, and what is wrong with a file, with its place."""

import json
from pathlib import Path

import pytest

from cctest.contract.sharing import Context
from gateway.process import DEMO
from reference_gateway.callers.credentials import Credentials
from reference_gateway.callers.credentials_file import load_credentials
from reference_gateway.callers.token_hash import hash_token
from reference_gateway.problem import ConfigurationError
from reference_gateway.refusal import RefusalError


def load(folder: Path, content: str | bytes, **environment: str) -> Credentials:
    path = folder / "credentials.yaml"
    path.touch(mode=0o600)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_credentials(path, environment)


def test_a_token_stands_for_tenant_principal_and_session(tmp_path: Path) -> None:
    known = load(
        tmp_path,
        "credentials:\n"
        "  - {token: t1, tenant: acme, principal: alice, session: s}\n"
        "  - {token: t2, tenant: no, principal: '12'}\n",
    )
    assert known.identify(["Bearer t1"]) == Context("acme", "alice", "s")
    assert known.identify(["bearer t2"]) == Context("no", "12", None)
    with pytest.raises(RefusalError):
        known.identify(["Bearer t3"])


def test_a_token_may_come_from_the_environment(tmp_path: Path) -> None:
    known = load(tmp_path, "credentials: [{token: '${TOKEN}', tenant: a, principal: b}]", TOKEN="t9")
    assert known.identify(["Bearer t9"]) == Context("a", "b")
    with pytest.raises(RefusalError):
        known.identify(["Bearer ${TOKEN}"])


def test_tokens_are_not_kept_in_the_clear(tmp_path: Path) -> None:
    known = load(tmp_path, "credentials: [{token: visible-token, tenant: a, principal: b}]")
    assert "visible-token" not in repr(vars(known))


def test_a_token_that_stands_for_two_callers_stands_for_none(tmp_path: Path) -> None:
    entries = [
        {"hash": str(hash_token("t", bytes([number]) * 8)), "tenant": "a", "principal": str(number)}
        for number in range(2)
    ]
    known = load(
        tmp_path, json.dumps({"credentials": [*entries, {"token": "u", "tenant": "a", "principal": "b"}]})
    )
    with pytest.raises(RefusalError, match="two callers at once"):
        known.identify(["Bearer t"])
    assert known.identify(["Bearer u"]) == Context("a", "b")


def test_a_revoked_token_and_an_expired_one_are_refused(tmp_path: Path) -> None:
    known = load(
        tmp_path,
        "credentials:\n"
        "  - {token: t1, tenant: a, principal: b, revoked: true}\n"
        "  - {token: t2, tenant: a, principal: b, expires: 2001-01-01T00:00:00+01:00}\n"
        "  - {token: t3, tenant: a, principal: b, expires: 2999-01-01T00:00:00Z, revoked: false}\n",
    )
    for token, said in (("t1", "revoked"), ("t2", "expired")):
        with pytest.raises(RefusalError, match=said) as refusal:
            known.identify([f"Bearer {token}"])
        assert refusal.value.status == 401
    assert known.identify(["Bearer t3"]) == Context("a", "b")


def test_every_salt_costs_a_hash_and_so_there_are_few(tmp_path: Path) -> None:
    entries = [
        {"hash": str(hash_token(f"t{number}", bytes([number]) * 8)), "tenant": "a", "principal": "b"}
        for number in range(17)
    ]
    with pytest.raises(ConfigurationError, match="17 different salts; at most 16"):
        load(tmp_path, json.dumps({"credentials": entries}))
    load(tmp_path, json.dumps({"credentials": entries[1:]}))


def test_the_demo_file_has_what_a_probe_needs() -> None:
    known = load_credentials(DEMO, {})
    names = [
        "acme-alice-monday",
        "acme-alice-tuesday",
        "acme-alice",
        "acme-bob",
        "globex-alice",
        "globex-carol",
    ]
    contexts = [known.identify([f"Bearer fake-{name}"]) for name in names]
    assert len({context.tenant for context in contexts}) == 2
    assert Context("acme", "alice") in contexts
    assert {context.tenant for context in contexts if context.principal == "alice"} == {"acme", "globex"}


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        ("", "", "no document"),
        ("credentials: []", "line 1, column", "/credentials: must be a list that is not empty"),
        ("users: []", "line 1, column", "one member credentials"),
        (
            "credentials: [{token: t, tenant: a}]",
            "line 1, column 15",
            "/credentials/0: needs the member principal",
        ),
        (
            "credentials:\n- token: t\n  tenant: a\n  principal: b\n  role: x\n",
            "line 5",
            "/credentials/0/role",
        ),
        ("credentials:\n- {token: t, tenant: a, principal: 12}\n", "line 2", "quote it"),
        (
            "credentials:\n- {token: t, tenant: a, principal: b, session: }\n",
            "line 2",
            "/credentials/0/session",
        ),
        ("credentials:\n- {token: t t, tenant: a, principal: b}\n", "line 2, column 11", "visible ASCII"),
        (
            "credentials:\n- {token: 'x${T}', tenant: a, principal: b}\n",
            "line 2, column 11",
            "the whole token",
        ),
        (
            "credentials:\n- {token: '${T}', tenant: a, principal: b}\n",
            "line 2, column 11",
            "variable T is not set",
        ),
        ("credentials:\n- &x {token: t, tenant: a, principal: b}\n- *x\n", "line 2", ""),
        ("credentials:\n- {token: t, token: t, tenant: a, principal: b}\n", "line 2", "token"),
        ("credentials:\n- {token: t, hash: x, tenant: a, principal: b}\n", "line 2", "one of token and hash"),
        (
            "credentials:\n- {hash: 'md5:00:00', tenant: a, principal: b}\n",
            "line 2",
            "as `reference-gateway hash-",
        ),
        (
            "credentials:\n- {token: t, tenant: a, principal: b, expires: 2027-01-31T00:00:00}\n",
            "line 2",
            "an instant with its zone",
        ),
        ("credentials:\n- {token: t, tenant: a, principal: b, revoked: 'no'}\n", "line 2", "true or false"),
        ("credentials: [x]", "line 1, column 15", "must be a mapping"),
        ("credentials: [", "line 1", ""),
        (
            "credentials:\n- {token: t, tenant: a, principal: b}\n- {token: t, tenant: c, principal: d}\n",
            "line 3, column 11",
            "that of an earlier entry",
        ),
        (b"\xff\xfe", "", "UTF-8"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, content: str | bytes, place: str, message: str
) -> None:
    with pytest.raises(ConfigurationError) as problem:
        load(tmp_path, content)
    told = str(problem.value)
    assert told.startswith(str(tmp_path / "credentials.yaml"))
    assert place in told
    assert message in told


def test_a_folder_a_missing_file_and_a_huge_file_are_told(tmp_path: Path) -> None:
    huge = tmp_path / "huge.yaml"
    with huge.open("wb") as file:
        file.truncate(50_000_000)
    for path, message in (
        (tmp_path, "directory"),
        (tmp_path / "none", "No such file"),
        (huge, "larger than"),
    ):
        with pytest.raises(ConfigurationError, match=message):
            load_credentials(path, {})
