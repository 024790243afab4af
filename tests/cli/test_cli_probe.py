"""`cctest probe` as a whole command, against servers that are of no use."""

import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest
from local_server import (
    Behaviour,
    LocalServer,
    Visit,
    body_trickle,
    closed_port,
    endless_body,
    header_trickle,
    silent,
)

Serve = Callable[[Behaviour], LocalServer]

CANARIES = {"ALICE": "canary-alice/+=", "BOB": "canary-bob", "KEY": "canary-key"}
CONFIG = """\
model: small
timeouts: {exchange: 1}
headers: {X-Api-Key: "${KEY}"}
credentials:
  - {name: alice, token: "${ALICE}", tenant: a, principal: alice, session: s}
  - {name: bob, token: "${BOB}", tenant: b, principal: bob}
"""


def probe(
    folder: Path, *arguments: str, env: Mapping[str, str] = CANARIES, config: str = CONFIG
) -> tuple[int, str, str]:
    (folder / "probe.yaml").write_text(config)
    command = [sys.executable, "-m", "cctest", "probe", "--config", "probe.yaml", *arguments]
    clean = {name: value for name, value in os.environ.items() if name not in CANARIES}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**clean, **env}, timeout=100, check=False
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_a_closed_port_cannot_be_tested(tmp_path: Path) -> None:
    code, out, err = probe(tmp_path, "--target", f"http://127.0.0.1:{closed_port()}", "--json", "out.json")
    assert (code, out) == (4, "")
    assert "refuses connections" in err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("behaviour", [silent, header_trickle, body_trickle, endless_body])
def test_a_server_that_never_ends_is_given_up(serve: Serve, tmp_path: Path, behaviour: Behaviour) -> None:
    started = time.monotonic()
    code, _, _ = probe(tmp_path, "--target", serve(behaviour).url)
    assert code in (3, 4)
    assert time.monotonic() - started < 30


def answer(body: bytes, *headers: str, status: str = "200 OK") -> Behaviour:
    return lambda visit: visit.respond(body, *headers, status=status)


@pytest.mark.parametrize(
    ("behaviour", "codes"),
    [
        (answer(b"<html>nothing here</html>", status="404 Not Found"), {4}),
        (answer(b"<html>hello</html>", "Content-Type: text/html"), {1, 3, 4}),
        (answer(b"{}", "Content-Type: application/json"), {1, 3, 4}),
        (answer(b"oops", status="500 Internal Server Error"), {3, 4}),
        (answer(b'{"choices": "\xff"}', "Content-Type: application/json"), {1, 3, 4}),
        (answer(gzip.compress(b" " * 100_000_000), "Content-Encoding: gzip"), {3, 4}),
    ],
    ids=["plain-web-server", "html", "empty-object", "500", "invalid-utf-8", "gzip-bomb"],
)
def test_a_server_of_another_kind_is_never_conformant(
    serve: Serve, tmp_path: Path, behaviour: Behaviour, codes: set[int]
) -> None:
    code, _, err = probe(tmp_path, "--target", serve(behaviour).url)
    assert code in codes, err


def test_a_redirect_to_another_host_is_not_followed(serve: Serve, tmp_path: Path) -> None:
    elsewhere = serve(answer(b"{}"))
    server = serve(answer(b"", f"Location: {elsewhere.url}/", status="308 Permanent Redirect"))
    code, _, _ = probe(tmp_path, "--target", server.url)
    assert code in (3, 4)
    assert server.requests
    assert elsewhere.connections == 0


@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request"])
def test_credentials_appear_in_no_output(serve: Serve, tmp_path: Path, status: str) -> None:
    def behaviour(visit: Visit) -> None:
        seen = visit.head.decode("latin-1")
        body = {
            "error": {"code": seen, "message": f"{seen} {quote(seen, safe='')}"},
            "cache_status": seen,
            "choices": [{"message": {"content": seen}}],
            "cache_intent_capabilities": {"versions": seen, "constraints": {seen: seen}},
        }
        visit.respond(json.dumps(body).encode(), "Content-Type: application/json", status=status)

    server = serve(behaviour)
    _, out, err = probe(tmp_path, "--target", server.url, "--json", "out.json", "--junit", "out.xml")
    assert any(b"canary-alice" in head for head, _ in server.requests)
    written = [path.read_text() for path in (tmp_path / "out.json", tmp_path / "out.xml") if path.exists()]
    for text in (out, err, *written):
        assert "canary" not in text


@pytest.mark.parametrize(
    ("arguments", "config", "env", "message"),
    [
        ([], CONFIG, CANARIES, "no target to probe"),
        (["--target", "http://h"], CONFIG, {"ALICE": "canary-alice", "BOB": "canary-bob"}, "variable KEY is not set"),
        (["--target", "http://h"], CONFIG, {**CANARIES, "BOB": ""}, "probe.yaml:6:24: the environment variable BOB"),
        (["--target", "http://h"], "model: [", CANARIES, "probe.yaml:1:"),
        (["--target", "http://h"], "modell: x", CANARIES, "did you mean `model`?"),
        (["--target", "h"], CONFIG, CANARIES, "--target: the target is no http or https URL"),
        (["--target", "http://h", "--case", "max-age-reed"], CONFIG, CANARIES, "did you mean 'max-age-read'?"),
        (["--target", "http://h", "--rule", "RET-33"], CONFIG, CANARIES, "did you mean 'RET-3'?"),
        (["--target", "http://h", "--json", "no/where"], CONFIG, CANARIES, "there is no folder"),
        (["--target", "http://h", "--bundled"], CONFIG, CANARIES, "--bundled brings its own target"),
        (["--target", "http://h", "--jobs", "0"], CONFIG, CANARIES, "--jobs"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_call_ends_in_2(
    tmp_path: Path, arguments: list[str], config: str, env: Mapping[str, str], message: str
) -> None:
    code, out, err = probe(tmp_path, *arguments, env=env, config=config)
    assert (code, out) == (2, "")
    assert message in err
    assert "canary" not in err
