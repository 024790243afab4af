"""What to probe and as whom: a YAML or JSON file, overridden by the command line.

The shape of the file is `schemas/configuration.schema.json`; the rest is checked here. Messages never quote
a value, because it may be a token.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from cctest.bundle import SCHEMAS
from cctest.contract import strict_json, strict_yaml
from cctest.contract.source import JsonValue, Parsed, Position, SourceError, child
from cctest.problem import UsageProblem
from cctest.target.credential import Credential, Header, shell_variable
from cctest.target.environment import Environment
from cctest.target.exchange import DEFAULT_DEADLINE
from cctest.target.shape import shape_fault

SIZE_LIMIT: Final = 1_000_000
"""Most bytes of a configuration file."""

SHORTEST_TOKEN: Final = 8
"""A shorter token can't be kept out of the output: it would turn up in other text by chance."""

_SCHEMA: Final = SCHEMAS / "configuration.schema.json"
_OWN_HEADERS: Final = frozenset(
    {"accept-encoding", "authorization", "connection", "content-length", "content-type", "host"}
    | {"te", "trailer", "transfer-encoding", "upgrade"}
)
_SECRET_NAME: Final = re.compile(r"auth|cookie|key|secret|token|password", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line says; it wins over the file."""

    target: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Configuration:
    """What to probe and as whom.

    `target` is a URL without trailing slash. `model` is None where nobody named one. `deadline` is in
    seconds and bounds one exchange. `min_prompt_tokens` is None where the target has no least length.
    """

    target: str
    model: str | None = None
    credentials: tuple[Credential, ...] = ()
    headers: tuple[Header, ...] = ()
    deadline: float = DEFAULT_DEADLINE
    min_prompt_tokens: int | None = None


def load_configuration(
    path: Path | None, overrides: Overrides | None = None, environment: Mapping[str, str] | None = None
) -> Configuration:
    """Read a configuration file, or take the overrides alone where `path` is None.

    `environment` is `os.environ` unless given. Raises UsageProblem, naming the file and the place in it.
    """
    flags = overrides or Overrides()
    file = _File(path, _read(path) if path else Parsed({}), Environment(environment))
    members = file.members
    target = flags.target if flags.target is not None else members.get("target")
    if target is None:
        raise UsageProblem(
            "no target to probe", where=str(path or ""), hint="give --target URL, or `target` in the file"
        )
    return Configuration(
        target=_target(str(target), "--target" if flags.target is not None else file.place("/target")),
        model=flags.model if flags.model is not None else _text(members.get("model")),
        credentials=file.credentials(),
        headers=file.headers(),
        deadline=_number(members.get("deadline"), DEFAULT_DEADLINE),
        min_prompt_tokens=_integer(members.get("min_prompt_tokens")),
    )


def _read(path: Path) -> Parsed:
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise UsageProblem(f"can't be read: {error.strerror}", where=str(path)) from None
    if len(content) > SIZE_LIMIT:
        raise UsageProblem(
            f"larger than {SIZE_LIMIT:,} bytes", where=str(path), hint="is this the right file?"
        )
    parse = strict_json.parse if path.suffix == ".json" else strict_yaml.parse
    try:
        return parse(content)
    except SourceError as error:
        raise UsageProblem(error.fault.message, where=_place(path, error.fault.position)) from None


def _place(path: Path | None, position: Position | None) -> str:
    return f"{path}:{position.line}:{position.column}" if position else str(path)


class _File:
    """One configuration file, its shape checked, and the places in it."""

    def __init__(self, path: Path | None, parsed: Parsed, environment: Environment) -> None:
        self._path = path
        self._positions = parsed.positions
        self._environment = environment
        fault = shape_fault(parsed.value, json.loads(_SCHEMA.read_text("utf-8")))
        if fault is not None:
            raise UsageProblem(fault.message, where=self.place(fault.pointer))
        self.members: dict[str, JsonValue] = parsed.value if isinstance(parsed.value, dict) else {}

    def place(self, pointer: str) -> str:
        """Say where in the file a member is, or else the nearest member around it."""
        while pointer and pointer not in self._positions:
            pointer = pointer.rpartition("/")[0]
        return _place(self._path, self._positions.get(pointer))

    def credentials(self) -> tuple[Credential, ...]:
        """Give the credentials: names distinct, and no token for two identities."""
        known: list[Credential] = []
        for number, members in enumerate(_objects(self.members.get("credentials"))):
            pointer = f"/credentials/{number}"
            new = Credential(
                name=str(members["name"]),
                token=self._token(str(members["token"]), f"{pointer}/token"),
                tenant=str(members["tenant"]),
                principal=str(members["principal"]),
                session=_text(members.get("session")),
            )
            for other in known:
                if other.variable == new.variable:
                    raise UsageProblem(
                        f"the name {new.name!r} is taken by {other.name!r}",
                        where=self.place(f"{pointer}/name"),
                    )
                if other.token == new.token and _identity(other) != _identity(new):
                    raise UsageProblem(
                        f"{new.name!r} has the same token as {other.name!r}, but another identity",
                        where=self.place(f"{pointer}/token"),
                        hint="the server derives one identity from a token",
                    )
            known.append(new)
        return tuple(known)

    def headers(self) -> tuple[Header, ...]:
        """Give the headers that are added to every request; values that may be secret get a variable."""
        members = self.members.get("headers")
        return tuple(
            self._header(name, str(value))
            for name, value in (members.items() if isinstance(members, dict) else ())
        )

    def _header(self, name: str, raw: str) -> Header:
        where = self.place(child("/headers", name))
        if name.lower() in _OWN_HEADERS:
            raise UsageProblem(f"the header {name} is set by cctest itself", where=where)
        value = self._environment.fill(raw, where)
        if not re.fullmatch(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?", value):
            raise UsageProblem(f"the value of header {name} must be printable ASCII", where=where)
        secret = value != raw or _SECRET_NAME.search(name)
        return Header(name, value, shell_variable("CCTEST_HEADER", name) if secret else None)

    def _token(self, raw: str, pointer: str) -> str:
        where = self.place(pointer)
        token = self._environment.fill(raw, where)
        if not re.fullmatch(r"[\x21-\x7e]+", token):
            raise UsageProblem("a token must be printable ASCII without spaces", where=where)
        if len(token) < SHORTEST_TOKEN:
            raise UsageProblem(
                f"a token must have at least {SHORTEST_TOKEN} characters", where=where,
                hint="a shorter one can't be kept out of the output",
            )  # fmt: skip
        return token


def _target(url: str, where: str) -> str:
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


def _identity(credential: Credential) -> tuple[str, str, str | None]:
    return credential.tenant, credential.principal, credential.session


def _objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: JsonValue, default: float) -> float:
    return float(value) if isinstance(value, int | float) else default


def _integer(value: JsonValue) -> int | None:
    return int(value) if isinstance(value, int | float) else None
