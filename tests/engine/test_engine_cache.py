"""The prefix cache, held against a model that knows neither hashes nor chains nor queues."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cctest.contract.sharing import Boundary
from cctest.contract.vocabulary import Scope
from cctest.engine.blocks import Partition, Segment, Terms, cut
from cctest.engine.cache import SECOND, BlockCache

BLOCK = 2
ACME = Partition(Boundary(Scope.TENANT, ("acme",)), None)
ACME_TOOLS = Partition(Boundary(Scope.TENANT, ("acme",)), "d1")
GLOBEX = Partition(Boundary(Scope.TENANT, ("globex",)), None)


class Clock:
    """Nanoseconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 5 * SECOND

    def __call__(self) -> int:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += round(seconds * SECOND)


def segment(text: str, partition: Partition = ACME, **rules: int | None) -> Segment:
    read, retain = bool(rules.pop("read", 1)), bool(rules.pop("retain", 1))
    terms = Terms(partition, read, retain, rules.get("max_age"), rules.get("keep_for") or 0)
    return Segment([bytes([byte]) for byte in text.encode()], terms)


@dataclass
class Engine:
    """A cache and its clock, driven one request at a time."""

    capacity: int = 1000
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.cache = BlockCache(self.capacity, self.clock)

    def request(self, *segments: Segment) -> int:
        """Serve one request; count the blocks that were read."""
        blocks = cut(segments, BLOCK)
        reused = self.cache.lookup(blocks)
        self.cache.publish(blocks, reused)
        return reused.blocks

    def retained(self, *segments: Segment) -> int:
        """Serve one request; count the leading blocks that are retained after it."""
        blocks = cut(segments, BLOCK)
        return self.cache.publish(blocks, self.cache.lookup(blocks))


def test_what_was_computed_is_read_the_next_time() -> None:
    engine = Engine()
    assert [engine.request(segment("abcd")) for _ in range(2)] == [0, 2]


def test_the_prefix_is_read_up_to_the_first_difference() -> None:
    engine = Engine()
    engine.request(segment("abcdef"))
    assert engine.request(segment("abcdXf")) == 2


def test_state_is_read_until_its_bound_and_not_at_it() -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=3))
    engine.clock.pass_seconds(3 - 1e-9)
    assert engine.request(segment("abcd")) == 2
    engine.clock.pass_seconds(1e-9)
    assert engine.request(segment("abcd")) == 0


def test_reads_do_not_restart_the_interval() -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=3))
    hits = []
    for _ in range(3):
        engine.clock.pass_seconds(1)
        hits.append(engine.request(segment("abcd", max_age=3)))
    assert hits == [2, 2, 0]


def test_recomputing_starts_a_new_interval() -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=3))
    engine.clock.pass_seconds(2)
    engine.request(segment("abcd", max_age=3, read=0))
    engine.clock.pass_seconds(2)
    assert engine.request(segment("abcd", max_age=3)) == 2


def test_a_reader_with_a_smaller_bound_reads_nothing_older() -> None:
    engine = Engine()
    engine.request(segment("abcd"))
    engine.clock.pass_seconds(5)
    assert engine.request(segment("abcd", max_age=6)) == 2
    assert engine.request(segment("abcd", max_age=5)) == 0


def test_state_computed_from_reused_state_expires_with_it() -> None:
    engine = Engine()
    engine.request(segment("ab", max_age=3))
    engine.clock.pass_seconds(2)
    engine.request(segment("abcd"))  # reads ab, computes cd, which is bound by what ab has left
    engine.clock.pass_seconds(1)
    engine.request(segment("ab", read=0))  # a new ab, with no bound
    assert engine.request(segment("abcd")) == 1


def test_state_that_may_not_be_read_may_still_be_retained() -> None:
    engine = Engine()
    assert [engine.request(segment("abcd", read=0)) for _ in range(2)] == [0, 0]
    assert engine.request(segment("abcd")) == 2


def test_state_that_may_not_be_retained_leaves_no_trace() -> None:
    engine = Engine()
    engine.request(segment("ab"), segment("cdef", read=0, retain=0))
    assert len(engine.cache) == 1
    assert engine.request(segment("abcdef")) == 1


