"""What is made of the engine's record of what it kept, and took from there."""

import json
from dataclasses import replace

import pytest

from cctest.contract.source import JsonValue
from cctest.instrument.client import EngineRecord
from cctest.instrument.record import Ending
from cctest.probe.case import Case, Expectation, Place, Role, Step
from cctest.probe.judgement import Advertised, Judgement, World
from cctest.probe.observation import Observation
from cctest.probe.predicates import PREDICATES
from cctest.probe.prompt import BuiltFragment, BuiltRequest, Setting
from cctest.target.chat import ABSENT, ChatResult
from cctest.target.chat import Place as StatusPlace
from cctest.target.exchange import Request
from cctest.verdict import Result

PROMPT, HIT = 1000, 900
RECORD = EngineRecord(
    number=1,
    method="POST",
    path="/v1/chat/completions",
    headers=(),
    arrived=0,
    ended=0,
    ending=Ending.COMPLETED,
    status=200,
    body=b"{}",
    body_complete=True,
    cache_salt="s",
    prompt_tokens=PROMPT,
    cached_tokens=0,
    looked_up=0,
    retained=True,
    recalled=0,
    canaries=(),
    misbehaviour=None,
)
CALLED_OFF = replace(
    RECORD, ending=Ending.CLIENT_GONE, prompt_tokens=None, cached_tokens=None, looked_up=None, retained=None
)


def seen(name: str, *records: EngineRecord, http: int = 200, status: JsonValue = None) -> Observation:
    chat = ChatResult(
        status=http,
        ok=http == 200,
        content="",
        cache_status=ABSENT if status is None else status,
        status_place=StatusPlace.TOP_LEVEL,
        prompt_tokens=None,
        cached_tokens=None,
        error_code=None,
        error_message=None,
        problems=(),
    )
    built = BuiltRequest(b"{}", (BuiltFragment("prefix", Place.USER, 1000, governed=True),))
    return Observation(Step(name, Role.SELF), built, Request("POST", "/"), chat=chat, records=records)


def judged(expectation: Expectation, *steps: Observation) -> Judgement:
    case = Case("case", "A case", (), {"prefix": 1}, {}, tuple(one.step for one in steps), (expectation,))
    setting = Setting(case=case, cell={}, nonce="n", model="m", callers={})
    world = World(setting, {one.step.id: one for one in steps}, Advertised(404))
    return PREDICATES[expectation.predicate](expectation, world)


LATE = Expectation(
    "late",
    "not_read_late",
    ("RET-3",),
    {"fragment": "prefix", "made_by": "prime", "bound": 2},
    step="queued",
    control="early",
)
PRIME = seen("prime", RECORD)
EARLY = seen("early", replace(RECORD, looked_up=0.5, cached_tokens=HIT))


@pytest.mark.parametrize("cached", [HIT, PROMPT // 2])
def test_what_is_found_at_the_bound_or_later_is_found_too_late(cached: int) -> None:
    for looked_up in (2.0, 5.0):
        late = replace(RECORD, looked_up=looked_up, cached_tokens=cached)
        told = judged(LATE, PRIME, EARLY, seen("queued", late))
        assert (told.result, told.repeatable) == (Result.FAIL, False)


def test_what_nobody_got_an_answer_from_has_to_be_seen_twice() -> None:
    late = replace(RECORD, looked_up=2.1, cached_tokens=HIT, ending=Ending.CLIENT_GONE)
    told = judged(LATE, PRIME, EARLY, seen("queued", late, http=504))
    assert (told.result, told.repeatable) == (Result.FAIL, True)


@pytest.mark.parametrize(
    "queued",
    [
        seen("queued", replace(RECORD, looked_up=2.1)),
        seen("queued", replace(RECORD, looked_up=2.1, cache_salt="another")),
        seen("queued", CALLED_OFF, http=504),
        seen("queued", http=503),
        seen("queued", CALLED_OFF, replace(RECORD, looked_up=4.2)),
    ],
)
def test_finding_nothing_or_looking_nothing_up_is_as_good(queued: Observation) -> None:
    assert judged(LATE, PRIME, EARLY, queued).result is Result.PASS


def test_a_look_up_within_the_bound_shows_nothing() -> None:
    told = judged(LATE, PRIME, EARLY, seen("queued", replace(RECORD, looked_up=1.9, cached_tokens=HIT)))
    assert (told.result, told.retry) == (Result.INCONCLUSIVE, True)


@pytest.mark.parametrize("cached", [0, HIT])
def test_without_reuse_within_the_bound_nothing_means_anything(cached: int) -> None:
    fresh = seen("early", replace(RECORD, looked_up=0.5))
    told = judged(LATE, PRIME, fresh, seen("queued", replace(RECORD, looked_up=2.1, cached_tokens=cached)))
    assert (told.result, told.uncontrolled) == (Result.INCONCLUSIVE, True)


RECALLED = Expectation("named", "not_recalled", ("SHR-4",), {"by": "prime"}, step="foreigner")


def naming(*names: str) -> EngineRecord:
    parts: list[JsonValue] = [{"type": "image_url", "uuid": name} for name in names]
    body = {"messages": [{"role": "user", "content": parts}, {"role": "user", "content": "x"}, 1]}
    return replace(RECORD, body=json.dumps(body).encode())


def test_an_item_of_another_tenant_is_not_to_be_had_by_its_name() -> None:
    found = seen("foreigner", replace(naming("one"), recalled=1))
    assert judged(RECALLED, seen("prime", naming("one")), found).result is Result.FAIL


@pytest.mark.parametrize(("made", "asked"), [((), ()), (("one",), ("other",)), (("one",), ())])
def test_a_name_that_does_not_arrive_or_arrives_as_another_finds_nothing(
    made: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    told = judged(RECALLED, seen("prime", naming(*made)), seen("foreigner", naming(*asked)))
    assert told.result is Result.PASS


def test_an_item_that_is_gone_or_never_came_shows_nothing() -> None:
    named = naming("one")
    gone = judged(RECALLED, seen("prime", named), seen("foreigner", named))
    unsent = judged(RECALLED, seen("prime", http=400), seen("foreigner", named))
    assert {gone.result, unsent.result} == {Result.INCONCLUSIVE}


KEPT = Expectation("kept", "retained_as_reported", ("STA-6",), {}, step="ask")


@pytest.mark.parametrize(
    ("retention", "retained", "result"),
    [
        ("retained", False, Result.FAIL),
        ("unobserved", False, Result.PASS),
        ("declined", False, Result.PASS),
        (None, False, Result.PASS),
        ("retained", True, Result.INCONCLUSIVE),
    ],
)
def test_only_what_was_kept_is_retained(retention: str | None, retained: bool, result: Result) -> None:
    entry: dict[str, JsonValue] = {"outcome": "miss", "constraint_result": "satisfied"}
    entry |= {} if retention is None else {"retention": retention}
    assert judged(KEPT, seen("ask", replace(RECORD, retained=retained), status=[entry])).result is result


def test_without_a_status_nothing_is_reported_as_retained() -> None:
    assert judged(KEPT, seen("ask", replace(RECORD, retained=False))).result is Result.UNSUPPORTED
