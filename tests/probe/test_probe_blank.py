"""A hit word is held against what the target says of a text that nobody ever sent."""

from collections.abc import Sequence
from typing import Any

import pytest

from cctest.contract.source import JsonValue
from cctest.probe.blank import hold_against_blanks, readings_beside_blanks
from cctest.probe.case import Case, FragmentSpec, Place, Role, Step
from cctest.probe.judgement import Advertised, Judgement, World, failed
from cctest.probe.observation import Observation
from cctest.probe.prompt import BuiltRequest, Setting, build
from cctest.probe.readings import Taken
from cctest.probe.stage import Stage
from cctest.target.chat import ChatResult
from cctest.target.chat import Place as StatusPlace
from cctest.target.credential import Credential
from cctest.target.exchange import Request
from cctest.verdict import Reading, Result

CALLER = Credential("a", "token-a", "t", "p")
STEP = Step(
    "foreigner", Role.SELF, (FragmentSpec("prefix", "tenant", Place.SYSTEM), FragmentSpec("question"))
)
CASE = Case(
    id="case",
    title="A case",
    rules=(),
    texts={"prefix": 1, "question": 0.05},
    intents={"tenant": {"version": 1, "constraints": {}}},
    steps=(STEP,),
    expectations=(),
)
SETTING = Setting(case=CASE, cell={}, nonce="n", model="m", callers={Role.SELF: CALLER})


class Saying:
    """A courier to a target that gives every request the same status."""

    def __init__(self, outcomes: Sequence[str]) -> None:
        self.bodies: list[bytes] = []
        self._status: JsonValue = [{"outcome": one, "constraint_result": "satisfied"} for one in outcomes]

    def deliver(self, step: Step, built: BuiltRequest, request: Request, *, streamed: bool) -> Observation:
        assert not streamed
        self.bodies.append(built.body)
        chat = ChatResult(
            status=200,
            ok=True,
            content="",
            cache_status=self._status,
            status_place=StatusPlace.TOP_LEVEL,
            prompt_tokens=None,
            cached_tokens=None,
            error_code=None,
            error_message=None,
            problems=(),
        )
        return Observation(step, built, request, chat=chat)


def drained(generator: Any) -> Any:
    while True:
        try:
            next(generator)
        except StopIteration as end:
            return end.value


def world() -> World:
    seen = Observation(STEP, build(SETTING, STEP), Request("POST", "/"))
    return World(SETTING, {STEP.id: seen}, Advertised(200))


def stage(courier: Any) -> Stage:
    return Stage(courier, {Role.SELF: CALLER}, Advertised(200), "m", "n")


def judgement(rests_on: tuple[str, str] | None) -> Judgement:
    told = failed("served what it must not be", "nothing", "prefix was reused")
    return Judgement(told.result, told.message, repeatable=True, rests_on=rests_on)


@pytest.mark.parametrize(
    ("outcome", "result"),
    [
        ("miss", Result.FAIL),
        ("bypass", Result.FAIL),
        ("unobserved", Result.FAIL),
        ("exact_hit", Result.INCONCLUSIVE),
    ],
)
def test_a_failure_by_word_stands_only_if_a_fresh_text_is_no_hit(outcome: str, result: Result) -> None:
    courier = Saying([outcome])
    (held,) = drained(hold_against_blanks([judgement(("foreigner", "prefix"))], world(), stage(courier)))

    assert held.result is result
    assert len(courier.bodies) == 1


def test_a_failure_by_word_is_left_open_where_a_fresh_text_gets_no_word() -> None:
    (held,) = drained(hold_against_blanks([judgement(("foreigner", "prefix"))], world(), stage(Saying([]))))

    assert held.result is Result.INCONCLUSIVE
    assert held.retry


def test_what_rests_on_more_than_a_word_is_not_asked_about() -> None:
    courier = Saying(["exact_hit"])
    (held,) = drained(hold_against_blanks([judgement(None)], world(), stage(courier)))

    assert held.result is Result.FAIL
    assert courier.bodies == []


def test_a_blank_is_sent_once_since_a_second_one_was_sent_before() -> None:
    courier = Saying(["miss"])
    drained(hold_against_blanks([judgement(("foreigner", "prefix"))] * 2, world(), stage(courier)))
    drained(readings_beside_blanks([read(("foreigner", "prefix"))], world(), stage(courier)))

    assert len(courier.bodies) == len(set(courier.bodies)) == 2
    assert build(SETTING, STEP).body not in courier.bodies


def read(rests_on: tuple[str, str] | None) -> Taken:
    return Taken(Reading("READ-12", "yes", "case#READ-12"), rests_on)


@pytest.mark.parametrize(
    ("outcome", "rests_on", "kept"),
    [
        ("miss", ("foreigner", "prefix"), 1),
        ("exact_hit", ("foreigner", "prefix"), 0),
        ("exact_hit", None, 1),
    ],
)
def test_a_reading_by_word_is_kept_only_if_a_fresh_text_is_no_hit(
    outcome: str, rests_on: tuple[str, str] | None, kept: int
) -> None:
    readings = drained(readings_beside_blanks([read(rests_on)], world(), stage(Saying([outcome]))))

    assert len(readings) == kept
