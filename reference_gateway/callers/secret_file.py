"""Secrets in files: read whole, and refused where others on the machine could read them too."""

import os
import re
import stat
from pathlib import Path
from typing import Final

from reference_gateway.problem import ConfigurationError

_LIMIT: Final = 4096
_KEY: Final = re.compile(r"[!-~]+")


def read_secret(path: Path, *, least: int = 1) -> bytes:
    """Read a secret of at least `least` bytes; one newline at its end doesn't count.

    Raises ConfigurationError if the file is missing, too short, too large, or readable by everybody.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(_LIMIT + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(f"can't be read: {reason}", where=str(path)) from error
    if mode & (stat.S_IROTH | stat.S_IWOTH):
        raise ConfigurationError(
            "everybody on this machine can read or write this secret",
            where=str(path),
            hint=f"chmod 600 {path}, and make a new secret",
        )
    secret = content.removesuffix(b"\n").removesuffix(b"\r")
    if not secret.strip():
        raise ConfigurationError("the secret is empty", where=str(path), hint=_hint(path))
    if not least <= len(secret) <= _LIMIT:
        message = f"the secret has {len(secret)} bytes; it must have {least} to {_LIMIT}"
        raise ConfigurationError(message, where=str(path), hint=_hint(path))
    return secret


def read_key(path: Path) -> str:
    """Read a key that is sent in a header. Raises ConfigurationError."""
    try:
        key = read_secret(path).decode("ascii")
    except UnicodeDecodeError:
        key = ""
    if not _KEY.fullmatch(key):
        raise ConfigurationError("a key is of visible ASCII characters without spaces", where=str(path))
    return key


def _hint(path: Path) -> str:
    return f"make one with: (umask 077; openssl rand -hex 32 > {path})"
