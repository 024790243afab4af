"""A gateway with a sharing boundary partway through the input, probed from both ends."""

import json
from dataclasses import replace

import pytest

from cctest.contract.capabilities import read_capabilities
from cctest.contract.source import JsonValue
from cctest.instrument.client import Engine, EngineRecord, running_engine
from cctest.instrument.record import Ending
from cctest.instrument.regions import Region
from cctest.instrument.settings import Settings
from cctest.probe.bundled import FORWARDING, Bundled, make_credentials, running_gateway
from cctest.probe.case import Case, Expectation, Place, Role, Step
from cctest.probe.judgement import Advertised, World
from cctest.probe.load import load_cases
from cctest.probe.observation import Observation
from cctest.probe.predicates import PREDICATES
from cctest.probe.prompt import BuiltFragment, BuiltRequest, Setting
from cctest.probe.run import ProbePlan, run_probe
from cctest.probe.witness import engine_counts
from cctest.report.model import Report
from cctest.target.configuration import Configuration
from cctest.target.exchange import Request
from cctest.verdict import Outcome, Result

GROUPS = ("composition", "engine", "sharing", "retention")


@pytest.fixture(scope="module")
def probed() -> tuple[Report, tuple[EngineRecord, ...]]:
    """The report of a few groups, a cell of each case, and what reached the engine."""
    credentials = make_credentials()
    cases = tuple(
        replace(case, axes={axis: values[:1] for axis, values in case.axes.items()})
        for case in load_cases()
        if case.group in GROUPS
    )
    with running_engine(Settings(regions=True)) as url, Engine(url) as engine:
        gateway = Bundled(FORWARDING, url)
        with running_gateway(credentials, gateway) as target:
            configuration = Configuration(target=target, model=gateway.model(), credentials=credentials)
            plan = ProbePlan(configuration, cases, len(cases), seed=1, jobs=8, engine=url)
            return run_probe(plan, lambda _: None), engine.entries()


@pytest.mark.bundled
def test_our_gateway_is_conformant_with_a_boundary_for_each_fragment(
    probed: tuple[Report, tuple[EngineRecord, ...]],
) -> None:
    report, _ = probed
    assert isinstance(report.capabilities, dict)
    told = read_capabilities(report.capabilities["cache_intent_capabilities"], "")
    assert (told.per_fragment_share, told.retention_max_age) == (True, True)
    assert report.verdict.outcome is Outcome.CONFORMANT, report.verdict.reasons
    shared = [one for one in report.checks if one.id == "public-then-tenant#boundary-as-advertised"]
    assert [one.message.partition(",")[0] for one in shared] == ["the public part is shared as advertised"]


@pytest.mark.bundled
def test_the_record_has_the_regions_that_held(probed: tuple[Report, tuple[EngineRecord, ...]]) -> None:
    _, entries = probed
    held = [entry for entry in entries if entry.asks_for_answer and len(entry.in_effect) > 1]
    assert held
    assert all(entry.in_effect == entry.regions for entry in held)
    bounded = [entry for entry in entries if any(one.max_age_ms is not None for one in entry.in_effect)]
    assert bounded


CASE = Case("regions", "Regions", (), {"text": 1.0}, {}, (), ())
CHAT = "/v1/chat/completions"


def record(
    salt: str, *regions: Region, held: bool = True, cached: int = 0, path: str = CHAT, body: JsonValue = None
) -> EngineRecord:
    return EngineRecord(
        number=1,
        method="POST",
        path=path,
        headers=(),
        arrived=0.0,
        ended=1.0,
        ending=Ending.COMPLETED,
        status=200,
        body=json.dumps(body or {}).encode(),
        body_complete=True,
        cache_salt=salt,
        prompt_tokens=1000 if path == CHAT else None,
        cached_tokens=cached if path == CHAT else None,
        canaries=("canary",),
        misbehaviour=None,
        regions=regions,
        in_effect=regions if held else (Region(0, salt),),
    )


