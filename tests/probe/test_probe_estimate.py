from dataclasses import replace

import pytest

from cctest.probe.bundled import make_credentials
from cctest.probe.case import Case, FragmentSpec, Role, Step, Wait
from cctest.probe.estimate import REQUEST_SECONDS, SURVEY_REQUESTS, Cost, Estimate, estimate
from cctest.target.configuration import Configuration
from cctest.target.rate import Rate

FRAGMENTS = (FragmentSpec("prefix"), FragmentSpec("question"))
EVERYBODY = Configuration("http://nowhere.invalid", "m", make_credentials())
BEFORE = SURVEY_REQUESTS + len(EVERYBODY.credentials)
CASE = Case(
    id="shared",
    title="Shared",
    rules=(),
    texts={"prefix": 1, "question": 0.05},
    intents={},
    steps=(
        Step("prime", Role.SELF, FRAGMENTS),
        Step("again", Role.SELF, FRAGMENTS),
        Step("foreign", Role.OTHER_TENANT, FRAGMENTS),
    ),
    expectations=(),
    axes={"stream": ("plain", "streamed")},
    group="sharing",
)
TIMED = replace(
    CASE,
    id="timed",
    group="retention",
    steps=(
        Step("prime", Role.SELF, FRAGMENTS),
        Step("before", Role.SELF, FRAGMENTS, after=Wait("prime", 1.0)),
        Step("after", Role.SELF, FRAGMENTS, after=Wait("prime", 3.0)),
    ),
)


def of(*cases: Case, configuration: Configuration = EVERYBODY, jobs: int = 4) -> Estimate:
    return estimate(configuration, cases, jobs)


def test_cells_and_requests_are_counted_by_group() -> None:
    found = of(CASE, TIMED)
    assert {name: (cost.cells, cost.requests) for name, cost in found.groups.items()} == {
        "sharing": (2, 6),
        "retention": (2, 6),
    }
    assert (found.total.cells, found.total.requests) == (4, 12 + BEFORE)


def test_the_longest_wait_is_the_idle_time_before_one_request() -> None:
    found = of(CASE, TIMED)
    assert found.groups["sharing"].wait == 0
    assert found.groups["retention"].wait == pytest.approx(2.0 - REQUEST_SECONDS)
    assert found.total.span == pytest.approx(REQUEST_SECONDS + 3.0 + REQUEST_SECONDS)


def test_time_is_work_or_the_longest_cell_or_the_rate_whichever_is_longest() -> None:
    assert of(TIMED).seconds == of(TIMED).total.span
    many = [replace(CASE, id=f"case-{number}") for number in range(50)]
    assert of(*many).seconds == pytest.approx((300 + BEFORE) * REQUEST_SECONDS / 4)
    assert of(*many, jobs=1).seconds == pytest.approx((300 + BEFORE) * REQUEST_SECONDS)
    narrow = replace(EVERYBODY, rate=Rate(concurrency=1))
    assert of(*many, configuration=narrow).seconds == pytest.approx((300 + BEFORE) * REQUEST_SECONDS)
    slow = replace(EVERYBODY, rate=Rate(requests_per_second=0.5))
    assert of(*many, configuration=slow).seconds == pytest.approx((300 + BEFORE) / 0.5)


def test_a_least_prompt_length_costs_tokens() -> None:
    longer = replace(EVERYBODY, min_prompt_tokens=1600)
    usual, more = of(CASE).total.tokens, of(CASE, configuration=longer).total.tokens
    assert more > 5 * usual
    assert more >= of(CASE).total.requests * 1600 - 2 * 1600


def test_cells_without_their_callers_cost_nothing() -> None:
    alone = replace(EVERYBODY, credentials=EVERYBODY.credentials[:1])
    assert of(CASE, configuration=alone).groups["sharing"] == Cost(cells=2, silent=2)


def test_two_ended_cells_cost_something_only_with_an_engine() -> None:
    case = replace(CASE, two_ended=True)
    assert of(case).total.requests == BEFORE
    assert estimate(EVERYBODY, [case], 4, engine=True).total.requests == 6 + BEFORE


def test_the_product_of_the_axes_costs_more() -> None:
    case = replace(
        CASE,
        axes={"stream": ("plain", "streamed"), "place": ("tools", "messages"), "count": ("few", "many")},
    )
    pairs, everything = estimate(EVERYBODY, [case], 4), estimate(EVERYBODY, [case], 4, full=True)
    assert pairs.total.cells < everything.total.cells == 8
