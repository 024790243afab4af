"""When the experiments on a real engine are as expected, and when not."""

from dataclasses import replace

import pytest

from reference_gateway.live import mix, policies, ttft
from reference_gateway.live.experiment import Expected, Experiment, Figure, Seen, Step
from reference_gateway.live.max_age import QUEUED, Run, Trial
from reference_gateway.live.mix import Served, Span
from reference_gateway.live.mixed_load import Arrival, Someone
from reference_gateway.live.policies import NEW_TENANT, PUBLIC, SAME_BYTES, Row
from reference_gateway.live.policy import Policy
from reference_gateway.live.ttft import Sample

GOOD: dict[str, tuple[int, int, int, int, int]] = {
    NEW_TENANT: (3200, 3200, 0, 0, 3200),
    SAME_BYTES: (3200, 3800, 0, 0, 3200),
    PUBLIC: (3800, 3800, 0, 3800, 3800),
}
"""By situation: permitted, and reused under each policy."""


def rows(**changed: int | None) -> tuple[Row, ...]:
    """Good rows, with what a new tenant reuses under some policies changed."""
    return tuple(
        Row(
            situation,
            "",
            3840,
            permitted,
            dict(zip(Policy, reused, strict=True))
            | ({Policy[name]: value for name, value in changed.items()} if situation == NEW_TENANT else {}),
        )
        for situation, (permitted, *reused) in GOOD.items()
    )


def test_policies_are_as_expected() -> None:
    assert policies.as_expected(rows())


@pytest.mark.parametrize(
    "changed",
    [
        {"REGIONS": 3168},
        {"REGIONS": 3232},
        {"REGIONS": 0},
        {"INTENT": 3232},
        {"SHARED": None},
        {"SHARED": 0},
        {"REGIONS": None},
        {"SHARED": 3584},
    ],
    ids=str,
)
def test_policies_are_not_as_expected(changed: dict[str, int | None]) -> None:
    assert not policies.as_expected(rows(**changed))


def test_policies_of_an_engine_without_regions_are_judged_by_the_intent_alone() -> None:
    without = [
        replace(row, reused={one: row.reused[one] for one in Policy if one is not Policy.REGIONS})
        for row in rows()
    ]
    assert policies.as_expected(without)


def test_what_was_not_permitted_is_summed_up() -> None:
    by_policy = {total.policy: total for total in policies.totals(rows())}
    assert by_policy[Policy.SHARED].beyond == 600
    assert by_policy[Policy.REGIONS].beyond == 0
    assert (by_policy[Policy.REGIONS].share, by_policy[Policy.SALT].share) == (1.0, 0.0)


def samples(shared: float = 0.2, salt: float = 3.0, regions: float = 0.2, **cached: int) -> ttft.Samples:
    reused = {"SHARED": 4032, "SALT": 0, "INTENT": 0, "REGIONS": 4032} | cached
    seconds = {Policy.SHARED: shared, Policy.SALT: salt, Policy.INTENT: salt, Policy.REGIONS: regions}
    return {
        policy: [Sample(seconds[policy] * jitter, 4200, reused[policy.name]) for jitter in (0.9, 1.0, 1.2)]
        for policy in Policy
    }


def test_times_are_as_expected_by_their_medians() -> None:
    assert ttft.times_as_expected(samples())
    assert ttft.times_as_expected(samples(regions=0.25))
    assert not ttft.times_as_expected(samples(regions=0.26))
    assert not ttft.times_as_expected(samples(salt=1.9))


def test_times_are_worth_something_only_with_the_tokens_that_they_are_of() -> None:
    assert ttft.reused_as_expected(samples(), 32)
    assert ttft.reused_as_expected(samples(REGIONS=4000), 32)
    assert not ttft.reused_as_expected(samples(REGIONS=3968), 32)
    assert not ttft.reused_as_expected(samples(SALT=32), 32)
    assert not ttft.reused_as_expected(samples(INTENT=32), 32)
    assert not ttft.reused_as_expected(samples(SHARED=0, REGIONS=0), 32)