def test_a_bound_of_zero_is_never_met() -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=0))
    assert engine.request(segment("abcd")) == 0


@pytest.mark.parametrize("max_age", [2**53 + 1, 10**400])
def test_a_huge_bound_is_a_bound_like_any_other(max_age: int) -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=max_age, keep_for=max_age))
    engine.clock.pass_seconds(1e6)
    assert engine.request(segment("abcd", max_age=max_age)) == 2


def test_a_clock_that_steps_back_lengthens_no_bound() -> None:
    engine = Engine()
    engine.request(segment("abcd", max_age=3))
    engine.clock.pass_seconds(3)
    assert engine.request(segment("xy")) == 0
    engine.clock.pass_seconds(-2)
    assert engine.request(segment("abcd", max_age=3)) == 0


def test_the_least_recently_used_goes_first() -> None:
    engine = Engine(capacity=2)
    engine.request(segment("aa"))
    engine.clock.pass_seconds(1)
    engine.request(segment("bb"))
    engine.clock.pass_seconds(1)
    engine.request(segment("aa"))
    engine.clock.pass_seconds(1)
    engine.request(segment("cc"))
    assert engine.request(segment("aa")) == 1
    assert engine.request(segment("bb")) == 0


def test_a_hint_keeps_state_from_being_evicted_before_its_time() -> None:
    engine = Engine(capacity=2)
    engine.request(segment("aa", keep_for=60))
    for text in ("bb", "cc", "dd"):
        engine.clock.pass_seconds(1)
        engine.request(segment(text))
    assert engine.request(segment("aa")) == 1
    engine.clock.pass_seconds(61)
    for text in ("ee", "ff"):
        engine.clock.pass_seconds(1)
        engine.request(segment(text, keep_for=2))
    assert engine.request(segment("aa")) == 0


def test_a_hint_keeps_nothing_beyond_its_bound() -> None:
    engine = Engine(capacity=1)
    engine.request(segment("aa", max_age=1, keep_for=60))
    engine.clock.pass_seconds(2)
    assert engine.retained(segment("bb")) == 1


def test_of_one_request_the_deepest_blocks_go_first() -> None:
    engine = Engine(capacity=3)
    assert engine.retained(segment("aabbccddee")) == 3
    assert engine.request(segment("aabbccddee")) == 3


def test_a_cache_of_no_blocks_retains_nothing() -> None:
    engine = Engine(capacity=0)
    assert engine.retained(segment("abcd", keep_for=60)) == 0
    assert engine.request(segment("abcd")) == 0


def test_a_negative_capacity_is_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        Engine(capacity=-1)


def test_replacing_one_entry_over_and_over_takes_no_more_room() -> None:
    engine = Engine(capacity=4)
    for _ in range(1000):
        engine.request(segment("abcd", read=0))
    assert len(engine.cache) == 2
    assert len(engine.cache._queue) < 100


@dataclass
class Model:
    """What a cache without any memory bound knows: each prefix in full, with the partition of every token."""

    known: dict[tuple[tuple[bytes, Partition], ...], tuple[int, int | None]] = field(default_factory=dict)

    def request(self, segments: Sequence[Segment], now: int) -> int:
        """Serve one request at `now`; count the blocks that may be read."""
        tokens = [(token, one.terms.partition) for one in segments for token in one.tokens]
        rules = [one.terms for one in segments for _ in one.tokens]
        ends = range(BLOCK, len(tokens) + 1, BLOCK)
        reused, oldest_end = 0, None
        for end in ends:
            found = self.known.get(tuple(tokens[:end]))
            if found is None or not all(rule.may_read and rule.may_retain for rule in rules[:end]):
                break
            made, expires = found
            own = rules[end - 1].max_age
            if (expires is not None and now >= expires) or (own is not None and now >= made + own * SECOND):
                break
            reused, oldest_end = end, min((e for e in (oldest_end, expires) if e is not None), default=None)
        for end in ends:
            if end > reused and all(rule.may_retain for rule in rules[:end]):
                own = rules[end - 1].max_age
                bounds = [
                    b for b in (oldest_end, None if own is None else now + own * SECOND) if b is not None
                ]
                self.known[tuple(tokens[:end])] = (now, min(bounds, default=None))
        return reused // BLOCK


