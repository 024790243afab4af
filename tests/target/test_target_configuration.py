import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cctest.bundle import SCHEMAS
from cctest.problem import UsageProblem
from cctest.target.configuration import Configuration, Overrides, load_configuration
from cctest.target.connection import Timeouts
from cctest.target.credential import Authorization, Credential, Header
from cctest.target.rate import Rate

FULL = """\
target: https://gateway.example/api/v1/
model: small
credentials:
  - {name: alice, token: "${ALICE}", tenant: a, principal: alice, session: s1}
  - name: bob
    token: literal-token
    tenant: no
    principal: bob
headers: {X-Org: acme, X-Api-Key: "${KEY}", X-Session-Token: literal-too}
base_path: /openai/v1/
timeouts: {connect: 2, exchange: 12.5}
rate: {requests_per_second: 2.5, concurrency: 3}
wait_ready: 60
min_prompt_tokens: 1024
"""
VARIABLES = {"ALICE": "alice-token", "KEY": "key-value", "EMPTY": ""}


def load(
    tmp_path: Path, text: str, overrides: Overrides | None = None, name: str = "probe.yaml"
) -> Configuration:
    path = tmp_path / name
    path.write_text(text)
    return load_configuration(path, overrides, VARIABLES)


def problem(tmp_path: Path, text: str, name: str = "probe.yaml") -> str:
    with pytest.raises(UsageProblem) as caught:
        load(tmp_path, text, name=name)
    return str(caught.value).replace(f"{tmp_path}/", "")


def credential(**members: object) -> dict[str, object]:
    return {"name": "alice", "token": "long-enough", "tenant": "t", "principal": "p"} | members


def with_credentials(*credentials: dict[str, object]) -> str:
    return json.dumps({"target": "http://h", "credentials": credentials})


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    assert load(tmp_path, FULL) == Configuration(
        target="https://gateway.example/api",
        model="small",
        credentials=(
            Credential("alice", "alice-token", "a", "alice", "s1"),
            Credential("bob", "literal-token", "no", "bob", None),
        ),
        headers=(
            Header("X-Org", "acme", None),
            Header("X-Api-Key", "key-value", "CCTEST_HEADER_X_API_KEY"),
            Header("X-Session-Token", "literal-too", "CCTEST_HEADER_X_SESSION_TOKEN"),
        ),
        base_path="/openai/v1",
        timeouts=Timeouts(connect=2.0, exchange=12.5),
        rate=Rate(requests_per_second=2.5, concurrency=3),
        wait_ready=60.0,
        min_prompt_tokens=1024,
    )


def test_a_flag_wins_over_the_file(tmp_path: Path) -> None:
    configuration = load(tmp_path, FULL, Overrides(target="http://localhost:1/", model="big"))
    assert (configuration.target, configuration.model) == ("http://localhost:1", "big")


def test_a_flag_alone_is_enough() -> None:
    assert load_configuration(None, Overrides(target="http://localhost:1")) == Configuration(
        "http://localhost:1"
    )


def test_without_a_target_there_is_nothing_to_probe(tmp_path: Path) -> None:
    assert "no target to probe" in problem(tmp_path, "model: x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("target: http://h\ntokn: x", "probe.yaml:2:7: unknown member `tokn`; known: target, model,"),
        ("target: http://h\nmodle: x", "probe.yaml:2:8: unknown member `modle`; did you mean `model`?"),
        ("target: http://h\ntimeouts: {exchange: soon}", "probe.yaml:2:22: exchange: must be a number"),
        ("target: http://h\ntimeouts: {exchange: 0}", "probe.yaml:2:22: exchange: must be more than 0"),
        ("target: http://h\nmin_prompt_tokens: 0", "min_prompt_tokens: must be at least 1"),
        ("target: http://h\ntimeouts: {exchange: 1e9}", "exchange: must be at most 3600"),
        ("target: http://h\ntimeouts: {exchnge: 1}", "did you mean `exchange`?"),
        ("target: http://h\nrate: {requests_per_second: 0}", "must be more than 0"),
        ("target: http://h\nrate: {concurrency: 0}", "must be at least 1"),
        ("target: http://h\nbase_path: openai", "Begins with a slash"),
        ("target: http://h\nauthorization: {header: 'a b'}", "The header's name, such as X-Api-Key"),
        ("target: http://h\nauthorization: {header: Host}", "the header Host is set by cctest itself"),
        ("target: http://h\nauthorization: {header: X-Key}\nheaders: {x-key: a}", "the header x-key is set by cctest"),
        ("target: http://h\ntls: {client_key: k.pem}", "tls: `client_key` needs `client_certificate` beside it"),
        ("target: http://h\ntls: {insecure: 'yes'}", "insecure: must be true or false"),
        ("target: http://h\ntls: {insecure: true, ca_file: x}", "`ca_file` would mean nothing"),
        ("target: http://h\ntls: {ca_file: nowhere.pem}", "probe.yaml:2:16: can't be read: No such file"),
        ("- target", "probe.yaml:1:1: the document: must be an object"),
        ("target: [\n", "probe.yaml:2:1: "),
        ("target: a\ntarget: b", "probe.yaml:2:1: "),
        ("target: ftp://h", "probe.yaml:1:9: the target is no http or https URL"),
        ("target: http://u:p@h", "the target URL must have no user"),
        ("target: http://h?x=1", "the target URL must have no user"),
        ("target: http://h:99999", "no http or https URL"),
        ("target: http://h\nheaders: {Authorization: x}", "the header Authorization is set by cctest itself"),
        ("target: http://h\nheaders: {'a b': x}", "a name that isn't allowed"),
        ("target: http://h\nheaders: {X-A: \"a\\nb\"}", "must be printable ASCII"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    assert message in problem(tmp_path, text)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"token": "${NOWHERE}"}, "the environment variable NOWHERE is not set"),
        ({"token": "${EMPTY}"}, "the environment variable EMPTY is empty"),
        ({"token": "${oops"}, "`${` begins no variable"),
        ({"token": "short"}, "at least 8 characters"),
        ({"token": "with a space"}, "printable ASCII without spaces"),
        ({"token": "line-\n-break"}, "printable ASCII without spaces"),
        ({"name": "1st"}, "a letter, then letters"),
        ({"tenat": "t"}, "unknown member `tenat`; did you mean `tenant`?"),
        ({"session": ""}, "session: must not be empty"),
    ],
)
def test_a_bad_credential_is_told_with_its_place(
    tmp_path: Path, members: dict[str, object], message: str
) -> None:
    text = problem(tmp_path, with_credentials(credential(**members)), "probe.json")
    assert message in text
    assert text.startswith("probe.json:1:")


