"""Approximate reuse: retained state lent to input that is similar to the one that it was computed from.

Which inputs are similar is decided elsewhere: a *class* is given with each fragment, and inputs are similar
when their fragments' classes are the same, one by one. State of one fragment depends on all before it, so a
donor stands under the whole chain of classes, and of partitions, that leads to it (APX-2). Such an index is
derived from input, and is kept under the rules of the state that it points to (SEC-3).

The index isn't locked; a caller with several threads serialises `find` and `lend`.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from cctest.contract.eligibility import eligible
from cctest.engine.blocks import Terms
from cctest.engine.cache import SECOND


@dataclass(frozen=True, slots=True)
class Link:
    """One fragment of an input: its class, the tokens from the start to its end, and its terms."""

    kind: bytes
    end: int
    terms: Terms


@dataclass(frozen=True, slots=True)
class Donor:
    """State that may be lent.

    `materialized_at` is the instant at which the oldest state in it was computed, `expires_at` the instant at
    which it must not be read any more (None: no bound), both in nanoseconds of the cache's clock.
    `approximate` tells whether it was itself computed from lent state.
    """

    materialized_at: int
    expires_at: int | None
    approximate: bool


@dataclass(frozen=True, slots=True)
class Loan:
    """A donor that was found, and for how many leading fragments it stands in."""

    donor: Donor
    fragments: int


class Donors:
    """Donors by lender and chain, at most `capacity` of them; the least recently lent goes first."""

    def __init__(self, capacity: int) -> None:
        if capacity < 0:
            raise ValueError(f"capacity must not be negative, got {capacity}")
        self._capacity = capacity
        self._donors: OrderedDict[bytes, Donor] = OrderedDict()
        self._latest = 0

    def __len__(self) -> int:
        """Count the donors."""
        return len(self._donors)

    def find(self, lender: str, links: Sequence[Link], beyond: int, now: int) -> Loan | None:
        """Find the donor that stands in for most fragments of an input, and for more than `beyond` tokens.

        `lender` is whose donors are considered: under a `public` boundary too, only the reader's own tenant's
        (READ-39). A bound counts whether it is the donor's or the reader's own (READ-16).
        """
        self._note(now)
        for index, place in reversed(list(enumerate(_chain(lender, links)))):
            if links[index].end <= beyond:
                return None
            donor = self._donors.get(place)
            if donor is not None and _may_lend(donor, links[index].terms, now):
                self._donors.move_to_end(place)
                return Loan(donor, index + 1)
        return None

    def lend(self, lender: str, links: Sequence[Link], source: Donor, now: int) -> int:
        """Offer the state after each fragment of an input from the instant `now` on.

        Counts the leading fragments after which there is a donor then.

        `source` says what that state was computed from. Its bound is carried along, whatever the terms of the
        new state allow (READ-29): so no chain of loans outlives the state at its beginning. A living donor
        that was computed gives way to no approximate one.
        """
        self._note(now)
        places = _chain(lender, links)
        for link, place in zip(links, places, strict=True):
            known = self._donors.get(place)
            if known is not None and not known.approximate and not _over(known, now) and source.approximate:
                continue
            self._donors[place] = _under(link.terms, source)
            self._donors.move_to_end(place)
        while len(self._donors) > self._capacity:
            self._donors.popitem(last=False)
        return len(list(takewhile(self._donors.__contains__, places)))

    def _note(self, now: int) -> None:
        """Forget all donors where the clock stepped back: nobody knows how old they are then (RET-7)."""
        if now < self._latest:
            self._donors.clear()
        self._latest = now


def _chain(lender: str, links: Sequence[Link]) -> list[bytes]:
    """Name each place of a chain; every part that is hashed is of fixed length."""
    name = hashlib.sha256(lender.encode()).digest()
    names = []
    for link in links:
        kind = hashlib.sha256(link.kind).digest()
        name = hashlib.sha256(name + link.terms.partition.key + kind).digest()
        names.append(name)
    return names


def _under(terms: Terms, source: Donor) -> Donor:
    own_end = None if terms.max_age is None else source.materialized_at + terms.max_age * SECOND
    ends = [end for end in (own_end, source.expires_at) if end is not None]
    return Donor(source.materialized_at, min(ends, default=None), source.approximate)


def _over(donor: Donor, now: int) -> bool:
    return donor.expires_at is not None and now >= donor.expires_at


def _may_lend(donor: Donor, reader: Terms, now: int) -> bool:
    own_bound = None if reader.max_age is None else reader.max_age * SECOND
    return not _over(donor, now) and eligible(donor.materialized_at, own_bound, now)
