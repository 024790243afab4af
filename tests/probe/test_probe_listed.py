"""What is made of capabilities that say less than the target does, or promise more than it has."""

import json
from dataclasses import replace

import pytest

from cctest.contract.capabilities import read_capabilities
from cctest.contract.source import JsonValue
from cctest.instrument.client import EngineRecord
from cctest.instrument.record import Ending
from cctest.probe.case import Case, Expectation, FragmentSpec, Place, Role, Step
from cctest.probe.judgement import Advertised, Judgement, World
from cctest.probe.observation import Observation
from cctest.probe.predicates import PREDICATES
from cctest.probe.prompt import BuiltFragment, BuiltRequest, Setting
from cctest.target.chat import ABSENT, ChatResult
from cctest.target.chat import Place as StatusPlace
from cctest.target.exchange import Request, Response
from cctest.verdict import Result

FULL: dict[str, JsonValue] = {
    "retention_modes": ["allow", "forbid"],
    "retention_max_age": True,
    "reuse": ["none", "exact"],
    "share_max": ["request", "session", "principal", "tenant", "public"],
    "namespace": True,
}
UNSAID = Advertised(404)
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
    prompt_tokens=1000,
    cached_tokens=0,
    looked_up=0,
    retained=True,
    recalled=0,
    canaries=(),
    misbehaviour=None,
)


def advertised(constraints: dict[str, JsonValue], **members: JsonValue) -> Advertised:
    inner: dict[str, JsonValue] = {
        "versions": [1],
        "constraints": constraints,
        "on_unenforceable": "bypass",
        **members,
    }
    return Advertised(200, {"cache_intent_capabilities": inner}, read_capabilities(inner))


def without(*names: str) -> Advertised:
    return advertised({name: value for name, value in FULL.items() if name not in names})


def step(name: str, *, cached: int | None = None, http: int = 200, **entry: JsonValue) -> Observation:
    """A step whose one fragment has this status entry, and of which an engine cached so many of 1000 tokens."""
    status: JsonValue = [{"constraint_result": "satisfied", **entry}] if entry else ABSENT  # type: ignore[assignment]
    chat = ChatResult(
        status=http,
        ok=http == 200,
        content="",
        cache_status=status,
        status_place=StatusPlace.TOP_LEVEL,
        prompt_tokens=None,
        cached_tokens=None,
        error_code=None,
        error_message=None,
        problems=(),
    )
    built = BuiltRequest(b"{}", (BuiltFragment("prefix", Place.USER, 1000, governed=True),))
    sent = Step(name, Role.SELF, (FragmentSpec("prefix", "tenant"),))
    records = () if cached is None else (replace(RECORD, cached_tokens=cached),)
    response = Response(http, {}, b"{}", 0.0, 0.0)
    return Observation(sent, built, Request("POST", "/"), response=response, chat=chat, records=records)


def judged(expectation: Expectation, told: Advertised, *steps: Observation) -> Judgement:
    constraints: JsonValue = {"retention": {"mode": "allow"}, "reuse": "exact", "share_max": "tenant"}
    intents: dict[str, JsonValue] = {"tenant": {"version": 1, "constraints": constraints}}
    sent = tuple(one.step for one in steps)
    case = Case("case", "A case", (), {"prefix": 1}, intents, sent, (expectation,))
    setting = Setting(case=case, cell={"scope": "tenant"}, nonce="n", model="m", callers={})
    world = World(setting, {one.step.id: one for one in steps}, told)
    return PREDICATES[expectation.predicate](expectation, world)


def reused(*uses: str) -> Expectation:
    asked: dict[str, JsonValue] = {"fragment": "prefix", "uses": [*uses]}
    return Expectation("listed", "listed_if_reused", ("CAP-3",), asked, step="read")


@pytest.mark.parametrize("need", ["namespace", "retention_max_age", "share_max=${scope}", "reuse=exact"])
def test_what_is_read_back_is_supported_and_has_to_be_listed(need: str) -> None:
    read = step("read", cached=900)
    assert judged(reused(need), without(need.partition("=")[0]), read).result is Result.FAIL
    assert judged(reused(need), advertised(FULL), read).result is Result.PASS


def test_a_hit_by_the_targets_word_alone_has_to_be_seen_twice_and_beside_a_blank() -> None:
    told = judged(reused("namespace"), without("namespace"), step("read", outcome="exact_hit"))
    assert (told.result, told.repeatable, told.rests_on) == (Result.FAIL, True, ("read", "prefix"))


@pytest.mark.parametrize(
    ("read", "result"),
    [
        (step("read", cached=0), Result.PASS),
        (step("read", outcome="bypass"), Result.PASS),
        (step("read", outcome="unobserved"), Result.UNSUPPORTED),
        (step("read", http=400), Result.UNSUPPORTED),
    ],
)
def test_what_is_not_listed_and_served_by_fallback_or_refused_is_as_it_must_be(
    read: Observation, result: Result
) -> None:
    assert judged(reused("namespace"), without("namespace"), read).result is result


