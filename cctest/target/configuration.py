"""What to probe and as whom: a YAML or JSON file, overridden by the command line.

The shape of the file is `schemas/configuration.schema.json`; the rest is checked here and in the modules that
read its parts.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from cctest.problem import UsageProblem
from cctest.target.connection import Timeouts, integer, number, read_rate, read_timeouts, read_tls
from cctest.target.credential import Authorization, Credential, Header
from cctest.target.environment import Environment
from cctest.target.exchange import BASE_PATH, Target
from cctest.target.identities import read_authorization, read_credentials, read_headers
from cctest.target.proxy import Proxy, proxy_for
from cctest.target.rate import Rate
from cctest.target.redaction import Redactor
from cctest.target.target_file import TargetFile
from cctest.target.tls import Tls


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line says; it wins over the file."""

    target: str | None = None
    model: str | None = None
    insecure: bool = False


@dataclass(frozen=True, slots=True)
class Configuration:
    """What to probe, as whom, and how it is reached.

    `target` is a URL without trailing slash, `base_path` what stands in the place of `/v1`. `model` is None
    where nobody named one. `wait_ready` is how many seconds the target is waited for. `min_prompt_tokens` is
    None where the target has no least length.
    """

    target: str
    model: str | None = None
    credentials: tuple[Credential, ...] = ()
    headers: tuple[Header, ...] = ()
    authorization: Authorization = field(default_factory=Authorization)
    base_path: str = BASE_PATH
    tls: Tls = field(default_factory=Tls)
    proxy: Proxy | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
    rate: Rate = field(default_factory=Rate)
    wait_ready: float = 0.0
    min_prompt_tokens: int | None = None

    @property
    def insecure(self) -> bool:
        """Whether the target may be anybody: its certificate isn't checked."""
        return self.tls.insecure and self.target.startswith("https:")

    def connect(self) -> Target:
        """Give the target as it is to be reached. Nothing is sent yet."""
        return Target(
            self.target,
            base_path=self.base_path,
            deadline=self.timeouts.exchange,
            connect_timeout=self.timeouts.connect,
            headers=self.headers,
            authorization=self.authorization,
            tls=self.tls,
            proxy=self.proxy,
            rate=self.rate,
        )

    def redactor(self) -> Redactor:
        """Give what takes every secret of this configuration out of output."""
        secret = self.proxy.secret if self.proxy else None
        return Redactor(self.credentials, (*self.headers, *([secret] if secret else [])))

    def notes(self) -> tuple[str, ...]:
        """Say what a reader of a report has to know about how the target was reached."""
        notes = []
        if self.insecure:
            notes.append(
                "INSECURE: the target's certificate was not checked, so that anybody between here and "
                f"{self.target} could have answered in its place, and has seen the tokens"
            )
        if self.proxy is not None:
            name = f"{self.proxy.address}, which {self.proxy.variable} names"
            notes.append(f"every request went through the proxy {name}")
        return tuple(notes)


def load_configuration(
    path: Path | None, overrides: Overrides | None = None, environment: Mapping[str, str] | None = None
) -> Configuration:
    """Read a target file, or take the overrides alone where `path` is None.

    `environment` is `os.environ` unless given. Raises UsageProblem, naming the file and the place in it.
    """
    flags = overrides or Overrides()
    variables = os.environ if environment is None else environment
    file = TargetFile(path, Environment(variables))
    target = _target(file, flags)
    model = file.members.get("model") if flags.model is None else flags.model
    authorization = read_authorization(file)
    credentials, headers = read_credentials(file, authorization), read_headers(file, authorization)
    for name, value in file.object("tls").items():
        if isinstance(value, str):
            file.fill(value, f"/tls/{name}")  # so that what it lacks is told together with the rest
    file.complete()
    return Configuration(
        target=target,
        model=model if isinstance(model, str) else None,
        credentials=credentials,
        headers=headers,
        authorization=authorization,
        base_path=str(file.members.get("base_path", BASE_PATH)).rstrip("/"),
        tls=read_tls(file, insecure=flags.insecure),
        proxy=proxy_for(target, variables),
        timeouts=read_timeouts(file),
        rate=read_rate(file),
        wait_ready=number(file.members.get("wait_ready")) or 0.0,
        min_prompt_tokens=integer(file.members.get("min_prompt_tokens")),
    )


def _target(file: TargetFile, flags: Overrides) -> str:
    url = flags.target if flags.target is not None else file.members.get("target")
    if url is None:
        raise UsageProblem(
            "no target to probe",
            where=str(file.path or ""),
            hint="give --target URL, or `target` in the file",
        )
    return _whole(str(url), "--target" if flags.target is not None else file.place("/target"))


def _whole(url: str, where: str) -> str:
    parts = urlsplit(url)
    try:
        whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or re.search(r"[^\x21-\x7e]", url):
        raise UsageProblem(
            "the target is no http or https URL", where=where, hint="like http://localhost:8000"
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageProblem("the target URL must have no user, query or fragment", where=where)
    return url.rstrip("/").removesuffix("/v1")
