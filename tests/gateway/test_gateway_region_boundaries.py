"""Where groups of fragments end in the prompt, as an engine renders them; and what is remembered of it."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.exceptions import TemplateError

from cctest.contract.sharing import Context
from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import OnUnenforceable
from gateway import templates
from gateway.region_engine import BLOCK, MODEL, RegionEngine
from gateway.talk import Json, intent, message, text, tool
from reference_gateway.engine import boundaries as module
from reference_gateway.engine.boundaries import CAPACITY, LIFETIME, RETRY_SECONDS, Boundaries
from reference_gateway.live.model import TEMPLATE
from reference_gateway.lowering.lowering import Lowering
from reference_gateway.lowering.regions import MOST_GROUPS, RegionLowering
from reference_gateway.lowering.salt import Salts
from reference_gateway.plan import make_plan
from reference_gateway.rendering.boundary import TokenBoundary, token_digest
from reference_gateway.rendering.rendered_order import BY_CONSTRUCTION
from reference_gateway.request.intake import read_chat_request

PUBLIC, TENANT = intent("public"), intent("tenant")
ALICE, FOREIGNER = Context("acme", "alice"), Context("globex", "alice")


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


class Asked:
    """The engine without HTTP. A `gate` that isn't open holds answers up."""

    def __init__(self, engine: RegionEngine) -> None:
        self.engine = engine
        self.gate = asyncio.Event()
        self.gate.set()
        self.status = 200

    async def ask(self, path: str, body: bytes) -> tuple[int, JsonValue] | None:
        await self.gate.wait()
        if self.status == 0:
            return None
        return self.engine.post(path, json.loads(body)) if self.status == 200 else (self.status, {})


class Desk:
    """Boundaries of one engine, and requests to ask them for."""

    def __init__(self, engine: RegionEngine) -> None:
        salts = Salts(b"0" * 32)
        self.lowering = RegionLowering(salts, Lowering(salts))
        self.asked = Asked(engine)
        self.clock = Clock()
        self.boundaries = Boundaries(self.asked, self.clock)

    @property
    def renders(self) -> int:
        return len(self.asked.engine.renders())

    async def ends(
        self, *fragments: Json, caller: Context = ALICE, seconds: float = 10.0, **members: Any
    ) -> tuple[TokenBoundary | None, ...]:
        body = {"model": MODEL, **bodied(fragments), **members}
        request = read_chat_request(json.dumps(body).encode())
        capabilities = self.lowering.capabilities(OnUnenforceable.BYPASS)
        plan = make_plan(request, caller, "r", capabilities, BY_CONSTRUCTION)
        return await self.boundaries.after(plan, self.lowering.groups(plan), BLOCK, seconds)


def bodied(fragments: Sequence[Json]) -> Json:
    tools = [one for one in fragments if "role" not in one]
    messages = [one for one in fragments if "role" in one]
    return {"tools": tools, "messages": messages} if tools else {"messages": messages}


def at_desk(play: Callable[[Desk], Awaitable[None]], **members: Any) -> None:
    async def run() -> None:
        await play(Desk(RegionEngine(**members)))

    asyncio.run(run())


words = st.text("abcQqZz01 \n", max_size=60)
PRIVATE = st.lists(
    st.tuples(st.sampled_from(["system", "user", "assistant"]), words, words), min_size=1, max_size=3
).map(lambda made: [message(f"{one}§{other}", TENANT, role=role) for role, one, other in made])
IN_PUBLIC = st.tuples(
    st.lists(words.map(lambda told: tool(f"f{told}", PUBLIC)), max_size=2),
    st.lists(words.map(lambda told: message(told, PUBLIC)), max_size=2),
).map(lambda both: [*both[0], *both[1]])
NAMES = [name for name in vars(templates) if name.isupper() and not name.startswith("_")]


def rendered(engine: RegionEngine, fragments: Sequence[Json]) -> list[int] | None:
    """Give the tokens of a request as it is forwarded; None for one that the template refuses."""
    forwarded = [{name: one[name] for name in one if name != "cache_intent"} for one in fragments]
    try:
        return engine.rendered(bodied(forwarded))
    except TemplateError:
        return None


