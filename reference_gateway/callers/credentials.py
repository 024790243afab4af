"""Who may call, and as whom: bearer tokens, looked up by their salted digests (BND-5)."""

import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from cctest.contract.sharing import Context
from reference_gateway.callers.expiry import ExpiryClock
from reference_gateway.callers.token_hash import TokenHash, digest_of
from reference_gateway.refusal import unauthenticated

_KEY_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Credential:
    """A token's hash, and whom it stands for.

    `expires` is in seconds since the epoch; from that instant on the token counts no more.
    """

    hash: TokenHash
    context: Context
    expires: float | None = None
    revoked: bool = False


class Credentials:
    """Known credentials. A look-up costs one hash for each different salt, however many there are.

    It goes by the first half of a digest, and the whole digest is then compared in constant time, so that
    how long it takes tells nothing about a token.
    """

    def __init__(self, known: Iterable[Credential], clock: ExpiryClock) -> None:
        self._known = {one.hash.digest[:_KEY_BYTES]: one for one in known}
        self._salts = tuple({one.hash.salt: None for one in self._known.values()})
        self._clock = clock

    def __len__(self) -> int:
        return len(self._known)

    def identify(self, authorization: Sequence[str]) -> Context:
        """Give the caller of a request with these Authorization headers.

        Raises RefusalError unless there is exactly one, a bearer token, and it is that of one entry, which is
        not expired and not revoked.
        """
        if len(authorization) != 1:
            raise unauthenticated(f"one Authorization header is needed, not {len(authorization)}")
        scheme, _, token = authorization[0].strip().partition(" ")
        if scheme.lower() != "bearer":
            raise unauthenticated("the Authorization header must be: Bearer, a space, and the token")
        matches = self._matches(token.strip())
        if not matches:
            raise unauthenticated("the token is not known")
        if len(matches) > 1:  # under two salts, which nobody could see when the file was read
            raise unauthenticated("the token stands for two callers at once, and so for none")
        (found,) = matches
        if found.revoked:
            raise unauthenticated("the token has been revoked")
        if found.expires is not None and self._clock.now() >= found.expires:
            raise unauthenticated("the token has expired")
        return found.context

    def _matches(self, token: str) -> list[Credential]:
        matches = []
        for salt in self._salts:
            digest = digest_of(salt, token)
            one = self._known.get(digest[:_KEY_BYTES])
            if one is not None and hmac.compare_digest(one.hash.digest, digest) and one.hash.salt == salt:
                matches.append(one)
        return matches
