"""Loans of approximate state: whose, of what, and for how long."""

from engine_driver import ACME, ACME_TOOLS, GLOBEX
from hypothesis import given
from hypothesis import strategies as st

from cctest.engine.blocks import Partition, Terms
from cctest.engine.cache import SECOND
from cctest.engine.donors import Donor, Donors, Link, Loan


def link(
    kind: str = "tools", end: int = 100, partition: Partition = ACME, max_age: int | None = None
) -> Link:
    return Link(kind.encode(), end, Terms(partition, may_read=True, may_retain=True, max_age=max_age))


def computed(now: int = 0) -> Donor:
    return Donor(now, None, approximate=False)


def lent(
    donors: Donors, *links: Link, source: Donor | None = None, now: int = 0, lender: str = "acme"
) -> None:
    donors.lend(lender, links, source or computed(now), now)


def test_similar_input_is_lent_the_state_of_as_many_fragments_as_agree() -> None:
    donors = Donors(10)
    lent(donors, link("a", 10), link("b", 20))
    assert donors.find("acme", [link("a", 11), link("b", 22)], 0, 0) == Loan(computed(), 2)
    assert donors.find("acme", [link("a", 11), link("c", 22)], 0, 0) == Loan(computed(), 1)
    assert donors.find("acme", [link("c", 11), link("b", 22)], 0, 0) is None


def test_what_is_there_exactly_is_not_borrowed() -> None:
    donors = Donors(10)
    lent(donors, link("a", 10))
    assert donors.find("acme", [link("a", 10)], 10, 0) is None


def test_donors_come_from_the_same_partition_and_lender() -> None:
    donors = Donors(10)
    lent(donors, link())
    for partition in (GLOBEX, ACME_TOOLS):
        assert donors.find("acme", [link(partition=partition)], 0, 0) is None
    assert donors.find("globex", [link()], 0, 0) is None


def test_a_bound_ends_a_donor_whether_it_is_its_own_or_the_readers() -> None:
    donors = Donors(10)
    lent(donors, link("bounded", max_age=5))
    lent(donors, link("unbounded"))
    before, after = 5 * SECOND - 1, 5 * SECOND
    assert donors.find("acme", [link("bounded")], 0, before) is not None
    assert donors.find("acme", [link("unbounded", max_age=5)], 0, before) is not None
    assert donors.find("acme", [link("bounded")], 0, after) is None
    assert donors.find("acme", [link("unbounded", max_age=5)], 0, after) is None
    assert donors.find("acme", [link("unbounded")], 0, after) is not None


@given(st.lists(st.floats(0, 4), max_size=8))
def test_no_chain_of_loans_outlives_the_state_at_its_beginning(waits: list[float]) -> None:
    donors = Donors(100)
    lent(donors, link("0", max_age=5))
    now, source = 0, computed()
    for number, wait in enumerate(waits):
        now += round(wait * SECOND)
        loan = donors.find("acme", [link(str(number))], 0, now)
        if loan is None:
            assert now >= 5 * SECOND
            return
        assert now < 5 * SECOND
        source = Donor(loan.donor.materialized_at, loan.donor.expires_at, approximate=True)
        lent(donors, link(str(number + 1)), source=source, now=now)


def test_approximate_state_does_not_take_the_place_of_a_living_donor_that_was_computed() -> None:
    donors = Donors(10)
    lent(donors, link(max_age=5))
    borrowed = Donor(0, None, approximate=True)
    lent(donors, link(), source=borrowed, now=SECOND)
    assert donors.find("acme", [link()], 0, SECOND) == Loan(Donor(0, 5 * SECOND, approximate=False), 1)
    lent(donors, link(), source=borrowed, now=5 * SECOND)
    assert donors.find("acme", [link()], 0, 5 * SECOND) == Loan(borrowed, 1)


def test_a_clock_that_steps_back_ends_every_loan() -> None:
    donors = Donors(10)
    lent(donors, link(), now=10 * SECOND)
    assert donors.find("acme", [link()], 0, 9 * SECOND) is None


def test_the_least_recently_lent_goes_first() -> None:
    donors = Donors(2)
    lent(donors, link("a"))
    lent(donors, link("b"))
    donors.find("acme", [link("a")], 0, 0)
    lent(donors, link("c"))
    assert len(donors) == 2
    assert donors.find("acme", [link("b")], 0, 0) is None
    assert donors.find("acme", [link("a")], 0, 0) is not None


@given(st.integers(0, 4), st.integers(0, 4))
def test_it_is_told_after_how_many_fragments_there_is_a_donor(capacity: int, count: int) -> None:
    donors = Donors(capacity)
    links = [link(str(number), 10 * number + 10) for number in range(count)]
    told = donors.lend("acme", links, computed(), 0)
    assert told == (count if count <= capacity else 0)
    assert (donors.find("acme", links[:1], 0, 0) is not None) == (told > 0)