@pytest.mark.parametrize("name", [*NAMES, "LIVE"])
@given(IN_PUBLIC.filter(bool), PRIVATE, PRIVATE)
def test_whatever_the_template_does_no_private_text_is_before_a_boundary(
    name: str, public: list[Json], private: list[Json], other: list[Json]
) -> None:
    async def play(desk: Desk) -> None:
        engine = desk.asked.engine
        (end,) = await desk.ends(*public, *private)
        if private[0]["role"] == other[0]["role"]:
            assert (end,) == await desk.ends(*public, *other)
        tokens = rendered(engine, [*public, *private])
        if end is not None and tokens is not None and token_digest(tokens[: end.tokens]) == end.digest:
            assert "§" not in engine.text(tokens[: end.tokens])

    at_desk(play, template=TEMPLATE if name == "LIVE" else getattr(templates, name))


@given(IN_PUBLIC.filter(bool), st.sampled_from(["system", "user", "assistant"]))
def test_where_the_template_keeps_the_order_all_whole_blocks_are_before_it(
    public: list[Json], role: str
) -> None:
    async def play(desk: Desk) -> None:
        engine = desk.asked.engine
        (end,) = await desk.ends(*public, message("private", TENANT, role=role))
        tokens = rendered(engine, [*public, message("§", role=role)])
        assert end is not None
        assert tokens is not None
        assert token_digest(tokens[: end.tokens]) == end.digest
        before = next(at for at, token in enumerate(tokens) if "§" in engine.text([token]))
        assert end.tokens <= before <= end.tokens + BLOCK

    at_desk(play)


def test_the_successor_of_a_call_is_its_result() -> None:
    async def play(desk: Desk) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        calling = {"role": "assistant", "content": text(20), "tool_calls": [call], "cache_intent": PUBLIC}
        result = message("private", TENANT, role="tool", tool_call_id="c1")
        (end,) = await desk.ends(message("x", PUBLIC), calling, result)
        assert end is not None
        assert end.tokens > 0
        assert all(one["messages"][-1]["tool_call_id"] == "c1" for one in desk.asked.engine.renders())
        assert await desk.ends(message(text(), PUBLIC), result) == (None,)  # to what call?

    at_desk(play)


def test_a_role_that_nobody_knows_has_no_boundary_before_it() -> None:
    async def play(desk: Desk) -> None:
        assert await desk.ends(message(text(), PUBLIC), message("x", TENANT, role="critic")) == (None,)

    at_desk(play)


def test_what_changes_how_fragments_are_rendered_goes_along() -> None:
    async def play(desk: Desk) -> None:
        fragments = (tool("f", PUBLIC), message(text(), PUBLIC), message("x", TENANT))
        (with_tools,) = await desk.ends(*fragments)
        (without,) = await desk.ends(*fragments, tool_choice="none")
        assert with_tools != without
        assert [one.get("tool_choice") for one in desk.asked.engine.renders()] == [None, None, "none", "none"]

    at_desk(play)


def test_nothing_is_sent_but_what_leads_and_two_sentinels() -> None:
    async def play(desk: Desk) -> None:
        leading = message("leading", PUBLIC, tenant="t", cache_salt="s")
        await desk.ends(leading, message("private", TENANT), message("more", TENANT))
        for body in desk.asked.engine.renders():
            first, second = body.pop("messages")
            assert first == {"role": "user", "content": "leading"}
            assert second.keys() == {"role", "content"}
            assert second["content"][:3] in ("Qq0", "Zz1")
            assert body == {"model": MODEL}

    at_desk(play)


def test_a_boundary_is_remembered_for_a_minute_and_no_longer_than_the_state() -> None:
    async def play(desk: Desk) -> None:
        for leading, lifetime in ((PUBLIC, LIFETIME), (intent("public", max_age=7), 7)):
            fragments = (message(text(), leading), message("x", TENANT))
            renders = desk.renders
            for wait, asked in ((0, 2), (lifetime - 1, 2), (1, 4)):
                desk.clock.now += wait
                await desk.ends(*fragments)
                assert desk.renders == renders + asked

    at_desk(play)


