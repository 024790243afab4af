import socket
import ssl
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme
from local_server import LocalServer, Visit, local_server

from cctest.problem import UsageProblem
from cctest.target.configuration import load_configuration
from cctest.target.credential import Credential
from cctest.target.curl import reproduce
from cctest.target.exchange import ExchangeError, ExchangeKind, Request, Target
from cctest.target.tls import Tls

ASK = Request("GET", "/v1/models", credential=Credential("alice", "alice-token", "t", "p"))


@dataclass
class Papers:
    """Certificates in files: an authority's, one that it issued to a client, and its key."""

    authority: trustme.CA
    ca: Path
    certificate: Path
    key: Path


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    folder = tmp_path_factory.mktemp("papers")
    authority = trustme.CA()
    client = authority.issue_cert("client@cctest.example")
    made = Papers(authority, folder / "ca.pem", folder / "client.pem", folder / "client.key")
    authority.cert_pem.write_to_path(str(made.ca))
    client.cert_chain_pems[0].write_to_path(str(made.certificate))
    client.private_key_pem.write_to_path(str(made.key))
    return made


def ok(visit: Visit) -> None:
    visit.respond(b"{}")


@pytest.fixture
def secure(papers: Papers) -> Iterator[LocalServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    papers.authority.issue_cert("127.0.0.1").configure_cert(context)
    with local_server(ok, context) as server:
        yield server


def outcome(url: str, tls: Tls) -> int | ExchangeKind:
    try:
        with Target(url, tls=tls) as target:
            return target.send(ASK).status
    except ExchangeError as error:
        return error.kind


def test_a_certificate_of_an_unknown_authority_is_refused_before_the_token_is_sent(
    secure: LocalServer,
) -> None:
    assert outcome(secure.url, Tls()) is ExchangeKind.BAD_TLS
    assert secure.requests == []


def test_the_authorities_of_a_file_are_trusted(secure: LocalServer, papers: Papers) -> None:
    assert outcome(secure.url, Tls(ca_file=papers.ca)) == 200


def test_the_name_in_the_certificate_counts(secure: LocalServer, papers: Papers) -> None:
    by_name = secure.url.replace("127.0.0.1", "localhost")
    assert outcome(by_name, Tls(ca_file=papers.ca)) is ExchangeKind.BAD_TLS


def test_insecure_takes_any_certificate_and_is_quiet_about_each_request(secure: LocalServer) -> None:
    assert outcome(secure.url, Tls(insecure=True)) == 200  # a warning would be an error here


def test_authorities_named_by_the_environment_are_not_trusted(
    secure: LocalServer, papers: Papers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.setenv(name, str(papers.ca))
    assert outcome(secure.url, Tls()) is ExchangeKind.BAD_TLS


@pytest.mark.parametrize("together", [False, True])
def test_a_client_certificate_is_shown(papers: Papers, tmp_path: Path, together: bool) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    papers.authority.issue_cert("127.0.0.1").configure_cert(context)
    papers.authority.configure_trust(context)
    context.verify_mode = ssl.CERT_REQUIRED
    one = tmp_path / "both.pem"
    one.write_bytes(papers.certificate.read_bytes() + papers.key.read_bytes())
    certificate, key = (one, None) if together else (papers.certificate, papers.key)
    with local_server(ok, context) as server:
        assert outcome(server.url, Tls(papers.ca, certificate, key)) == 200
        assert outcome(server.url, Tls(papers.ca)) in (ExchangeKind.BAD_TLS, ExchangeKind.BROKEN)


def test_the_curl_command_connects_in_the_same_way(secure: LocalServer, papers: Papers) -> None:
    for tls in (Tls(papers.ca, papers.certificate, papers.key), Tls(insecure=True)):
        command = reproduce(ASK, Target(secure.url, tls=tls))
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=30, check=False)
        assert "200 OK" in done.stdout, done.stderr
    refused = reproduce(ASK, Target(secure.url))
    assert subprocess.run(["sh", "-c", refused], capture_output=True, timeout=30, check=False).returncode != 0


def load(folder: Path, tls: str) -> Tls:
    (folder / "target.yaml").write_text(f"target: https://h\ntls: {tls}\n")
    return load_configuration(folder / "target.yaml", environment={"CA": "ca.pem"}).tls


def test_paths_are_relative_to_the_target_file(papers: Papers) -> None:
    folder = papers.ca.parent
    tls = load(folder, '{ca_file: "${CA}", client_certificate: client.pem, client_key: client.key}')
    assert tls == Tls(papers.ca, papers.certificate, papers.key)


def test_files_that_can_not_be_used_are_told_before_anything_is_sent(papers: Papers) -> None:
    folder = papers.ca.parent
    (folder / "empty.pem").write_text("canary, no PEM")
    other = papers.authority.issue_cert("somebody.else")
    other.private_key_pem.write_to_path(str(folder / "other.key"))
    subprocess.run(
        ["openssl", "pkey", "-in", "client.key", "-aes256", "-passout", "pass:canary", "-out", "locked.key"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    for tls, message in (
        ("{ca_file: empty.pem}", "target.yaml:2:16: no certificates are in this file"),
        ("{client_certificate: client.pem, client_key: other.key}", "are no pair in PEM"),
        ("{client_certificate: client.pem}", "are no pair in PEM"),
        ("{client_certificate: client.pem, client_key: locked.key}", "the client key is encrypted"),
        ("{client_certificate: nowhere.pem}", "can't be read: No such file"),
    ):
        with pytest.raises(UsageProblem) as caught:
            load(folder, tls)
        assert message in str(caught.value)
        assert "canary" not in str(caught.value)


def test_a_server_without_tls_is_told_from_a_bad_certificate() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        ThreadPoolExecutor(1) as pool,
        Target(f"https://127.0.0.1:{listening.getsockname()[1]}") as target,
    ):

        def answer_plainly() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        answered = pool.submit(answer_plainly)
        with pytest.raises(ExchangeError, match="it seems to speak plain HTTP; write http://"):
            target.send(Request("GET", "/"))
        answered.result()
