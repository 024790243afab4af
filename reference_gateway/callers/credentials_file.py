"""The credentials file.

credentials:
  - hash: sha256:SALT:DIGEST # what `reference-gateway hash-token` prints for a token
    tenant: acme
    principal: alice
    session: monday          # optional: without it, state can't be shared in a session
    expires: 2027-01-31T00:00:00Z   # optional: from this instant on the token counts no more
    revoked: true            # optional: it counts no more from now on
  - token: ${BOB_TOKEN}      # instead of a hash: the token, taken from the environment, or itself
    tenant: acme
    principal: bob

A file in which tokens stand themselves must not be readable by everybody; one with hashes and variables may
be. No file may be writable by everybody.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from cctest.contract import strict_yaml
from cctest.contract.sharing import Context
from cctest.contract.source import JsonValue, SourceError, child
from reference_gateway.callers.credentials import Credential, Credentials
from reference_gateway.callers.expiry import ExpiryClock
from reference_gateway.callers.token_hash import TOKEN, TokenHash, hash_token, new_salt, read_hash
from reference_gateway.problem import ConfigurationError

FILE_LIMIT: Final = 1024 * 1024
"""Most bytes in a credentials file."""
SALT_LIMIT: Final = 16
"""Most different salts in a file: each costs every request one hash."""

_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRETS: Final = ("token", "hash")
_REQUIRED: Final = ("tenant", "principal")
_MEMBERS: Final = (*_SECRETS, *_REQUIRED, "session", "expires", "revoked")
_HINT: Final = (
    "credentials is a list of {token or hash, tenant, principal, session, expires, revoked};"
    " the last three may be left out"
)


def load_credentials(
    path: Path, environment: Mapping[str, str] = os.environ, clock: ExpiryClock | None = None
) -> Credentials:
    """Read a credentials file. Raises ConfigurationError with file, line and column: the first problem."""
    content, mode = read_file(path)
    return read_credentials(content, mode, path, environment, clock or ExpiryClock())


def credential_problems(path: Path, environment: Mapping[str, str] = os.environ) -> list[ConfigurationError]:
    """Give everything that is wrong with a credentials file."""
    try:
        content, mode = read_file(path)
        reader = _Reader(content, path, mode, environment)
    except ConfigurationError as problem:
        return [problem]
    list(reader.credentials())
    return reader.problems


def read_file(path: Path) -> tuple[bytes, int]:
    """Give a file's content and mode. Raises ConfigurationError if it can't be read or is too large."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(FILE_LIMIT + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(f"can't be read: {reason}", where=str(path)) from error
    if len(content) > FILE_LIMIT:
        raise ConfigurationError(f"is larger than {FILE_LIMIT} bytes", where=str(path))
    return content, mode


def read_credentials(
    content: bytes, mode: int, path: Path, environment: Mapping[str, str], clock: ExpiryClock
) -> Credentials:
    """Read the content of a file with this mode. Raises ConfigurationError: the first problem."""
    reader = _Reader(content, path, mode, environment)
    known = list(reader.credentials())
    if reader.problems:
        raise reader.problems[0]
    return Credentials(known, clock)