def test_a_missing_member_is_named(tmp_path: Path) -> None:
    broken = credential()
    del broken["tenant"]
    assert "`tenant` is missing" in problem(tmp_path, with_credentials(broken))


def test_a_token_is_never_quoted(tmp_path: Path) -> None:
    for broken in (
        {"token": ["canary-secret"]},
        {"token": "canary-secret ${NOWHERE}"},
        {"tokn": "canary-secret"},
    ):
        assert "canary" not in problem(tmp_path, with_credentials(credential(**broken)))


def test_names_are_distinct_as_variables_too(tmp_path: Path) -> None:
    first, second = credential(name="a-b"), credential(name="A_b", token="another-token")
    assert "the name 'A_b' is taken by 'a-b'" in problem(tmp_path, with_credentials(first, second))


def test_one_token_has_one_identity(tmp_path: Path) -> None:
    first, second = credential(), credential(name="bob", tenant="other")
    text = problem(tmp_path, with_credentials(first, second))
    assert "'bob' has the same token as 'alice', but another identity" in text
    same = load(tmp_path, with_credentials(first, credential(name="bob")))
    assert [known.name for known in same.credentials] == ["alice", "bob"]


def test_unreadable_files_are_usage_problems(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="this is a directory"):
        load_configuration(tmp_path)
    with pytest.raises(UsageProblem, match="No such file"):
        load_configuration(tmp_path / "none.yaml")
    big = tmp_path / "big.yaml"
    big.write_bytes(b"#" * 50_000_000)
    with pytest.raises(UsageProblem, match="larger than 1,000,000 bytes"):
        load_configuration(big)
    big.write_bytes(b"target: \xff\n")
    with pytest.raises(UsageProblem, match=r"big.yaml:1:\d+"):
        load_configuration(big)


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(json.loads((SCHEMAS / "configuration.schema.json").read_text()))


@pytest.mark.parametrize(
    ("text", "authorization"),
    [
        ("{}", Authorization("Authorization", "Bearer")),
        ("{header: X-Api-Key}", Authorization("X-Api-Key", None)),
        ("{scheme: Token}", Authorization("Authorization", "Token")),
        ("{scheme: null}", Authorization("Authorization", None)),
        ("{header: authorization}", Authorization("authorization", "Bearer")),
        ("{header: X-Auth, scheme: Key}", Authorization("X-Auth", "Key")),
    ],
)
def test_a_token_travels_as_the_file_says(tmp_path: Path, text: str, authorization: Authorization) -> None:
    assert load(tmp_path, f"target: http://h\nauthorization: {text}").authorization == authorization


def test_a_credential_has_headers_of_its_own(tmp_path: Path) -> None:
    known = load(
        tmp_path, with_credentials(credential(headers={"X-Project": "red", "X-Project-Key": "${KEY}"}))
    )
    assert known.credentials[0].headers == (
        Header("X-Project", "red", None),
        Header("X-Project-Key", "key-value", "CCTEST_HEADER_OF_ALICE_X_PROJECT_KEY"),
    )


def test_one_token_with_different_headers_may_have_two_identities(tmp_path: Path) -> None:
    first = credential(headers={"X-Project": "red"})
    second = credential(name="bob", tenant="other", headers={"X-Project": "blue"})
    assert len(load(tmp_path, with_credentials(first, second)).credentials) == 2
    second["headers"] = {"x-project": "red"}
    assert "the same token as 'alice'" in problem(tmp_path, with_credentials(first, second))


def test_every_secret_of_a_configuration_is_redacted(tmp_path: Path) -> None:
    text = with_credentials(credential(headers={"X-Project-Key": "project-secret"}))
    path = tmp_path / "probe.json"
    path.write_text(text)
    proxy = {"http_proxy": "http://user:proxy%40secret@proxy.example:3128"}
    known = load_configuration(path, environment=proxy)
    told = known.redactor().text("long-enough project-secret proxy@secret proxy%40secret")
    assert told == (
        "${CCTEST_TOKEN_ALICE} ${CCTEST_HEADER_OF_ALICE_X_PROJECT_KEY} "
        "${CCTEST_PROXY_PASSWORD} ${CCTEST_PROXY_PASSWORD}"
    )
    assert "secret" not in repr(known)
    assert known.notes() == (
        "every request went through the proxy http://proxy.example:3128, which http_proxy names",
    )


def test_insecurity_is_noted_where_it_means_anything() -> None:
    def notes(url: str) -> tuple[str, ...]:
        return load_configuration(None, Overrides(target=url, insecure=True), {}).notes()

    assert notes("http://h") == ()
    assert "INSECURE" in notes("https://h")[0]
