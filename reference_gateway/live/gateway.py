"""The gateway as the process that it is in earnest, in front of an engine, with made-up credentials."""

import contextlib
import json
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reference_gateway.live.chat import Client
from reference_gateway.live.engine import Engine

TENANTS: Final = 24
"""Tenants of a demo's gateway: enough for a fresh one whenever it must be one that never asked before."""

PRINCIPALS: Final = ("alice", "bob")

_ANNOUNCEMENT: Final = "listening on "


@dataclass(frozen=True, slots=True)
class Gateway:
    """A gateway that answers at `url`. `tokens` has one for each tenant's number and each principal."""

    url: str
    model: str
    tokens: Mapping[tuple[int, str], str]

    def client(self, tenant: int, principal: str = PRINCIPALS[0]) -> Client:
        """Ask as somebody of a tenant."""
        return Client(self.url, self.model, {"Authorization": f"Bearer {self.tokens[tenant, principal]}"})


@contextlib.contextmanager
def running_gateway(engine: Engine, *options: str, tenants: int = TENANTS) -> Iterator[Gateway]:
    """Run a gateway in front of `engine` on a free port, with a random salt secret and so many `tenants`."""
    tokens = {
        (tenant, principal): secrets.token_urlsafe(24)
        for tenant in range(tenants)
        for principal in PRINCIPALS
    }
    with tempfile.TemporaryDirectory(prefix="reference-gateway-") as folder:
        files = {
            "--credentials": _private(Path(folder, "credentials.yaml"), _credentials(tokens)),
            "--salt-secret-file": _private(Path(folder, "salt"), secrets.token_hex(32)),
        }
        if engine.key is not None:
            files["--engine-key-file"] = _private(Path(folder, "key"), engine.key)
        command = [sys.executable, "-m", "reference_gateway", "serve", "--backend", "vllm", "--port", "0"]
        command += ["--engine-url", engine.url, "--log", "problems"]
        command += [part for option, path in files.items() for part in (option, str(path))]
        with _started([*command, *options, "--stop-with-stdin"]) as url:
            yield Gateway(url, engine.model, tokens)


@contextlib.contextmanager
def _started(command: list[str]) -> Iterator[str]:
    with subprocess.Popen(  # noqa: S603 - our own command, no shell
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdout is None:
            raise RuntimeError("the gateway has no standard output")
        try:
            line = process.stdout.readline().strip()
            if not line.startswith(_ANNOUNCEMENT):
                raise RuntimeError("the gateway didn't start; what it says is above")
            yield line.removeprefix(_ANNOUNCEMENT)
        finally:
            process.communicate()  # closes its standard input, which stops it


def _credentials(tokens: Mapping[tuple[int, str], str]) -> str:
    entries = [
        {"token": token, "tenant": f"tenant-{tenant}", "principal": principal, "session": "s1"}
        for (tenant, principal), token in tokens.items()
    ]
    return json.dumps({"credentials": entries})


def _private(path: Path, content: str) -> Path:
    path.touch(mode=0o600)
    path.write_text(content, encoding="utf-8")
    return path
