"""Salted hashes of whole tokens: `sha256:SALT:DIGEST`, both in hex.

The digest is SHA-256 over the salt's bytes and then the token's. It is fast, as a check on every request has
to be, so it protects tokens that can't be guessed, and no passwords.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Final

TOKEN: Final = re.compile(r"[!-~]+")
"""A token: visible ASCII characters without spaces."""
LEAST_TOKEN: Final = 16
"""Fewest characters of a token that is worth hashing."""
LONGEST_TOKEN: Final = 4096
"""Most characters of a token: more fit in no head of a request that has other fields too."""

_SALT_BYTES: Final = 16
_SALT: Final = re.compile(r"(?:[0-9a-f]{2}){8,64}")
_SPELT: Final = re.compile(rf"sha256:({_SALT.pattern}):([0-9a-f]{{64}})")


@dataclass(frozen=True, slots=True)
class TokenHash:
    """What is kept of a token."""

    salt: bytes
    digest: bytes

    def __str__(self) -> str:
        return f"sha256:{self.salt.hex()}:{self.digest.hex()}"


def hash_of_line(line: str, salt: str | None) -> TokenHash:
    """Hash the token in a line, with a salt in hex or a new one. Raises ValueError."""
    return hash_token(_read_token(line), _read_salt(salt))


def _read_token(line: str) -> str:
    """Read a token from a line. Raises ValueError if a hash wouldn't protect it."""
    token = line.strip()
    if not TOKEN.fullmatch(token):
        raise ValueError("a token is of visible ASCII characters without spaces")
    if len(token) > LONGEST_TOKEN:
        raise ValueError(f"a token has {LONGEST_TOKEN} characters at most")
    if len(token) < LEAST_TOKEN:
        raise ValueError(
            f"a token of fewer than {LEAST_TOKEN} characters can be guessed from its hash;"
            " make one with: openssl rand -hex 32"
        )
    return token


def _read_salt(spelt: str | None) -> bytes:
    """Read a salt in hex, or make one. Raises ValueError."""
    if spelt is None:
        return new_salt()
    if not _SALT.fullmatch(spelt):
        raise ValueError("a salt is of 8 to 64 bytes in lower-case hex")
    return bytes.fromhex(spelt)


def new_salt() -> bytes:
    """Make a salt."""
    return secrets.token_bytes(_SALT_BYTES)


def digest_of(salt: bytes, token: str) -> bytes:
    """Give the salted digest of a token."""
    return hashlib.sha256(salt + token.encode("utf-8", "replace")).digest()


def hash_token(token: str, salt: bytes) -> TokenHash:
    """Hash a token."""
    return TokenHash(salt, digest_of(salt, token))


def read_hash(spelt: str) -> TokenHash:
    """Read a spelt hash. Raises ValueError, whose message says what a hash looks like."""
    found = _SPELT.fullmatch(spelt)
    if found is None:
        raise ValueError(
            "a hash is sha256:SALT:DIGEST, a salt of 8 to 64 bytes and a digest of 32, in lower-case hex,"
            " as `reference-gateway hash-token` prints it"
        )
    return TokenHash(bytes.fromhex(found[1]), bytes.fromhex(found[2]))
