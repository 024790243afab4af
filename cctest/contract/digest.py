"""The effective namespace digest (DIG-1..3)."""

import hashlib
from collections.abc import Iterable


class NamespaceDigest:
    """A digest that grows by one namespace at a time, so that a request costs what its text costs.

    Every namespace goes in with its length in bytes, in fragment order and duplicates kept, so that no two
    different sequences meet in one digest. Nothing is normalised (NS-3).
    """

    __slots__ = ("_hash", "_hex")

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._hex: str | None = None

    def add(self, namespace: str) -> None:
        """Append the namespace of the next fragment that supplies one.

        Raises UnicodeEncodeError for a lone surrogate, which has no UTF-8 form.
        """
        encoded = namespace.encode()
        self._hash.update(b"%d:%b" % (len(encoded), encoded))
        self._hex = self._hash.hexdigest()

    def hexdigest(self) -> str | None:
        """Give the digest so far, 64 lowercase hex digits; None if no namespace was supplied (DIG-3)."""
        return self._hex


def namespace_digest(namespaces: Iterable[str]) -> str | None:
    """Digest the namespaces of the contributing fragments, in fragment order (DIG-1, DIG-2)."""
    digest = NamespaceDigest()
    for namespace in namespaces:
        digest.add(namespace)
    return digest.hexdigest()
