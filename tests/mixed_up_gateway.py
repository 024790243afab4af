"""The reference gateway with the right credentials, or with those of two tenants taken for one."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway.process import running

CALLERS = (
    ("alice", "acme", "alice", "s1"),
    ("alice-again", "acme", "alice", "s2"),
    ("bob", "acme", "bob", "s1"),
    ("carol", "globex", "carol", "s1"),
    ("other-alice", "globex", "alice", "s1"),
)


def token(name: str) -> str:
    return f"canary-token-of-{name}"


@contextmanager
def gateway(folder: Path, *, mixed_up: bool = False) -> Iterator[str]:
    """Run the gateway and write a target file for it, `target.yaml`; give its URL.

    Mixed up, it takes both tenants for one, so that state crosses from one to the other.
    """
    entries = [
        {
            "token": token(name),
            "tenant": "acme" if mixed_up else tenant,
            "principal": principal,
            "session": session,
        }
        for name, tenant, principal, session in CALLERS
    ]
    credentials = folder / "credentials.json"
    credentials.touch(mode=0o600)
    credentials.write_text(json.dumps({"credentials": entries}))
    with running(credentials=credentials) as (url, _):
        write_target(folder, url)
        yield url


def write_target(folder: Path, url: str) -> None:
    callers = [
        {"name": name, "token": token(name), "tenant": tenant, "principal": principal, "session": session}
        for name, tenant, principal, session in CALLERS
    ]
    target = {"target": url, "model": "embedded", "credentials": callers}
    (folder / "target.yaml").write_text(json.dumps(target))


def cctest(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Run a whole command in a folder; nothing that it says holds a token."""
    command = [sys.executable, "-m", "cctest", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=280, check=False)
    assert "Traceback" not in done.stderr
    assert "canary-token" not in done.stdout + done.stderr
    return done.returncode, done.stdout, done.stderr
