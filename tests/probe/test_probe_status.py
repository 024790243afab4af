"""What counts of tokens say of what the status claims."""

import pytest

from cctest.probe.case import Case, Expectation, Place, Role, Step
from cctest.probe.judgement import Advertised, World
from cctest.probe.observation import Observation
from cctest.probe.predicates.status import status_honest
from cctest.probe.prompt import BuiltFragment, BuiltRequest, Setting
from cctest.target.chat import ChatResult
from cctest.target.chat import Place as StatusPlace
from cctest.target.exchange import Request
from cctest.verdict import Result

BUILT = BuiltRequest(
    b"{}",
    (
        BuiltFragment("prefix", Place.SYSTEM, 800, governed=True),
        BuiltFragment("question", Place.USER, 200, governed=False),
    ),
)
CASE = Case("case", "A case", (), {}, {}, (), ())


@pytest.mark.parametrize(
    ("outcome", "cached", "result"),
    [
        ("exact_hit", 0, Result.FAIL),
        ("exact_hit", 16, Result.UNSUPPORTED),
        ("exact_hit", 400, Result.PASS),
        ("miss", 16, Result.PASS),
        ("miss", 784, Result.UNSUPPORTED),
        ("miss", 992, Result.FAIL),
        ("bypass", 784, Result.FAIL),
        ("unobserved", 992, Result.PASS),
    ],
)
def test_a_claim_fails_only_where_the_counts_leave_it_no_reading(
    outcome: str, cached: int, result: Result
) -> None:
    seen = {"elsewhere": step("elsewhere", "unobserved", 16), "ask": step("ask", outcome, cached)}
    world = World(Setting(CASE, {}, "n", "m", {}), seen, Advertised(404))

    assert status_honest(Expectation("check", "status_honest", (), {}), world).result is result


def step(name: str, outcome: str, cached: int) -> Observation:
    chat = ChatResult(
        status=200,
        ok=True,
        content="",
        cache_status=[{"outcome": outcome, "constraint_result": "satisfied"}],
        status_place=StatusPlace.TOP_LEVEL,
        prompt_tokens=1000,
        cached_tokens=cached,
        error_code=None,
        error_message=None,
        problems=(),
    )
    return Observation(Step(name, Role.SELF), BUILT, Request("POST", "/"), chat=chat)