SEGMENTS = st.builds(
    lambda text, partition, read, retain, max_age, keep_for: segment(
        text, partition, read=read and retain, retain=retain, max_age=max_age, keep_for=keep_for
    ),
    st.text(alphabet="ab", min_size=0, max_size=5),
    st.sampled_from([ACME, ACME_TOOLS, GLOBEX]),
    st.sampled_from([1, 1, 1, 0]),
    st.sampled_from([1, 1, 1, 1, 0]),
    st.sampled_from([None, None, 0, 1, 2, 5]),
    st.sampled_from([0, 0, 3, 100]),
)


def composed(segments: Sequence[Segment]) -> list[Segment]:
    """Let no segment relax what those before it demand."""
    result: list[Segment] = []
    before: Terms | None = None
    for one in segments:
        terms = one.terms
        if before is not None:
            bounds = [bound for bound in (before.max_age, terms.max_age) if bound is not None]
            terms = replace(
                terms,
                may_read=before.may_read and terms.may_read,
                may_retain=before.may_retain and terms.may_retain,
                max_age=min(bounds, default=None),
            )
        result.append(replace(one, terms=terms))
        before = terms
    return result


STEPS = st.lists(
    st.tuples(
        st.lists(SEGMENTS, min_size=1, max_size=3).map(composed), st.sampled_from([0.0, 0.5, 1.0, 2.0])
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=400, deadline=None)
@given(STEPS)
def test_a_roomy_cache_reads_exactly_what_the_model_may_read(
    steps: list[tuple[list[Segment], float]],
) -> None:
    engine, model = Engine(), Model()
    for segments, pause in steps:
        expected = model.request(segments, engine.clock.now)
        assert engine.request(*segments) == expected
        engine.clock.pass_seconds(pause)


@settings(max_examples=200, deadline=None)
@given(STEPS, st.integers(0, 6))
def test_a_full_cache_stays_within_its_bound_and_reads_nothing_that_it_may_not(
    steps: list[tuple[list[Segment], float]], capacity: int
) -> None:
    engine = Engine(capacity)
    written: list[tuple[Sequence[Segment], int]] = []
    for segments, pause in steps:
        blocks = cut(segments, BLOCK)
        reused = engine.cache.lookup(blocks)
        retained = engine.cache.publish(blocks, reused)
        assert len(engine.cache) <= capacity
        assert retained <= capacity
        assert reused.blocks <= _ever_readable(segments, written, engine.clock.now)
        written.append((segments, engine.clock.now))
        engine.clock.pass_seconds(pause)


def _ever_readable(
    segments: Sequence[Segment], written: Sequence[tuple[Sequence[Segment], int]], now: int
) -> int:
    """Count the leading blocks that some earlier request of the same partitions retained and may still lend."""

    def tokens(of: Sequence[Segment]) -> list[tuple[bytes, Terms]]:
        return [(token, one.terms) for one in of for token in one.tokens]

    wanted = tokens(segments)
    best = 0
    for end in range(BLOCK, len(wanted) + 1, BLOCK):
        if not all(terms.may_read for _, terms in wanted[:end]):
            break
        lenders = [
            (theirs[end - 1][1].max_age, at)
            for theirs, at in ((tokens(of), at) for of, at in written)
            if [(token, terms.partition) for token, terms in theirs[:end]]
            == [(token, terms.partition) for token, terms in wanted[:end]]
            and all(terms.may_retain for _, terms in theirs[:end])
        ]
        own = wanted[end - 1][1].max_age
        ages = [(bound, now - at) for bound, at in lenders]
        if not any(
            (bound is None or age < bound * SECOND) and (own is None or age < own * SECOND)
            for bound, age in ages
        ):
            break
        best = end // BLOCK
    return best
