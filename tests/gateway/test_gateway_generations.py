"""Bounds on age in front of an engine that knows none, against a model of such an engine.

The model engine does its worst: it queues a request for as long as it likes, takes it up, preempts it and looks
its state up anew, as often as it likes, until the request is gone, and it forgets nothing. The gateway ends each
request at its deadline; that takes effect some time within the margin.
"""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_gateway.lowering.generations import SECOND, Generations

DEADLINE, MARGIN = 3.0, 0.5
KEYS = ("tools", "other tools")


@dataclass
class Clock:
    """What the gateway reads, and how far it is from the true time. All in nanoseconds."""

    true: int = 0
    offset: int = 0

    def __call__(self) -> int:
        return self.true + self.offset


@dataclass
class Engine:
    """State by salt and key, with the true instants at which it was computed; nothing is evicted."""

    computed: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def look_up(self, salt: str, key: str, now: int) -> int | None:
        """Give the age of the oldest state that is found; compute it where there is none."""
        place = (salt, key)
        if place in self.computed:
            return now - self.computed[place][0]
        self.computed[place] = [now]
        return None


@dataclass(frozen=True)
class Arrival:
    """A request: the time since the one before, and the instants of its look-ups within its life, in 0..1."""

    after: float
    key: str
    max_age: int
    look_ups: tuple[float, ...]
    lingers: float
    step: int


ARRIVALS = st.lists(
    st.builds(
        Arrival,
        after=st.floats(0, 8) | st.sampled_from([0.0, 0.001, 3.5]),
        key=st.sampled_from(KEYS),
        max_age=st.sampled_from([1, 3, 4, 5, 8, 60]),
        look_ups=st.lists(st.floats(0, 1), min_size=1, max_size=4).map(tuple),
        lingers=st.sampled_from([0.0, 0.5, 0.999]),
        step=st.sampled_from([0, 0, 0, 0, 3600, -3600]),
    ),
    max_size=30,
)


@given(ARRIVALS, st.sampled_from([1, 2, 1000]))
def test_nothing_is_read_once_its_bound_has_passed(arrivals: list[Arrival], capacity: int) -> None:
    clock, engine = Clock(), Engine()
    generations = Generations(DEADLINE, margin=MARGIN, capacity=capacity, clock=clock)
    look_ups: list[tuple[int, str, str, int]] = []
    for one in arrivals:
        clock.true += round(one.after * SECOND)
        clock.offset += one.step * SECOND
        salt = generations.salt(one.key, one.max_age)
        if salt is None:
            continue
        life = (DEADLINE + MARGIN * one.lingers) * SECOND
        look_ups += [(clock.true + round(at * life), salt, one.key, one.max_age) for at in one.look_ups]
    for now, salt, key, max_age in sorted(look_ups):
        age = engine.look_up(salt, key, now)
        assert age is None or age < max_age * SECOND
    assert len(generations) <= capacity


@given(st.sampled_from([4, 5, 8, 60]), st.floats(0, 0.99))
def test_within_its_time_a_generation_is_the_same_for_all(max_age: int, part: float) -> None:
    clock = Clock()
    generations = Generations(DEADLINE, margin=MARGIN, clock=clock)
    born = generations.salt("tools", max_age)
    clock.true += int(part * (max_age - DEADLINE - MARGIN) * SECOND)
    assert generations.salt("tools", max_age) == born is not None


def test_at_the_last_instant_the_next_generation_begins() -> None:
    clock = Clock()
    generations = Generations(3.0, margin=0.5, clock=clock)
    born = generations.salt("tools", 10)
    clock.true = round(6.5 * SECOND) - 1
    assert generations.salt("tools", 10) == born
    clock.true += 1
    assert generations.salt("tools", 10) != born


@pytest.mark.parametrize("max_age", [1, 3])
def test_a_bound_that_leaves_no_time_retains_nothing(max_age: int) -> None:
    generations = Generations(3.0, margin=0.0)
    assert generations.salt("tools", max_age) is None
    assert len(generations) == 0


def test_other_keys_and_other_bounds_have_generations_of_their_own() -> None:
    generations = Generations(1.0, margin=0.0)
    salts = {generations.salt(key, max_age) for key in KEYS for max_age in (5, 6)}
    assert len(salts) == 4


def test_a_clock_that_steps_back_ends_every_generation() -> None:
    clock = Clock(true=7200 * SECOND)
    generations = Generations(1.0, margin=0.0, clock=clock)
    born = generations.salt("tools", 60)
    clock.offset = -3600 * SECOND
    assert generations.salt("tools", 60) != born


def test_two_gateways_share_no_generation() -> None:
    assert Generations(1.0).salt("tools", 60) != Generations(1.0).salt("tools", 60)


def test_memory_is_bounded_and_a_forgotten_generation_never_comes_back() -> None:
    generations = Generations(1.0, margin=0.0, capacity=2)
    first = generations.salt("0", 60)
    for number in range(100):
        generations.salt(str(number), 60)
    assert len(generations) == 2
    assert generations.salt("0", 60) != first
