"""A gateway in front of an engine with regions: what is shared, what isn't, and what is said of it."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from gateway.engine import forwarding
from gateway.process import running
from gateway.region_engine import MODEL, RegionEngine, Serving, serving
from gateway.talk import BOB, MONDAY, NAMESAKE, TUESDAY, Caller, Json, Reply, intent, message, text, tool
from gateway.templates import TOOLS_LAST
from reference_gateway.live.model import TEMPLATE

PUBLIC = intent("public")
OTHERS = {"tenant": NAMESAKE, "principal": BOB, "session": TUESDAY}
"""Somebody beyond each boundary of Alice's in her Monday session."""


@dataclass
class Setting:
    """An engine and a gateway in front of it."""

    served: Serving
    url: str
    log: Path

    @property
    def engine(self) -> RegionEngine:
        return self.served.engine

    def caller(self, token: str = MONDAY) -> Caller:
        return Caller(self.url, token, MODEL)

    def capabilities(self) -> Json:
        answer = requests.get(f"{self.url}/v1/cache_intent_capabilities", timeout=30)
        told: Json = answer.json()["cache_intent_capabilities"]
        return told

    def in_force(self) -> bool:
        told = self.capabilities()
        assert told["per_fragment_share"] == told["constraints"].get("retention_max_age", False)
        return bool(told["per_fragment_share"])

    def rendered_order(self) -> str:
        """What the gateway says of the order in which the model's template puts fragments."""
        answer = requests.get(
            f"{self.url}/v1/models", headers={"Authorization": f"Bearer {MONDAY}"}, timeout=30
        )
        return str(answer.json()["data"][0]["rendered_order"])

    def xargs(self) -> Json | None:
        """What the last chat request carried."""
        carried: Json | None = self.engine.chats()[-1].get("vllm_xargs")
        return carried


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


Start = Callable[..., Setting]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def started(engine: RegionEngine, *options: str) -> Setting:
            served = stack.enter_context(serving(engine))
            log = tmp_path / "log"
            url, _ = stack.enter_context(running(*forwarding(served.url, tmp_path), *options, log=log))
            return Setting(served, url, log)

        yield started


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    """An engine with regions in force; tests use texts of their own."""
    folder = tmp_path_factory.mktemp("regions")
    with ExitStack() as stack:
        served = stack.enter_context(serving(RegionEngine()))
        url, _ = stack.enter_context(running(*forwarding(served.url, folder), log=folder / "log"))
        setting = Setting(served, url, folder / "log")
        assert setting.in_force()
        yield setting


def ask(setting: Setting, token: str, *fragments: Json, **members: Any) -> Reply:
    reply = setting.caller(token).chat(*fragments, **members)
    assert reply.http == 200, reply.body
    return reply


def schema(words: int = 100) -> Json:
    one = tool("look_up", PUBLIC)
    one["function"]["description"] = text(words)
    return one


def test_a_public_prefix_is_shared_and_nothing_private_behind_it(both: Setting) -> None:
    tools, private = schema(), message(text(), intent("tenant"), role="system")
    first = ask(both, MONDAY, tools, private, message("hello"))
    assert first.each("outcome") == ["miss", "miss", "miss"]
    again = ask(both, MONDAY, tools, private, message("hello"))
    assert again.each("outcome")[:2] == ["exact_hit", "exact_hit"]
    assert again.each("effective_share") == ["public", "tenant", "tenant"]
    foreign = ask(both, NAMESAKE, tools, private, message("hello"))
    assert foreign.each("outcome") == ["exact_hit", "miss", "miss"]
    boundary = both.xargs()["salt_regions"][2]  # type: ignore[index]
    assert foreign.cached == boundary < again.cached
    assert foreign.each("retention") == ["retained", "unobserved", "unobserved"]
    colleague = ask(both, BOB, tools, private, message("hello"))
    assert colleague.cached == again.cached


def test_in_a_stream_too(both: Setting) -> None:
    fragments = (schema(), message(text(), intent("tenant")))
    ask(both, MONDAY, *fragments)
    reply = both.caller(NAMESAKE).chat(*fragments, stream=True)
    assert reply.chunks[-1]["cache_status"][0]["outcome"] == "exact_hit"
    assert reply.each("outcome") == ["exact_hit", "miss"]


@pytest.mark.parametrize("scope", ["tenant", "principal", "session"])
def test_each_scope_has_its_own_boundary(both: Setting, scope: str) -> None:
    fragments = [message(text(), intent(one)) for one in ("public", "tenant", "principal", "session")]
    ask(both, MONDAY, *fragments)
    foreign = ask(both, OTHERS[scope], *fragments)
    within = ["public", "tenant", "principal", "session"].index(scope)
    assert foreign.each("outcome") == ["exact_hit"] * within + ["miss"] * (4 - within)
    regions = both.xargs()["salt_regions"]  # type: ignore[index]
    assert len(regions) == 8
    assert foreign.cached == regions[2 * within]


