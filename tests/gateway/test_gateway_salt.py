"""Salts: no two partitions have one spelling, and none tells what it is made of."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cctest.contract.digest import namespace_digest
from cctest.contract.sharing import Boundary, Context, boundary
from cctest.contract.vocabulary import Scope
from cctest.engine.blocks import Partition
from reference_gateway.lowering.salt import Salts, encoded

NAMES = st.text(st.sampled_from("a1:é0 \0/@") | st.characters(codec="utf-8"), min_size=1, max_size=6)
CONTEXTS = st.builds(Context, NAMES, NAMES, st.none() | NAMES)
PARTITIONS = st.builds(
    lambda scope, context, request, names: Partition(
        boundary(scope, context, request), namespace_digest(names)
    ),
    st.sampled_from(list(Scope)),
    CONTEXTS,
    NAMES,
    st.lists(NAMES, max_size=2),
)
PLACES = st.tuples(PARTITIONS, NAMES)


@given(PLACES, PLACES)
def test_two_partitions_never_have_one_spelling(
    one: tuple[Partition, str], two: tuple[Partition, str]
) -> None:
    assert (encoded(*one) == encoded(*two)) == (one == two)


def decoded(spelling: bytes) -> list[bytes]:
    parts = []
    while spelling:
        length, _, rest = spelling.partition(b":")
        parts.append(rest[: int(length)])
        assert len(parts[-1]) == int(length)
        spelling = rest[int(length) :]
    return parts


@given(PARTITIONS, NAMES)
def test_a_spelling_can_be_read_back_so_it_is_injective(partition: Partition, model: str) -> None:
    _, named, namespace, scope, *coordinates = (part.decode() for part in decoded(encoded(partition, model)))
    digest = None if namespace == "no namespace" else namespace.removeprefix("namespace ")
    read = Partition(Boundary(Scope(scope), tuple(coordinates)), digest)
    assert (read, named) == (partition, model)


@pytest.mark.parametrize(
    ("one", "two"),
    [(("ab", "c"), ("a", "bc")), (("a", "1:b"), ("a1:", "b")), (("a:b", "c"), ("a", "b:c"))],
)
def test_names_that_run_together_stay_apart(one: tuple[str, str], two: tuple[str, str]) -> None:
    salts = Salts(b"secret")
    first, second = (
        salts.shared(Partition(boundary(Scope.PRINCIPAL, Context(*names), "r"), None), "m")
        for names in (one, two)
    )
    assert first != second


@given(PLACES, st.binary(min_size=1), st.binary(min_size=1))
def test_a_salt_depends_on_the_secret_alone_beside_its_place(
    place: tuple[Partition, str], one: bytes, two: bytes
) -> None:
    assume(one.ljust(64, b"\0") != two.ljust(64, b"\0"))  # HMAC pads short keys with zeros
    assert Salts(one).shared(*place) == Salts(one).shared(*place)
    assert Salts(one).shared(*place) != Salts(two).shared(*place)


@given(PLACES)
def test_salts_are_all_of_one_opaque_shape(place: tuple[Partition, str]) -> None:
    salts = Salts(b"secret")
    for salt in (salts.shared(*place), salts.fresh()):
        assert re.fullmatch(r"[0-9a-f]{64}", salt)


def test_a_fresh_salt_is_never_seen_twice() -> None:
    salts = Salts(b"secret")
    assert len({salts.fresh() for _ in range(1000)}) == 1000