def test_the_spread_is_of_all_samples() -> None:
    of = [Sample(seconds, 1, 0) for seconds in (4.0, 1.0, 3.0, 2.0, 5.0)]
    assert ttft.spread(of) == ttft.Spread(3.0, 2.0, 4.0, 1.0, 5.0)


def served(cached: int, permitted: int = 3200, first: float | None = 0.2) -> Served:
    someone = Someone(0, "alice")
    return Served(Arrival(0.0, someone, someone, 0), Span(0.0, 1.0), first, 3400, cached, permitted)


def outcome(**changed: Served) -> mix.Outcome:
    good = {
        "SHARED": served(3392),
        "SALT": served(1600),
        "INTENT": served(0),
        "REGIONS": served(3200),
    } | changed
    return {policy: [served(1000), good[policy.name]] for policy in Policy}


def test_a_mix_is_as_expected() -> None:
    assert mix.as_expected(outcome())


@pytest.mark.parametrize(
    "changed",
    [
        {"REGIONS": served(3232)},
        {"INTENT": served(3232)},
        {"SHARED": served(3200)},
        {"REGIONS": served(1500)},
        {"SALT": served(0, first=None)},
    ],
    ids=["regions leak", "the intent leaks", "no control", "worth less than a salt", "not served"],
)
def test_a_mix_is_not_as_expected(changed: dict[str, Served]) -> None:
    assert not mix.as_expected(outcome(**changed))


@pytest.mark.parametrize(
    ("expected", "reused", "right"),
    [
        (Expected.NOTHING, 0, True),
        (Expected.NOTHING, 32, False),
        (Expected.PUBLIC, 64, True),
        (Expected.PUBLIC, 96, False),
        (Expected.PUBLIC, 32, False),
        (Expected.ALL, 128, True),
        (Expected.ALL, 96, False),
        (Expected.NOTHING, None, False),
    ],
)
def test_a_step_is_as_expected_if_every_trial_is(expected: Expected, reused: int | None, right: bool) -> None:
    trial = Seen(reused, could=128, counted=0, outcome="", public=64)
    step = Step("", expected, "", "")
    assert Experiment("", (Figure(step, (trial, trial)),)).as_expected == right


EARLY = Trial(bounded=True, written=0.1, sent=1.0, answered=1.1, reused=900)
UNBOUNDED = Trial(bounded=False, written=0.1, sent=14.0, answered=14.1, reused=900)
LATE = Trial(bounded=True, written=0.1, sent=6.0, answered=12.2, reused=900)
BETWEEN = Trial(bounded=True, written=0.3, sent=6.0, answered=12.2, reused=900)


def of_ages(*more: Trial, lag: float = 0.01, trials: tuple[Trial, ...] = (EARLY, UNBOUNDED)) -> Run:
    return Run("", QUEUED, (*trials, *more), lag)


@pytest.mark.parametrize("run", [of_ages(), of_ages(BETWEEN), of_ages(replace(LATE, reused=0))], ids=str)
def test_bounds_on_age_are_as_expected(run: Run) -> None:
    assert run.as_expected
    assert run.verdict == "As expected."


@pytest.mark.parametrize(
    "run",
    [
        of_ages(LATE),
        of_ages(trials=(EARLY,)),
        of_ages(trials=(UNBOUNDED,)),
        of_ages(*[replace(EARLY, reused=0)] * 2),
    ],
    ids=["a late reuse", "no control", "no reuse", "most not reused"],
)
def test_bounds_on_age_are_not_as_expected(run: Run) -> None:
    assert not run.as_expected
    assert run.verdict == "NOT AS EXPECTED."


@pytest.mark.parametrize("more", [(), (LATE,)], ids=["none late", "one late"])
def test_clocks_that_are_late_by_more_than_the_margin_show_nothing(more: tuple[Trial, ...]) -> None:
    run = of_ages(*more, lag=QUEUED.margin)
    assert not run.as_expected
    assert run.verdict.startswith("NOTHING IS SHOWN")