@pytest.mark.parametrize(
    "last", [{"reuse": "none"}, {"mode": "forbid"}, {"max_age": 0}, {"share_max": "request"}]
)
def test_what_must_not_be_reused_is_in_nobodys_partition(both: Setting, last: Json) -> None:
    fragments = (message(text(), PUBLIC), message(text(), intent(**last)), message(text(), PUBLIC))
    for _ in range(2):
        reply = ask(both, MONDAY, *fragments)
    boundary = both.xargs()["salt_regions"][2]  # type: ignore[index]
    assert reply.cached == boundary
    assert reply.each("outcome") == ["exact_hit", "bypass", "bypass"]
    assert reply.each("effective_share") == ["public", "request", "request"]
    assert reply.each("retention")[0] == "retained"
    assert "retained" not in reply.each("retention")[1:]
    rendered = json.dumps(both.engine.renders())
    assert fragments[0]["content"] in rendered
    assert fragments[1]["content"] not in rendered
    assert fragments[2]["content"] not in rendered


def test_a_bound_is_kept_by_the_engine_on_either_side_of_a_boundary(start: Start) -> None:
    setting = start(RegionEngine())
    fragments = (message(text(), intent("public", max_age=30)), message(text(), intent("tenant", max_age=10)))
    ask(setting, MONDAY, *fragments)
    carried = setting.xargs()
    assert carried is not None
    assert carried["salt_region_max_age_ms"] == [30_000, 10_000]
    setting.engine.late += 9
    assert ask(setting, MONDAY, *fragments).each("outcome")[0] == "exact_hit"
    assert ask(setting, MONDAY, *fragments).cached > carried["salt_regions"][2]
    setting.engine.late += 2
    expired = ask(setting, MONDAY, *fragments)
    assert expired.each("outcome") == ["exact_hit", "miss"]
    setting.engine.late += 20
    assert ask(setting, MONDAY, *fragments).each("outcome") == ["miss", "miss"]


def test_a_bound_on_all_of_a_request_needs_no_boundary(both: Setting) -> None:
    renders = len(both.engine.renders())
    ask(both, MONDAY, message(text(), intent("tenant", max_age=30)), message("x"))
    carried = both.xargs()
    assert carried is not None
    assert (carried["salt_region_digests"], carried["salt_region_max_age_ms"]) == ([], [30_000])
    assert len(both.engine.renders()) == renders


def test_bounded_state_is_met_by_nobody_without_that_bound(both: Setting) -> None:
    words = text()
    for bounds in (intent(), intent(max_age=700), intent(max_age=701)):
        assert ask(both, MONDAY, message(words, bounds)).cached == 0


def test_the_salt_beside_regions_is_the_one_that_there_would_be_without(both: Setting) -> None:
    words = text()
    ask(both, MONDAY, message(words, intent("tenant")))
    flat = both.engine.chats()[-1]
    ask(both, MONDAY, schema(), message(words, intent("tenant")))
    assert both.engine.chats()[-1]["cache_salt"] == flat["cache_salt"]
    assert "vllm_xargs" not in flat


def test_a_caller_names_no_regions(both: Setting) -> None:
    own = {"salt_regions": [0, "mine"], "salt_region_digests": []}
    ask(both, MONDAY, message(text(), intent()), vllm_xargs=own)
    assert both.xargs() is None
    ask(both, MONDAY, schema(), message(text(), intent()), vllm_xargs=own, cache_salt="mine")
    assert "mine" not in json.dumps(both.engine.chats()[-1])


def test_boundaries_are_found_out_once(both: Setting) -> None:
    tools = schema()
    before = len(both.engine.renders())
    for token in (MONDAY, BOB, NAMESAKE):
        ask(both, token, tools, message(text(), intent("tenant")))
    assert len(both.engine.renders()) == before + 2
    renders = json.dumps(both.engine.renders()[before:])
    assert "cache_intent" not in renders
    assert "Qq0" in renders
    assert "Zz1" in renders


def test_a_boundary_known_to_one_tenant_is_not_known_to_another(both: Setting) -> None:
    fragments = (message(text(), intent("tenant")), message("x", intent("principal")))
    for token, renders in ((MONDAY, 2), (BOB, 0), (NAMESAKE, 2)):
        before = len(both.engine.renders())
        ask(both, token, *fragments)
        assert len(both.engine.renders()) == before + renders


@pytest.mark.parametrize("absent", [404, 403], ids=["unknown", "forbidden, as by vLLM 0.32"])
def test_tokenize_will_do(start: Start, absent: int) -> None:
    setting = start(RegionEngine(has_render=False, absent=absent))
    tools = schema()
    ask(setting, MONDAY, tools, message(text(), intent("tenant")))
    assert ask(setting, NAMESAKE, tools, message(text(), intent("tenant"))).each("outcome")[0] == "exact_hit"


