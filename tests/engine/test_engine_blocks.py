"""Cutting into blocks: identities carry prefix and partition, and nothing unretainable has one."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.contract.sharing import Boundary
from cctest.contract.vocabulary import Scope
from cctest.engine.blocks import Block, Partition, Segment, Terms, cut

ACME = Partition(Boundary(Scope.TENANT, ("acme",)), None)
GLOBEX = Partition(Boundary(Scope.TENANT, ("globex",)), None)


def terms(partition: Partition = ACME, *, retain: bool = True) -> Terms:
    return Terms(partition, may_read=retain, may_retain=retain)


def segment(text: str, partition: Partition = ACME, *, retain: bool = True) -> Segment:
    return Segment([bytes([byte]) for byte in text.encode()], terms(partition, retain=retain))


def identities(blocks: Sequence[Block]) -> list[bytes]:
    return [block.identity for block in blocks]


def test_only_full_blocks_are_cut() -> None:
    assert [block.depth for block in cut([segment("abcdefghi")], 4)] == [0, 1]
    assert cut([segment("abc")], 4) == []
    assert cut([], 4) == []


def test_a_block_has_the_terms_of_the_last_fragment_that_it_touches() -> None:
    blocks = cut([segment("abcdef", ACME), segment("gh", GLOBEX), segment("ijkl", ACME)], 4)
    assert [block.terms.partition for block in blocks] == [ACME, GLOBEX, ACME]


def test_the_same_input_in_the_same_partition_has_the_same_identities() -> None:
    assert identities(cut([segment("abcdefgh")], 4)) == identities(cut([segment("abcdefgh")], 4))


def test_a_fragment_border_alone_changes_no_identity() -> None:
    one, two = cut([segment("abcdefgh")], 4), cut([segment("abc"), segment(""), segment("defgh")], 4)
    assert identities(one) == identities(two)


def test_a_changed_token_changes_its_block_and_all_that_follow() -> None:
    one, two = identities(cut([segment("abcdefghijkl")], 4)), identities(cut([segment("abcdeXghijkl")], 4))
    assert [a == b for a, b in zip(one, two, strict=True)] == [True, False, False]


def test_a_partition_that_starts_later_leaves_the_blocks_before_it_alone() -> None:
    shared = identities(cut([segment("abcd"), segment("efgh")], 4))
    split = identities(cut([segment("abcd"), segment("efgh", GLOBEX)], 4))
    assert [a == b for a, b in zip(shared, split, strict=True)] == [True, False]


def test_where_in_a_block_a_partition_starts_is_part_of_its_identity() -> None:
    early = cut([segment("a", ACME), segment("bcd", GLOBEX)], 4)
    late = cut([segment("abc", ACME), segment("d", GLOBEX)], 4)
    whole = cut([segment("abcd", GLOBEX)], 4)
    assert len({block.identity for block in (*early, *late, *whole)}) == 3


def test_token_borders_are_part_of_the_identity() -> None:
    one = cut([Segment([b"ab", b"c"], terms())], 2)
    two = cut([Segment([b"a", b"bc"], terms())], 2)
    assert identities(one) != identities(two)


def test_the_execution_identity_is_the_root_of_every_chain() -> None:
    assert identities(cut([segment("abcd")], 4, b"one")) != identities(cut([segment("abcd")], 4, b"two"))


def test_the_chain_ends_before_the_first_block_that_may_not_be_retained() -> None:
    blocks = cut([segment("abcdef"), segment("gh", retain=False), segment("ijkl")], 4)
    assert [block.depth for block in blocks] == [0]


COORDINATES = st.lists(st.text(min_size=1, max_size=3), max_size=4).map(tuple)
PARTITIONS = st.builds(
    Partition,
    st.builds(Boundary, st.sampled_from(Scope), COORDINATES),
    st.none() | st.text(alphabet="ab:1", max_size=3),
)


@given(PARTITIONS, PARTITIONS)
def test_two_partitions_have_one_key_only_if_they_are_the_same(one: Partition, two: Partition) -> None:
    assert (one.key == two.key) == (one == two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ((Scope.PRINCIPAL, ("acme", "alice")), (Scope.PRINCIPAL, ("globex", "alice"))),
        ((Scope.PRINCIPAL, ("ab", "c")), (Scope.PRINCIPAL, ("a", "bc"))),
        ((Scope.TENANT, ("acme",)), (Scope.PRINCIPAL, ("acme",))),
    ],
)
def test_partitions_that_look_alike_have_different_keys(
    one: tuple[Scope, tuple[str, ...]], two: tuple[Scope, tuple[str, ...]]
) -> None:
    assert Partition(Boundary(*one), None).key != Partition(Boundary(*two), None).key


def test_no_namespace_is_not_the_empty_digest() -> None:
    where = Boundary(Scope.PUBLIC, ())
    assert Partition(where, None).key != Partition(where, "").key
