"""Who may call, and as whom: bearer tokens from a YAML file (BND-5).

credentials:
  - token: ${ALICE_TOKEN}    # the whole token, taken from the environment; or the token itself
    tenant: acme
    principal: alice
    session: monday          # optional: without it, state can't be shared in a session
"""

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from cctest.contract import strict_yaml
from cctest.contract.sharing import Context
from cctest.contract.source import JsonValue, Parsed, SourceError, child
from reference_gateway.problem import ConfigurationError
from reference_gateway.refusal import unauthenticated

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_TOKEN: Final = re.compile(r"[!-~]+")
_REQUIRED: Final = ("token", "tenant", "principal")
_MEMBERS: Final = (*_REQUIRED, "session")
_FILE_LIMIT: Final = 1024 * 1024
_HINT: Final = "credentials is a list of {token, tenant, principal, session}; session may be left out"


class Credentials:
    """Known tokens, kept as SHA-256 digests, so that the time of a lookup tells nothing about a token."""

    def __init__(self, known: Mapping[bytes, Context]) -> None:
        self._known = dict(known)

    def identify(self, authorization: Sequence[str]) -> Context:
        """Give the caller of a request with these Authorization headers.

        Raises RefusalError unless there is exactly one, a bearer token, and it is known.
        """
        if len(authorization) != 1:
            raise unauthenticated(f"one Authorization header is needed, not {len(authorization)}")
        scheme, _, token = authorization[0].strip().partition(" ")
        if scheme.lower() != "bearer":
            raise unauthenticated("the Authorization header must be: Bearer, a space, and the token")
        caller = self._known.get(_digest(token.strip()))
        if caller is None:
            raise unauthenticated("the token is not known")
        return caller


def load_credentials(path: Path, environment: Mapping[str, str] = os.environ) -> Credentials:
    """Read a credentials file. Raises ConfigurationError with file, line and column."""
    return _Reader(path, environment).read()


class _Reader:
    """Reads one file; every problem says where in it."""

    def __init__(self, path: Path, environment: Mapping[str, str]) -> None:
        self._path = path
        self._environment = environment
        self._parsed = Parsed(None)

    def read(self) -> Credentials:
        self._parsed = self._parse()
        document = self._parsed.value
        if not isinstance(document, dict) or list(document) != ["credentials"]:
            raise self._problem("", "the file must hold the one member credentials")
        entries = document["credentials"]
        if not isinstance(entries, list) or not entries:
            raise self._problem("/credentials", "must be a list that is not empty")
        known: dict[bytes, Context] = {}
        for index, entry in enumerate(entries):
            pointer = f"/credentials/{index}"
            token, context = self._entry(entry, pointer)
            digest = _digest(token)
            if digest in known:
                raise self._problem(f"{pointer}/token", "the token is that of an earlier entry")
            known[digest] = context
        return Credentials(known)

    def _parse(self) -> Parsed:
        try:
            with self._path.open("rb") as file:
                content = file.read(_FILE_LIMIT + 1)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ConfigurationError(f"can't be read: {reason}", where=str(self._path)) from error
        if len(content) > _FILE_LIMIT:
            raise ConfigurationError(f"is larger than {_FILE_LIMIT} bytes", where=str(self._path))
        try:
            return strict_yaml.parse(content)
        except SourceError as error:
            raise ConfigurationError(str(error.fault), where=str(self._path)) from error

    def _entry(self, entry: JsonValue, pointer: str) -> tuple[str, Context]:
        if not isinstance(entry, dict):
            raise self._problem(pointer, "must be a mapping")
        for name in entry:
            if name not in _MEMBERS:
                raise self._problem(child(pointer, name), "unknown member")
        for name in _REQUIRED:
            if name not in entry:
                raise self._problem(pointer, f"needs the member {name}")
        values = {name: self._text(value, f"{pointer}/{name}") for name, value in entry.items()}
        token = self._token(values["token"], f"{pointer}/token")
        return token, Context(values["tenant"], values["principal"], values.get("session"))

    def _text(self, value: JsonValue, pointer: str) -> str:
        if not isinstance(value, str) or not value:
            raise self._problem(
                pointer, "must be a string that is not empty; quote it if it looks like a number"
            )
        return value

    def _token(self, value: str, pointer: str) -> str:
        variable = _VARIABLE.fullmatch(value)
        if variable is not None:
            value = self._environment.get(variable[1], "")
            if not value:
                raise self._problem(pointer, f"the environment variable {variable[1]} is not set")
        elif "${" in value:
            raise self._problem(pointer, "a variable must be the whole token, as in ${NAME}")
        if not _TOKEN.fullmatch(value):
            raise self._problem(pointer, "a token must be of visible ASCII characters without spaces")
        return value

    def _problem(self, pointer: str, message: str) -> ConfigurationError:
        position = self._parsed.nearest(pointer)
        where = f"{self._path}: {position}" if position else str(self._path)
        return ConfigurationError(f"{pointer}: {message}" if pointer else message, where=where, hint=_HINT)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