def test_where_boundaries_cannot_be_had_there_is_one_salt(start: Start) -> None:
    setting = start(RegionEngine())
    setting.engine.has_render = setting.engine.has_tokenize = False
    fragments = (schema(), message(text(), intent("tenant")))
    assert ask(setting, MONDAY, *fragments).each("effective_share") == ["tenant", "tenant"]
    assert setting.xargs() is None
    assert ask(setting, NAMESAKE, *fragments).cached == 0
    assert ask(setting, MONDAY, *fragments).cached > 0


def test_a_template_that_changed_costs_reuse_and_nothing_else(start: Start) -> None:
    setting = start(RegionEngine())
    fragments = (schema(), message(text(), intent("tenant")))
    ask(setting, MONDAY, *fragments)
    setting.engine.template = "It is another day. " + setting.engine.template
    assert ask(setting, MONDAY, *fragments).cached == 0
    assert ask(setting, NAMESAKE, *fragments).cached == 0
    assert ask(setting, MONDAY, *fragments).cached > 0


def test_an_engine_started_anew_without_the_plugin_isolates_and_is_told_of(start: Start) -> None:
    setting = start(RegionEngine())
    fragments = (schema(), message(text(), intent("tenant")))
    bounded = message(text(), intent("tenant", max_age=60))
    ask(setting, MONDAY, *fragments)
    ask(setting, MONDAY, bounded)
    setting.served.start_anew(plugin=False)
    for _ in range(2):
        # the first of them is what tells the gateway
        assert setting.caller(MONDAY).chat(*fragments).http in (200, 502)
    assert ask(setting, NAMESAKE, *fragments).cached == 0
    until(lambda: "cache regions are not in force" in setting.log.read_text())
    assert not setting.in_force()
    assert [ask(setting, MONDAY, bounded).each("outcome") for _ in range(2)] == [["bypass"], ["bypass"]]
    setting.served.start_anew(plugin=True)
    until(setting.in_force)
    ask(setting, MONDAY, *fragments)
    assert ask(setting, NAMESAKE, *fragments).each("outcome") == ["exact_hit", "miss"]


def test_an_engine_that_only_says_so_is_not_believed(start: Start) -> None:
    setting = start(RegionEngine(ignores_regions=True))
    assert not setting.in_force()
    assert "it reused [0, 0, 64, 0] tokens" in setting.log.read_text()
    ask(setting, MONDAY, schema(), message(text(), intent("tenant")))
    assert setting.xargs() is None


def test_of_an_engine_without_the_plugin_nothing_is_said(start: Start) -> None:
    setting = start(RegionEngine(plugin=False))
    assert not setting.in_force()
    assert setting.log.read_text() == ""


def test_they_can_be_turned_off(start: Start) -> None:
    setting = start(RegionEngine(), "--regions", "off")
    assert not setting.in_force()
    ask(setting, MONDAY, schema(), message(text(), intent("tenant")))
    assert setting.xargs() is None


def test_what_a_request_is_refused_for_names_no_salt(start: Start) -> None:
    setting = start(RegionEngine())
    engine = setting.engine
    engine.template = (
        "{% if messages[0].content == 'bad' %}{{ raise_exception(salt) }}{% endif %}" + engine.template
    )

    def betray(path: str, body: Json) -> None:
        if path == "/v1/chat/completions" and "vllm_xargs" in body:
            salt = body["vllm_xargs"]["salt_regions"][1]
            engine.template = f"{{{{ raise_exception('input ...{salt[-20:]}') }}}}"

    engine.before = betray
    reply = setting.caller().chat(schema(), message(text(), intent("tenant")))
    assert (reply.http, reply.error["message"]) == (400, "the engine refused the request")


def test_how_long_private_text_is_is_nothing_to_strangers(start: Start) -> None:
    """A template that tells lengths before everything else: whoever guesses it would find the public prefix."""
    setting = start(RegionEngine(template="{{ messages[-1].content | length }} letters. " + TEMPLATE))
    for length in range(1, 24):
        tools = schema()
        for token in (MONDAY, NAMESAKE):
            private = message("~" * length, intent("tenant"))
            assert ask(setting, token, tools, private).cached == 0, length


def test_a_template_that_came_with_the_plugin_is_surveyed(start: Start) -> None:
    """The engine was started anew between two looks, so nobody saw it away."""
    setting = start(RegionEngine(plugin=False))
    assert setting.rendered_order() == "declared"
    setting.engine.template = TOOLS_LAST
    setting.engine.start_anew(plugin=True)
    until(setting.in_force)
    assert setting.rendered_order() != "declared"
