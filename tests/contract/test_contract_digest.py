import hashlib
import unicodedata

import pytest
from contract_strategies import LABELS
from hypothesis import assume, given
from hypothesis import strategies as st

from cctest.contract.digest import NamespaceDigest, namespace_digest


@pytest.mark.parametrize(
    ("namespaces", "digest"),
    [
        (["tools:v7"], "b42d2c88b53bb913c2637817ff163308807ac7ba31ecf20bca0631fabccd38e1"),
        (["tools:v7", "agent:v4"], "747083201bfe64956b7607c3202ad0a21214b11de2404d188f30455d4f773dcc"),
        (
            ["tools:v7", "support-agent:v4"],
            "fb7a315a255a573244c19f45863265b314f278ee45ebe65698b050a2dbc322ad",
        ),
        (["ab", "c"], "430fb1b4ac43316eca81fab27a1930ab8eff8fef6a1dc7903dce44bbc2790dc5"),
        (["a", "bc"], "5310a58788781ab25d5ad7c3f85035824b4eb7bdfa394e0ac2186271472b5492"),
        (["x", "x"], "2482947ba48b87c50278e640b28cc6d15a2aee7f5345f290c6956cacf9bdda99"),
        (["caf\u00e9:v1"], "1e580f8419432c52b25da19e15f98d7e8676fab09e6c26c55e8363696f70cb5e"),
    ],
)
def test_known_digests_are_reproduced(namespaces: list[str], digest: str) -> None:
    assert namespace_digest(namespaces) == digest


def test_without_a_namespace_there_is_no_digest() -> None:
    assert namespace_digest([]) is None
    assert NamespaceDigest().hexdigest() is None


def test_the_length_is_that_of_the_bytes_in_decimal() -> None:
    spelt = b"12:" + "\U0001f512\U0001f512\U0001f512".encode() + b"1:a"
    assert namespace_digest(["\U0001f512" * 3, "a"]) == hashlib.sha256(spelt).hexdigest()


def test_nothing_is_normalised() -> None:
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    assert unicodedata.normalize("NFC", decomposed) == composed
    assert namespace_digest([composed]) != namespace_digest([decomposed])
    assert len({namespace_digest([name]) for name in ("Tools", "tools", "tools ", " tools", "TOOLS")}) == 5


def test_a_namespace_cannot_imitate_two() -> None:
    assert namespace_digest(["a1:b"]) != namespace_digest(["a", "b"])


def test_a_lone_surrogate_has_no_digest() -> None:
    with pytest.raises(UnicodeEncodeError):
        namespace_digest(["\ud800"])


@given(st.lists(LABELS, min_size=1, max_size=5), LABELS)
def test_duplicates_are_kept(namespaces: list[str], namespace: str) -> None:
    once = namespace_digest([*namespaces, namespace])
    assert namespace_digest([*namespaces, namespace, namespace]) != once


@given(st.lists(LABELS, max_size=5), st.lists(LABELS, max_size=5))
def test_different_sequences_never_meet(one: list[str], other: list[str]) -> None:
    assume(one != other)
    assert namespace_digest(one) != namespace_digest(other)


@given(st.lists(LABELS, max_size=6))
def test_the_running_digest_is_that_of_every_prefix(namespaces: list[str]) -> None:
    running = NamespaceDigest()
    for count, namespace in enumerate(namespaces, start=1):
        running.add(namespace)
        assert running.hexdigest() == namespace_digest(namespaces[:count])
