"""What a step asks is held against what the target says that it can enforce."""

from collections.abc import Sequence

import pytest

from cctest.contract.capabilities import read_capabilities
from cctest.contract.source import JsonValue
from cctest.probe.case import Case, Expectation, FragmentSpec, Role, Step
from cctest.probe.enforceability import lacking, refused_as_announced, told_as_bypass
from cctest.probe.judgement import Advertised, World
from cctest.probe.observation import Observation
from cctest.probe.prompt import BuiltRequest, Setting
from cctest.target.chat import ChatResult, Place
from cctest.target.exchange import Request

BOUNDED: JsonValue = {"mode": "allow", "max_age": 9}


def intent(share: str = "tenant", reuse: str = "exact", retention: JsonValue = None) -> JsonValue:
    kept = retention or {"mode": "allow"}
    return {"version": 1, "constraints": {"retention": kept, "reuse": reuse, "share_max": share}}


INTENTS: dict[str, JsonValue] = {
    "plain": intent(),
    "approximate": intent(reuse="approximate"),
    "public": intent(share="public"),
    "request": intent(share="request"),
    "none": intent(reuse="none"),
    "forbid": intent(retention={"mode": "forbid"}),
    "bounded": intent(retention=BOUNDED),
    "raw": {"raw": "null"},
}
CASE = Case("case", "A case", (), {"text": 1}, INTENTS, (), ())
SETTING = Setting(case=CASE, cell={}, nonce="n", model="m", callers={})


def advertised(on_unenforceable: str = "reject") -> Advertised:
    inner: JsonValue = {
        "versions": [1],
        "on_unenforceable": on_unenforceable,
        "constraints": {
            "retention_modes": ["allow", "forbid"],
            "reuse": ["none", "exact"],
            "share_max": ["request", "tenant"],
        },
    }
    return Advertised(200, {"cache_intent_capabilities": inner}, read_capabilities(inner, ""))


def seen(name: str, outcomes: Sequence[str] | None = None, code: str | None = None) -> Observation:
    status: JsonValue = [{"outcome": one, "constraint_result": "satisfied"} for one in outcomes or ()]
    chat = ChatResult(
        status=400 if code else 200,
        ok=code is None,
        content="",
        cache_status=status,
        status_place=Place.TOP_LEVEL,
        prompt_tokens=None,
        cached_tokens=None,
        error_code=code,
        error_message=code,
        problems=(),
    )
    step = Step(name, Role.SELF, (FragmentSpec("text", name),))
    return Observation(step, BuiltRequest(b"", ()), Request("POST", "/"), chat=chat)


def world(*observations: Observation, capabilities: Advertised | None = None) -> World:
    by_step = {one.step.id: one for one in observations}
    return World(SETTING, by_step, capabilities or advertised())


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("plain", None),
        ("none", None),
        ("raw", None),
        ("approximate", "constraints.reuse is ['none', 'exact'] (needs approximate)"),
        ("public", "constraints.share_max is ['request', 'tenant'] (needs public)"),
        ("bounded", "constraints.retention_max_age is absent"),
    ],
)
def test_an_intent_lacks_what_it_needs_and_the_capabilities_dont_list(name: str, quoted: str | None) -> None:
    found = lacking(seen(name).step, world())
    assert found == (quoted and f"capabilities: {quoted}")


def about(step: str, control: str | None = None) -> Expectation:
    return Expectation("check", "status_says", (), {}, step=step, control=control)


@pytest.mark.parametrize(
    ("expectation", "code", "on_unenforceable", "announced"),
    [
        (about("approximate"), "cache_intent_unenforceable", "reject", True),
        (about("plain", "approximate"), "cache_intent_unenforceable", "reject", True),
        (about("plain"), "cache_intent_unenforceable", "reject", False),
        (about("approximate"), "cache_intent_invalid", "reject", False),
        (about("approximate"), "cache_intent_unenforceable", "bypass", False),
    ],
)
def test_a_refusal_is_announced_by_what_is_lacking_and_by_the_word_reject(
    expectation: Expectation, code: str, on_unenforceable: str, *, announced: bool
) -> None:
    observations = seen("approximate", code=code), seen("plain", ["miss"])
    found = refused_as_announced(expectation, world(*observations, capabilities=advertised(on_unenforceable)))
    assert (found is not None) == announced


def test_a_refusal_of_what_is_listed_is_not_announced() -> None:
    refused = seen("plain", code="cache_intent_unenforceable")
    assert refused_as_announced(about("plain"), world(refused)) is None


@pytest.mark.parametrize(
    ("outcomes", "other", "told"),
    [
        (["bypass"], seen("plain", ["miss"]), True),
        (["bypass"], seen("plain", ["bypass"]), False),
        (["bypass"], seen("plain"), False),
        (["bypass"], seen("request", ["miss"]), False),
        (["bypass"], seen("none", ["miss"]), False),
        (["bypass"], seen("forbid", ["miss"]), False),
        (["bypass"], seen("public", ["miss"]), False),
        (["miss"], seen("plain", ["miss"]), False),
    ],
)
def test_a_bypass_is_a_fallback_only_where_plain_reuse_is_not_called_so_too(
    outcomes: list[str], other: Observation, *, told: bool
) -> None:
    step = seen("approximate", outcomes)
    assert told_as_bypass(step, world(step, other)) == told
