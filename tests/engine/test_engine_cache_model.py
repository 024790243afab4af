"""The prefix cache held against a model that knows neither hashes nor chains nor queues."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engine_driver import ACME, ACME_TOOLS, BLOCK, GLOBEX, Engine, segment
from hypothesis import given, settings
from hypothesis import strategies as st

from cctest.engine.blocks import Partition, Segment, Terms, cut
from cctest.engine.cache import SECOND


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
