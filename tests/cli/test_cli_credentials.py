"""No command lets out a credential, whatever the server does with the one that it is sent."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import quote

import pytest
from local_server import LocalServer, Visit, local_server

VARIABLES = {
    "ALICE": "canary-alice/+=\\",
    "AGAIN": "canary-alice/+=\\again",
    "BOB": "canary-bob",
    "CAROL": "canary-carol&x=<y>",
    "KEY": "canary-key",
}
CONFIG = """\
target: {url}
model: small
headers: {{X-Api-Key: "${{KEY}}"}}
credentials:
  - {{name: alice, token: "${{ALICE}}", tenant: a, principal: alice, session: s}}
  - {{name: again, token: "${{AGAIN}}", tenant: a, principal: alice, session: t}}
  - {{name: bob, token: "${{BOB}}", tenant: a, principal: bob, session: s}}
  - {{name: carol, token: "${{CAROL}}", tenant: b, principal: carol, session: s}}
"""
CASES = ("status-shape", "tenant-boundary", "unknown-constraint", "capabilities", "hint-report")
CHOSEN = [part for case in CASES for part in ("--case", case)]
REPORTS = ("--json", "report.json", "--junit", "report.xml")
NEW = ("--reason", "not ours", "--link", "https://example.org/7", "--expires", "2999-01-01")
COMMANDS = {
    "probe": ("probe", "--config", "target.yaml", *CHOSEN, *REPORTS),
    "probe, quiet": ("probe", "--config", "target.yaml", *CHOSEN, "--quiet"),
    "probe, timing": ("probe", "--config", "target.yaml", "--case", "no-intent", "--timing", "2"),
    "probe, baseline": ("probe", "--config", "target.yaml", *CHOSEN, "--baseline", "known.yaml"),
    "dry run": ("probe", "--config", "target.yaml", "--dry-run"),
    "doctor": ("doctor", "--config", "target.yaml"),
    "replay": ("replay", "first.json", "status-shape", "--config", "target.yaml", *REPORTS),
    "baseline": ("baseline", "update", "made.yaml", "--report", "first.json", *NEW),
    "explain": ("explain", "tenant-boundary"),
    "list": ("list", "cases"),
    "vectors": ("vectors", *REPORTS),
    "validate": ("validate", "target.yaml"),
    "init": ("init", "other.yaml"),
    "broken file": ("probe", "--config", "broken.yaml"),
}


def spellings(secret: str) -> Iterator[str]:
    yield secret
    yield json.dumps(secret)[1:-1]
    yield quote(secret, safe="")
    yield secret.replace("/", "~1")
    yield base64.b64encode(secret.encode()).decode()


def echo(visit: Visit, number: int) -> None:
    """Answer like a gateway that puts everything it was sent everywhere it can."""
    told = "; ".join(line for line in visit.head.decode("latin-1").split("\r\n") if "canary" in line)
    sent = visit.head.decode("latin-1").partition("Bearer ")[2].partition("\r")[0]
    told = f"{told} {quote(told, safe='')} {base64.b64encode(sent.encode()).decode()}"
    headers = ("Content-Type: application/json", f"X-Echo: {told}", f"WWW-Authenticate: {told}")
    if b"cache_intent_capabilities" in visit.head:
        constraints = {"share_max": ["tenant"], "reuse": ["exact"], told: told}
        capabilities = {
            "versions": [1],
            "on_unenforceable": told,
            "constraints": constraints,
            "hints": {told: 1},
        }
        visit.respond(json.dumps({"cache_intent_capabilities": capabilities}).encode(), *headers)
    elif number % 4 == 0:
        error = {"error": {"code": told, "message": told, "param": told}, "cache_status": told}
        visit.respond(json.dumps(error).encode(), *headers, status=f"400 {told[:60]}")
    elif number % 4 == 1:
        visit.respond(f"{told} is no JSON".encode(), f"Location: http://{told}/", *headers)
    else:
        entry = {"outcome": told, "id": told, told: told, "constraint_result": "satisfied"}
        answer = {
            "choices": [{"message": {"content": told}}],
            "usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": told}},
            "cache_status": [entry, {**entry, "effective_share": told, "hints": {told: told}}],
        }
        visit.respond(json.dumps(answer).encode(), *headers)


@pytest.fixture(scope="module")
def echoing() -> Iterator[LocalServer]:
    numbers = count()
    with local_server(lambda visit: echo(visit, next(numbers))) as server:
        yield server


def run(folder: Path, server: LocalServer, *arguments: str) -> str:
    """Run a command and give everything that it said and wrote."""
    (folder / "target.yaml").write_text(CONFIG.format(url=server.url))
    (folder / "broken.yaml").write_text(CONFIG.format(url=server.url) + "credentialz: ${ALICE}\n")
    given = {path.name for path in folder.iterdir()}
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    done = subprocess.run(
        [sys.executable, "-m", "cctest", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**environment, **VARIABLES},
        timeout=100,
        check=False,
    )
    assert done.returncode != 70, done.stderr
    assert "Traceback" not in done.stderr
    written = [path.read_text() for path in folder.iterdir() if path.name not in given]
    return "\n".join((done.stdout, done.stderr, *written))


@pytest.fixture(scope="module")
def first(echoing: LocalServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a first run, which others start from."""
    folder = tmp_path_factory.mktemp("first")
    run(folder, echoing, "probe", "--config", "target.yaml", *CHOSEN, "--json", "first.json")
    return folder / "first.json"


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=list(COMMANDS))
def test_no_command_lets_out_a_credential(
    echoing: LocalServer, first: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "first.json").write_text(first.read_text())
    (tmp_path / "known.yaml").write_text("version: 1\nfailures: []\n")
    said = run(tmp_path, echoing, *arguments)

    assert said.strip()
    assert [form for secret in VARIABLES.values() for form in spellings(secret) if form in said] == []
    assert "canary" not in said


def test_the_server_was_sent_every_credential_and_its_echoes_were_reported(
    echoing: LocalServer, first: Path
) -> None:
    heads = b"\n".join(head for head, _ in echoing.requests).decode("latin-1")
    assert [secret for secret in VARIABLES.values() if secret not in heads] == []
    assert "${CCTEST_TOKEN_ALICE}" in first.read_text()