@pytest.mark.parametrize("status", [0, 400, 500, 503])
def test_where_there_is_none_it_is_asked_for_again_after_a_while(status: int) -> None:
    async def play(desk: Desk) -> None:
        fragments = (message(text(), PUBLIC), message("x", TENANT))
        desk.asked.status = status
        assert await desk.ends(*fragments) == (None,)
        desk.asked.status = 200
        desk.clock.now += RETRY_SECONDS - 1
        assert await desk.ends(*fragments) == (None,)
        desk.clock.now += 1
        assert await desk.ends(*fragments) != (None,)

    at_desk(play)


def test_whoever_may_not_share_the_state_finds_nothing_remembered() -> None:
    async def play(desk: Desk) -> None:
        for leading, again in ((TENANT, 2), (PUBLIC, 0)):
            fragments = (message(text(), leading), message("x", intent("principal")))
            await desk.ends(*fragments)
            renders = desk.renders
            await desk.ends(*fragments)
            assert desk.renders == renders
            await desk.ends(*fragments, caller=FOREIGNER)
            assert desk.renders == renders + again

    at_desk(play)


def test_one_question_is_asked_once_and_outlives_whoever_leaves() -> None:
    async def play(desk: Desk) -> None:
        fragments = (message(text(), PUBLIC), message("x", TENANT))
        desk.asked.gate.clear()
        first, second = (asyncio.create_task(desk.ends(*fragments)) for _ in range(2))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        desk.asked.gate.set()
        assert await second != (None,)
        assert desk.renders == 2

    at_desk(play)


def test_a_request_waits_no_longer_than_it_has_time() -> None:
    async def play(desk: Desk) -> None:
        fragments = (message(text(), PUBLIC), message("x", TENANT))
        desk.asked.gate.clear()
        assert await desk.ends(*fragments, seconds=0.01) == (None,)
        assert await desk.ends(*fragments, seconds=-1) == (None,)
        desk.asked.gate.set()
        assert await desk.ends(*fragments) != (None,)
        assert desk.renders == 2

    at_desk(play)


def test_an_engine_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SECONDS", 0.01)

    async def play(desk: Desk) -> None:
        desk.asked.gate.clear()
        assert await desk.ends(message(text(), PUBLIC), message("x", TENANT)) == (None,)
        await asyncio.sleep(0.05)
        assert len(asyncio.all_tasks()) == 1

    at_desk(play)


def test_what_an_engine_answers_after_it_was_forgotten_counts_for_nothing() -> None:
    async def play(desk: Desk) -> None:
        fragments = (message(text(), PUBLIC), message("x", TENANT))
        desk.asked.gate.clear()
        asking = asyncio.create_task(desk.ends(*fragments))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        desk.boundaries.forget()
        desk.asked.gate.set()
        assert await asking == (None,)
        await desk.ends(*fragments)
        assert desk.renders == 2

    at_desk(play)


def test_only_so_many_boundaries_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def play(desk: Desk) -> None:
        fragments = [message(text(20), intent(max_age=1000 - index)) for index in range(2 * MOST_GROUPS)]
        found = await desk.ends(*fragments)
        known = MOST_GROUPS - 1
        assert None not in found[:known]
        assert found[known:] == (None,) * (2 * MOST_GROUPS - 1 - known)
        assert desk.renders == 2 * known
        monkeypatch.setattr(module, "MOST_BYTES", 2000)
        long = [message("x" * 1500, PUBLIC), message("x", TENANT), message("x", intent("principal"))]
        one, other = await desk.ends(*long)
        assert one is not None
        assert other is None

    at_desk(play)


def test_only_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert CAPACITY >= 1000
    monkeypatch.setattr(module, "CAPACITY", 2)

    async def play(desk: Desk) -> None:
        first, second, third = ((message(text(), PUBLIC), message("x", TENANT)) for _ in range(3))
        for fragments in (first, second, first, third):
            await desk.ends(*fragments)
        renders = desk.renders
        await desk.ends(*first)
        assert desk.renders == renders
        await desk.ends(*second)
        assert desk.renders == renders + 2

    at_desk(play)
