"""Flips of the namespace digest (DIG-1..3, NS-3)."""

import hashlib
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from flip import Flip, flip

from cctest.contract import composition, digest

Records = Callable[[list[str]], bytes]


def _record(text: str) -> bytes:
    encoded = text.encode()
    return b"%d:%b" % (len(encoded), encoded)


def _joined(change: Callable[[str], str]) -> Records:
    return lambda namespaces: b"".join(_record(change(namespace)) for namespace in namespaces)


def _digest_over(records: Records, *, of_nothing: bool = False) -> Any:
    """Make the flip that digests these bytes; `of_nothing` digests the empty text, too."""

    class Broken:
        def __init__(self) -> None:
            self.namespaces: list[str] = []

        def add(self, namespace: str) -> None:
            self.namespaces.append(namespace)

        def hexdigest(self) -> str | None:
            if not self.namespaces and not of_nothing:
                return None
            return hashlib.sha256(records(self.namespaces)).hexdigest()

    def apply(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(digest, "NamespaceDigest", Broken)
        patch.setattr(composition, "NamespaceDigest", Broken)

    return apply


FLIPS: tuple[Flip, ...] = (
    flip(
        "digest-without-lengths",
        _digest_over(lambda namespaces: "".join(namespaces).encode()),
        "digest-separates-where-text-is-cut",
        "cut-elsewhere-misses",
        "joined-misses-split",
        "wrong-digests-do-not-match",
    ),
    flip(
        "digest-with-separators-instead-of-lengths",
        _digest_over(lambda namespaces: ":".join(namespaces).encode()),
        "digest-of-one-namespace",
        "joined-by-a-colon-misses-split",
    ),
    flip(
        "digest-sorted",
        _digest_over(lambda namespaces: b"".join(map(_record, sorted(namespaces)))),
        "digest-depends-on-order",
        "other-order-misses",
        "fragment-order-is-digest-order",
    ),
    flip(
        "duplicates-dropped",
        _digest_over(lambda namespaces: b"".join(map(_record, dict.fromkeys(namespaces)))),
        "digest-keeps-duplicates",
        "one-more-repetition-misses",
        "repeated-namespace-counts-twice",
    ),
    flip(
        "lengths-in-code-points",
        _digest_over(lambda namespaces: "".join(f"{len(each)}:{each}" for each in namespaces).encode()),
        "digest-counts-bytes-of-utf-8",
        "wrong-digests-do-not-match",
    ),
    flip(
        "lengths-in-utf-16-units",
        _digest_over(
            lambda namespaces: "".join(
                f"{len(each.encode('utf-16-le')) // 2}:{each}" for each in namespaces
            ).encode()
        ),
        "digest-counts-bytes-of-utf-8",
    ),
    flip(
        "digest-over-utf-16",
        _digest_over(
            lambda namespaces: b"".join(_record(each) for each in namespaces).decode().encode("utf-16-le")
        ),
        "digest-of-one-namespace",
    ),
    flip(
        "nfc-normalisation",
        _digest_over(_joined(lambda text: unicodedata.normalize("NFC", text))),
        "digest-does-not-compose-characters",
        "composed-misses-decomposed",
        "decomposed-namespace-is-not-admitted",
    ),
    flip(
        "nfkc-normalisation",
        _digest_over(_joined(lambda text: unicodedata.normalize("NFKC", text))),
        "digest-does-not-fold-compatibility-forms",
        "kelvin-sign-misses-k",
        "no-break-space-misses-space",
    ),
    flip(
        "case-folded",
        _digest_over(_joined(str.casefold)),
        "digest-does-not-fold-case",
        "other-case-misses",
        "sharp-s-misses-double-s",
    ),
    flip("trimmed", _digest_over(_joined(str.strip)), "digest-does-not-trim", "trailing-space-misses"),
    flip(
        "digest-of-nothing",
        _digest_over(lambda namespaces: b"".join(map(_record, namespaces)), of_nothing=True),
        "digest-of-nothing-is-no-digest",
        "intent-without-namespace-adds-nothing",
        "id-is-no-namespace",
    ),
    flip(
        "last-namespace-alone",
        _digest_over(lambda namespaces: _record(namespaces[-1])),
        "digest-of-several-namespaces",
        "digest-grows-fragment-by-fragment",
    ),
)
