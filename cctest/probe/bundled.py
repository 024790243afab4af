"""Starting our own gateway as a process of its own, for a first run without anybody else's.

The credentials are made up for the run and live in a private temporary file.
"""

import contextlib
import importlib.util
import json
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cctest.child import running
from cctest.problem import TargetProblem, UsageProblem
from cctest.target.credential import Credential
from cctest.target.exchange import ExchangeError, Request, Target

EMBEDDED: Final = "embedded"
FORWARDING: Final = "vllm"
BACKENDS: Final = (EMBEDDED, "salt-only", "null", FORWARDING)
"""The gateway's backends. All but the last have a model of their own, called as they are."""

_IDENTITIES: Final = (
    ("alice", "acme", "alice", "s1"),
    ("alice-again", "acme", "alice", "s2"),
    ("alice-sessionless", "acme", "alice", None),
    ("bob", "acme", "bob", "s1"),
    ("carol", "globex", "carol", "s1"),
    ("alice-of-globex", "globex", "alice", "s1"),
)


def make_credentials() -> tuple[Credential, ...]:
    """Make credentials that fill every role, with random tokens."""
    return tuple(
        Credential(name, secrets.token_urlsafe(24), tenant, principal, session)
        for name, tenant, principal, session in _IDENTITIES
    )


@dataclass(frozen=True, slots=True)
class Bundled:
    """How to run the reference gateway: its backend, the engine behind (a URL), and more of its options.

    `through` is a module, with arguments, that runs it in its stead.
    """

    backend: str = EMBEDDED
    engine: str | None = None
    options: tuple[str, ...] = ()
    through: tuple[str, ...] = ()

    def model(self) -> str:
        """Give the model that it serves. Raises TargetProblem if the engine behind doesn't tell."""
        return self.backend if self.engine is None else _only_model(self.engine)

    def notes(self) -> tuple[str, ...]:
        """Say on what a verdict on it rests: the version of the engine behind, if it tells one."""
        version = None if self.engine is None else _version(self.engine)
        return (
            () if version is None else (f"the engine behind the gateway says that its version is {version}",)
        )


BY_ITSELF: Final = Bundled()
"""On its embedded engine."""


@contextmanager
def running_gateway(credentials: Sequence[Credential], gateway: Bundled = BY_ITSELF) -> Iterator[str]:
    """Run the reference gateway on a free port of the loopback interface and give its URL.

    Raises UsageProblem if the gateway isn't installed or doesn't start.
    """
    if importlib.util.find_spec("reference_gateway") is None or importlib.util.find_spec("starlette") is None:
        raise UsageProblem("the reference gateway isn't installed", hint="pip install 'cctest[gateway]'")
    with tempfile.TemporaryDirectory(prefix="cctest-") as folder:
        known = Path(folder, "credentials.yaml")
        known.touch(mode=0o600)
        known.write_text(json.dumps({"credentials": [_entry(credential) for credential in credentials]}))
        arguments = [
            *gateway.through,
            "reference_gateway",
            "serve",
            "--backend",
            gateway.backend,
            *gateway.options,
        ]
        arguments += [] if gateway.engine is None else ["--engine-url", gateway.engine]
        arguments += ["--host", "127.0.0.1", "--port", "0"]
        arguments += ["--credentials", str(known), "--stop-with-stdin", "--log", "problems"]
        with running(arguments, "the reference gateway") as url:
            yield url


def _only_model(engine: str) -> str:
    """Ask the engine at this URL for the name of the model that it serves; the first one of several.

    Raises TargetProblem if there is no answer.
    """
    try:
        with Target(engine.removesuffix("/v1")) as target:
            response = target.send(Request("GET", "/v1/models"))
        return str(json.loads(response.body)["data"][0]["id"])
    except ExchangeError as error:
        raise TargetProblem(f"the engine at {engine} lists no models: {error}") from None
    except (ValueError, LookupError, TypeError):
        raise TargetProblem(
            f"the engine at {engine} lists no models: what it answers is no list of them",
            hint="is it a server with vLLM's end points?",
        ) from None


def _version(engine: str) -> str | None:
    with contextlib.suppress(ExchangeError, ValueError, LookupError, TypeError):
        with Target(engine.removesuffix("/v1")) as target:
            version = json.loads(target.send(Request("GET", "/version")).body)["version"]
        return version if isinstance(version, str) else None
    return None


def _entry(credential: Credential) -> dict[str, str]:
    entry = {"token": credential.token, "tenant": credential.tenant, "principal": credential.principal}
    return entry | ({"session": credential.session} if credential.session else {})
