"""The engine's partitions, as vLLM's `cache_salt`: opaque, and the same on every replica.

A salt is a keyed hash of what partitions state: in which scope and whose it is, under which namespaces, of
which model. Without the key nobody can compute one, and none tells what went into it. Where state must not be
shared at all, the salt is drawn at random: an absent one would select the engine's shared default (BND-10).
"""

import hmac
import secrets
from typing import Final

from cctest.engine.blocks import Partition

SECRET_BYTES: Final = 32
"""Bytes of a secret that is drawn at random."""

_PURPOSE: Final = "cache_salt, version 1"


class Salts:
    """Makes salts under one secret: 64 hexadecimal digits each, shared and fresh ones alike."""

    def __init__(self, secret: bytes) -> None:
        self._keyed = hmac.new(secret, digestmod="sha256")

    def shared(self, partition: Partition, model: str) -> str:
        """Give the salt of state in `partition`; equal wherever secret, partition and model are."""
        salt = self._keyed.copy()  # the key is taken in once, and not for every request
        salt.update(encoded(partition, model))
        return salt.hexdigest()

    def bounded(self, partition: Partition, model: str, max_age: int) -> str:
        """Give the salt of state whose age an engine bounds, by `max_age` seconds, where it does.

        No request has it without that bound, so nobody can meet such state unbounded.
        """
        bound = self._keyed.copy()
        # What isn't bounded begins with a digit.
        bound.update(b"bounded by %d: %b" % (max_age, encoded(partition, model)))
        return bound.hexdigest()

    def fresh(self) -> str:
        """Give a salt that no other request has."""
        return secrets.token_hex(32)


def encoded(partition: Partition, model: str) -> bytes:
    """Spell out what a salt stands for, so that no two partitions have one spelling.

    Each part is preceded by its length in bytes. All but the coordinates are always there, and the scope says
    how many coordinates follow.
    """
    digest = partition.namespace_digest
    parts = (
        _PURPOSE,
        model,
        "no namespace" if digest is None else f"namespace {digest}",
        str(partition.boundary.scope),
        *partition.boundary.coordinates,
    )
    return b"".join(b"%d:%b" % (len(part), part) for part in map(str.encode, parts))