class _Reader:
    """Reads one file; every problem says where in it. Raises ConfigurationError if it is no document."""

    def __init__(self, content: bytes, path: Path, mode: int, environment: Mapping[str, str]) -> None:
        self.problems: list[ConfigurationError] = []
        self._path = path
        self._mode = mode
        self._environment = environment
        self._salt = new_salt()
        try:
            self._parsed = strict_yaml.parse(content)
        except SourceError as error:
            raise ConfigurationError(str(error.fault), where=str(path)) from error

    def credentials(self) -> Iterator[Credential]:
        """Give the entries that are right, and note what is wrong with the file and the others."""
        if self._mode & stat.S_IWOTH:
            self._note_mode("everybody on this machine can write this file")
        seen: set[bytes] = set()
        salts: set[bytes] = set()
        in_the_clear = False
        for pointer, entry in self._entries():
            token = entry.get("token")
            in_the_clear = in_the_clear or (isinstance(token, str) and not _VARIABLE.fullmatch(token))
            credential = self._entry(entry, pointer)
            if credential is None:
                continue
            if credential.hash.digest in seen:
                self._note(_secret_of(entry, pointer), "the token is that of an earlier entry")
            seen.add(credential.hash.digest)
            salts.add(credential.hash.salt)
            yield credential
        if in_the_clear and self._mode & stat.S_IROTH:
            self._note_mode("everybody on this machine can read the tokens in this file")
        if len(salts) > SALT_LIMIT:
            message = (
                f"{len(salts)} different salts; at most {SALT_LIMIT}, since each costs every request a hash"
            )
            self._note("/credentials", message)

    def _entries(self) -> Iterator[tuple[str, dict[str, JsonValue]]]:
        document = self._parsed.value
        if not isinstance(document, dict) or list(document) != ["credentials"]:
            self._note("", "the file must hold the one member credentials")
            return
        entries = document["credentials"]
        if not isinstance(entries, list) or not entries:
            self._note("/credentials", "must be a list that is not empty")
            return
        for index, entry in enumerate(entries):
            pointer = f"/credentials/{index}"
            if isinstance(entry, dict):
                yield pointer, entry
            else:
                self._note(pointer, "must be a mapping")

    def _entry(self, entry: dict[str, JsonValue], pointer: str) -> Credential | None:
        before = len(self.problems)
        for name in entry:
            if name not in _MEMBERS:
                self._note(child(pointer, name), "unknown member")
        for name in _REQUIRED:
            if name not in entry:
                self._note(pointer, f"needs the member {name}")
        if sum(name in entry for name in _SECRETS) != 1:
            self._note(pointer, "needs one of token and hash")
        texts = {
            name: self._text(entry[name], f"{pointer}/{name}")
            for name in ("tenant", "principal", "session")
            if name in entry
        }
        hashed = self._hash(entry, pointer)
        expires = self._expires(entry.get("expires"), f"{pointer}/expires") if "expires" in entry else None
        revoked = entry.get("revoked", False)
        if not isinstance(revoked, bool):
            self._note(f"{pointer}/revoked", "must be true or false")
        if len(self.problems) > before or hashed is None:
            return None
        context = Context(texts["tenant"], texts["principal"], texts.get("session"))
        return Credential(hashed, context, expires, bool(revoked))

    def _text(self, value: JsonValue, pointer: str) -> str:
        if not isinstance(value, str) or not value:
            self._note(pointer, "must be a string that is not empty; quote it if it looks like a number")
            return ""
        return value

    def _hash(self, entry: Mapping[str, JsonValue], pointer: str) -> TokenHash | None:
        """Give the hash that stands in an entry, or that of the token."""
        place = _secret_of(entry, pointer)
        name = place.rpartition("/")[2]
        spelt = self._text(entry[name], place) if name in entry else ""
        if not spelt:
            return None
        if name == "token":
            token = self._token(spelt, place)
            return hash_token(token, self._salt) if token else None
        try:
            return read_hash(spelt)
        except ValueError as error:
            self._note(place, str(error))
            return None

    def _token(self, value: str, pointer: str) -> str:
        variable = _VARIABLE.fullmatch(value)
        if variable is not None:
            value = self._environment.get(variable[1], "")
            if not value:
                self._note(
                    pointer, f"the environment variable {variable[1]} is not set", f"export {variable[1]}=..."
                )
                return ""
        elif "${" in value:
            self._note(pointer, "a variable must be the whole token, as in ${NAME}")
            return ""
        if not TOKEN.fullmatch(value):
            self._note(pointer, "a token must be of visible ASCII characters without spaces")
            return ""
        return value

    def _expires(self, value: JsonValue, pointer: str) -> float | None:
        try:
            instant = datetime.fromisoformat(value) if isinstance(value, str) else None
        except ValueError:
            instant = None
        if instant is None or instant.tzinfo is None:
            self._note(pointer, "must be an instant with its zone, as in 2027-01-31T00:00:00Z")
            return None
        return instant.timestamp()

    def _note(self, pointer: str, message: str, hint: str = _HINT) -> None:
        position = self._parsed.nearest(pointer)
        where = f"{self._path}: {position}" if position else str(self._path)
        message = f"{pointer}: {message}" if pointer else message
        self.problems.append(ConfigurationError(message, where=where, hint=hint))

    def _note_mode(self, message: str) -> None:
        hint = f"chmod 600 {self._path}, and make new tokens"
        self.problems.append(ConfigurationError(message, where=str(self._path), hint=hint))


def _secret_of(entry: Mapping[str, JsonValue], pointer: str) -> str:
    return f"{pointer}/{'hash' if 'hash' in entry else 'token'}"