def seen(name: str, *records: EngineRecord, salt: str = "the caller's") -> Observation:
    built = BuiltRequest(
        json.dumps({"cache_salt": salt}).encode(), (BuiltFragment("text", Place.USER, 900, governed=True),)
    )
    return Observation(Step(name, Role.SELF), built, Request("POST", CHAT), records=records)


def judged(predicate: str, *steps: Observation, control: str | None = None, **arguments: JsonValue) -> Result:
    world = World(
        Setting(CASE, {}, "nonce", "m", {}), {step.step.id: step for step in steps}, Advertised(404)
    )
    expectation = Expectation(
        "check", predicate, ("BND-10",), arguments, step=steps[-1].step.id, control=control
    )
    return PREDICATES[predicate](expectation, world).result


SHARED = Region(0, "shared")


def test_a_salt_of_the_callers_own_may_stand_nowhere() -> None:
    for came in ((SHARED, Region(16, "the caller's")), (Region(0, "the caller's"), Region(16, "own"))):
        assert judged("salt_replaced", seen("ask", record("own", *came))) is Result.FAIL
    assert judged("salt_replaced", seen("ask", record("own", SHARED, Region(16, "own")))) is Result.PASS


def test_who_must_be_alone_may_stand_behind_what_is_shared() -> None:
    alone = [seen(name, record(name, SHARED, Region(16, name))) for name in ("one", "other")]
    assert judged("partitions_unique", *alone, steps=["one", "other"]) is Result.PASS


@pytest.mark.parametrize("held", [True, False])
def test_who_must_be_alone_shares_the_end_of_no_prompt(held: bool) -> None:
    together = [
        seen(name, record(name if held else "same", SHARED, Region(16, "same" if held else name), held=held))
        for name in ("one", "other")
    ]
    assert judged("partitions_unique", *together, steps=["one", "other"]) is Result.FAIL


@pytest.mark.parametrize(("max_age", "result"), [(0, Result.PASS), (1, Result.FAIL), (None, Result.FAIL)])
def test_what_may_be_read_for_no_time_is_shared_with_nobody(max_age: int | None, result: Result) -> None:
    steps = [seen(name, record(name, SHARED, Region(16, "same", max_age))) for name in ("one", "other")]
    assert judged("partitions_unique", *steps, steps=["one", "other"]) is result


@pytest.mark.parametrize(("last", "result"), [("own", Result.PASS), ("another", Result.FAIL)])
def test_partitions_are_the_same_if_all_regions_are(last: str, result: Result) -> None:
    steps = [seen(name, record("flat", SHARED, Region(16, "own"))) for name in ("first", "again")]
    other = seen("other", record("flat", SHARED, Region(16, last)))
    assert judged("same_partition", *steps, other, control="again", **{"as": "first"}) is result


def test_a_salt_of_a_region_that_tells_whose_it_is_is_found() -> None:
    assert judged("partition_safe", seen("ask", record("own", Region(0, "for nonce")))) is Result.FAIL
    assert judged("partition_safe", seen("ask", record("own", Region(0, "opaque")))) is Result.PASS


def test_a_text_that_was_only_rendered_was_not_computed_for_an_answer() -> None:
    render = record("", path=f"{CHAT}/render", body={"messages": [{"content": "x", "cache_intent": {}}]})
    asked = record("own", cached=32)
    assert engine_counts(seen("ask", asked, render)) == (1000, 32)
    assert judged("partition_safe", seen("ask", asked, render)) is Result.PASS
    assert judged("intents_removed", seen("ask", render, asked)) is Result.FAIL


def test_what_a_second_attempt_reuses_of_the_first_in_the_same_regions_is_the_steps_own() -> None:
    again = [
        record(flat, SHARED, Region(16, "own"), cached=cached) for flat, cached in (("a", 0), ("b", 900))
    ]
    assert engine_counts(seen("ask", *again)) == (1000, 0)
    elsewhere = record("b", SHARED, Region(16, "other"), cached=900)
    assert engine_counts(seen("ask", again[0], elsewhere)) == (1000, 900)
