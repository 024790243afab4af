import subprocess
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from local_server import Behaviour, LocalServer, Visit, local_server

from cctest.target.credential import Authorization, Credential, Header
from cctest.target.curl import curl_command, reproduce
from cctest.target.exchange import Request, Target

Serve = Callable[[Behaviour], LocalServer]

JSON = ("Content-Type", "application/json")
ALICE = Credential("alice-1", "tok-$HOME-`x`-!\"'", "t", "p")
HEADERS = (Header("X-Org", "it's"), Header("X-Api-Key", "$secret", "CCTEST_HEADER_X_API_KEY"))
VARIABLES = {
    "CCTEST_TOKEN_ALICE_1": ALICE.token,
    "CCTEST_HEADER_X_API_KEY": "$secret",
    "PATH": "/usr/bin:/bin",
}


def answer(visit: Visit) -> None:
    visit.respond(b"{}")


def both_ways(server: LocalServer, request: Request, shell: str = "bash") -> list[tuple[list[bytes], bytes]]:
    """Send a request with the client, then with the printed command, and give what arrived each time."""
    server.requests.clear()
    with Target(server.url, headers=HEADERS) as target:
        target.send(request)
    command = curl_command(request, server.url, HEADERS)
    subprocess.run(
        [shell], input=command.encode(), env=VARIABLES, check=True, capture_output=True, timeout=30
    )
    return [(sorted(head.split(b"\r\n")), body) for head, body in server.requests]


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize(
    "body",
    [
        None,
        b"",
        b"@/etc/hostname",
        b"""{"text": "it's $HOME `id` \\" \\\\n !!", "n": "caf\xc3\xa9 \xe4\xbd\xa0"}""",
        b"two\nlines\n\n",
        b'{"a": "\\u0000", "percent": "%s%d%%"}',
        b"\xff\xfe\x00\r\n\x07%s\\\\'",
        "\u202ereversed".encode(),
        b"x" * 300_000,
    ],
    ids=lambda body: repr(body)[:20],
)
def test_the_printed_command_sends_the_same_bytes(serve: Serve, body: bytes | None, shell: str) -> None:
    request = Request("POST", "/v1/chat?x='1'", (JSON,) if body is not None else (), body, ALICE)
    by_client, by_curl = both_ways(serve(answer), request, shell)
    if body is None:  # curl sends no length where there is no body
        by_client[0].remove(b"Content-Length: 0")
    assert by_curl == by_client


@given(body=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_body_survives_the_shell(body: bytes) -> None:
    with local_server(answer) as server:
        by_client, by_curl = both_ways(server, Request("POST", "/", (), body))
    assert by_curl == by_client


def test_secrets_are_variables_in_the_command() -> None:
    request = Request("POST", "/v1/x", (JSON,), b"{}", ALICE)
    assert curl_command(request, "http://host:1", HEADERS) == (
        "curl -sSi -X POST http://host:1/v1/x -H 'User-Agent: cctest/0.1.0' -H 'Accept: */*' "
        "-H 'Accept-Encoding: identity' -H 'X-Org: it'\"'\"'s' -H \"X-Api-Key: $CCTEST_HEADER_X_API_KEY\" "
        "-H 'Content-Type: application/json' -H \"Authorization: Bearer $CCTEST_TOKEN_ALICE_1\" --data-raw '{}'"
    )


def test_text_that_cannot_be_read_safely_is_escaped() -> None:
    command = curl_command(Request("POST", "/", (), "\u202ex".encode()), "http://host")
    assert "\u202e" not in command
    assert "\\342\\200\\256x" in command


def test_a_target_of_another_make_is_asked_in_the_same_way(serve: Serve) -> None:
    own = (
        Header("X-Project", "red"),
        Header("X-Project-Key", "project-secret", "CCTEST_HEADER_OF_ALICE_1_KEY"),
    )
    server = serve(answer)
    target = Target(
        server.url,
        base_path="/openai/v1beta",
        headers=(*HEADERS[:1], Header("x-project", "everybody's")),
        authorization=Authorization("X-Api-Key", None),
    )
    request = Request(
        "POST", "/v1/chat/completions", (JSON,), b"{}", Credential("alice-1", "$token", "t", "p", None, own)
    )
    with target:
        target.send(request)
    command = reproduce(request, target)
    variables = VARIABLES | {
        "CCTEST_TOKEN_ALICE_1": "$token",
        "CCTEST_HEADER_OF_ALICE_1_KEY": "project-secret",
    }
    subprocess.run(["sh"], input=command.encode(), env=variables, check=True, capture_output=True, timeout=30)
    by_client, by_curl = (sorted(head.split(b"\r\n")) for head, _ in server.requests)
    assert by_client == by_curl
    assert b"POST /openai/v1beta/chat/completions HTTP/1.1" in by_client
    assert {b"X-Api-Key: $token", b"X-Project: red", b"X-Project-Key: project-secret"} <= set(by_client)
    assert not any(line.lower().startswith(b"authorization") for line in by_client)
    assert "secret" not in command