def test_whoever_advertises_nothing_is_held_to_nothing() -> None:
    assert judged(reused("namespace"), UNSAID, step("read", cached=900)).result is Result.UNSUPPORTED


LISTED = Expectation("status", "status_listed", ("CAP-3",), {})


@pytest.mark.parametrize("members", [{}, {"status": False}])
@pytest.mark.parametrize(
    ("outcome", "result"),
    [
        ("miss", Result.FAIL),
        ("exact_hit", Result.FAIL),
        ("bypass", Result.PASS),
        ("unobserved", Result.PASS),
    ],
)
def test_who_tells_of_look_ups_has_to_say_so(
    members: dict[str, JsonValue], outcome: str, result: Result
) -> None:
    assert judged(LISTED, advertised(FULL, **members), step("ask", outcome=outcome)).result is result


def test_a_status_that_is_listed_or_absent_is_in_order() -> None:
    assert judged(LISTED, advertised(FULL, status=True), step("ask", outcome="miss")).result is Result.PASS
    assert judged(LISTED, advertised(FULL), step("ask")).result is Result.PASS
    assert judged(LISTED, UNSAID, step("ask", outcome="miss")).result is Result.UNSUPPORTED


OWN = Expectation(
    "own", "boundary_of_its_own", ("CAP-6",), {"fragment": "prefix", "alone": "open"}, step="mixed"
)
PROMISED = advertised(FULL, per_fragment_share=True)


@pytest.mark.parametrize(
    ("alone", "mixed", "result"),
    [
        ("public", "tenant", Result.FAIL),
        ("public", "public", Result.PASS),
        ("tenant", "tenant", Result.PASS),
        ("request", "tenant", Result.PASS),
        ("everybody", "tenant", Result.UNSUPPORTED),
    ],
)
def test_a_boundary_of_its_own_does_not_depend_on_what_follows(
    alone: str, mixed: str, result: Result
) -> None:
    opened = step("open", outcome="miss", effective_share=alone)
    narrowed = step("mixed", outcome="miss", effective_share=mixed)
    assert judged(OWN, PROMISED, opened, narrowed).result is result


def test_nobody_owes_boundaries_that_are_not_promised() -> None:
    opened = step("open", outcome="miss", effective_share="public")
    narrowed = step("mixed", outcome="miss", effective_share="tenant")
    assert judged(OWN, advertised(FULL), opened, narrowed).result is Result.UNSUPPORTED
    assert judged(OWN, PROMISED, opened, step("mixed", http=400)).result is Result.INCONCLUSIVE


FORBIDDEN = Expectation(
    "permitted",
    "status_says",
    ("STA-6",),
    {"entries": {"prefix": {"retention": ["retained", "declined", "unobserved"]}}, "listed": True},
    step="ask",
)


@pytest.mark.parametrize(
    ("told", "result"),
    [
        (advertised(FULL), Result.FAIL),
        (advertised({**FULL, "share_max": ["request"]}), Result.UNSUPPORTED),
        (advertised({**FULL, "retention_modes": ["forbid"]}), Result.UNSUPPORTED),
        (UNSAID, Result.UNSUPPORTED),
    ],
)
def test_only_who_says_that_it_can_keep_it_may_not_call_it_forbidden(
    told: Advertised, result: Result
) -> None:
    alone = step("ask", outcome="bypass", retention="forbidden", effective_share="request")
    assert judged(FORBIDDEN, told, alone).result is result


SALTS = Expectation("salts", "salts_removed", ("BND-6",), {}, step="ask")


def arrived(**members: JsonValue) -> Observation:
    asked = step("ask", cached=0)
    body = json.dumps({"cache_salt": "the gateway's own", **members}).encode()
    return replace(asked, records=tuple(replace(one, body=body) for one in asked.records or ()))


@pytest.mark.parametrize(
    "member",
    [
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "x", "cache_salt": "s"}]}]},
        {"messages": [{"role": "user", "content": "x", "cache_salt": "s"}]},
        {"tools": [{"type": "function", "function": {"name": "f"}, "cache_salt": "s"}]},
    ],
)
def test_a_salt_inside_a_fragment_does_not_arrive(member: dict[str, JsonValue]) -> None:
    assert judged(SALTS, UNSAID, arrived(**member)).result is Result.FAIL


def test_the_gateways_own_salt_content_of_that_name_and_a_refusal_are_in_order() -> None:
    parameters: JsonValue = {"type": "object", "properties": {"cache_salt": {"type": "string"}}}
    tool: JsonValue = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    assert judged(SALTS, UNSAID, arrived(tools=[tool])).result is Result.PASS
    assert judged(SALTS, UNSAID, step("ask", http=422)).result is Result.PASS
