"""The rendered order of a model, established against real templates (CMP-11, BND-2)."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests

from gateway import templates
from gateway.engine import forwarding
from gateway.process import running
from gateway.rendering_engine import RenderingEngine, environment, serving
from gateway.talk import MONDAY, Json, intent, message, tool
from reference_gateway.engine.order_survey import survey
from reference_gateway.engine.orders import RETRY_SECONDS, Orders
from reference_gateway.engine.upstream import Upstream
from reference_gateway.rendering.rendered_order import (
    BY_CONSTRUCTION,
    NOT_SURVEYED,
    Order,
    RenderedOrder,
    Rendering,
    judge,
)
from reference_gateway.rendering.sentinels import Conversation, Trait, conversations, shape_of
from reference_gateway.request.intake import Fragment, Kind


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def rendered(template: str, conversation: Conversation) -> Rendering:
    prompt = (
        environment()
        .from_string(template)
        .render(
            messages=conversation.elements(Kind.MESSAGE),
            tools=conversation.elements(Kind.TOOL) or None,
            add_generation_prompt=True,
        )
    )
    return Rendering(conversation, prompt)


def surveyed(engine: RenderingEngine, model: str = "rendered") -> RenderedOrder:
    async def ask(url: str) -> RenderedOrder:
        upstream = Upstream(url, deadline=10.0)
        async with upstream.connected():
            return await survey(upstream, model)

    with serving(engine) as url:
        return asyncio.run(ask(url))


IN_DECLARED_ORDER = ("TOOLS_FIRST", "DATED", "STRICT")
OTHERWISE = {
    "TOOLS_IN_THE_SYSTEM_TURN": ("system message, tools", "seen: messages/0, tools/0"),
    "TOOLS_BEFORE_THE_LAST_USER_MESSAGE": ("tools", "seen: messages/0, messages/1, tools/0"),
    "TOOLS_LAST": ("tools", "seen: messages/0, messages/1, messages/2, tools/0"),
    "TOOLS_IGNORED": ("tools", "tools/0 does not appear"),
    "TOOLS_SORTED": ("tools", "seen: tools/2, tools/0, tools/1"),
    "TOOLS_REPEATED_AT_THE_END": ("tools", "before the end of tools/"),
    "SYSTEM_HOISTED": ("late instructions", "seen: messages/2, messages/4, messages/0"),
    "SYSTEM_MERGED_INTO_THE_FIRST": ("late instructions", "seen: messages/2, messages/0"),
    "SYSTEM_IN_THE_LAST_USER_MESSAGE": ("system message", "seen: messages/1, messages/2, messages/0"),
}
ALSO = {"SYSTEM_IN_THE_LAST_USER_MESSAGE": ("late instructions",)}
"""What the requests have in common that such a template renders in another order, and what is told of it."""


@pytest.mark.parametrize("name", IN_DECLARED_ORDER)
@pytest.mark.parametrize("has_render", [True, False], ids=["render", "tokenize"])
def test_a_template_that_puts_tools_first_and_messages_in_order_is_recognised(
    name: str, has_render: bool
) -> None:
    engine = RenderingEngine(getattr(templates, name))
    engine.has_render = has_render
    assert surveyed(engine).order is Order.DECLARED


@pytest.mark.parametrize("name", OTHERWISE)
@pytest.mark.parametrize("has_render", [True, False], ids=["render", "tokenize"])
def test_any_other_is_recognised_and_trusted_for_just_the_requests_that_it_renders_in_order(
    name: str, has_render: bool
) -> None:
    engine = RenderingEngine(getattr(templates, name))
    engine.has_render = has_render
    found = surveyed(engine)
    assert found.order is Order.PARTLY
    traits, seen = OTHERWISE[name]
    assert found.why.startswith(f"a dialogue with {traits}: ")
    assert seen in found.why
    elsewhere = [set(map(Trait, one.split(", "))) for one in (traits, *ALSO.get(name, ()))]
    expected = {one.shape for one in conversations() if not any(some <= one.shape for some in elsewhere)}
    assert set(found.shapes or ()) == expected


def test_a_template_that_renders_not_even_a_plain_dialogue_in_order_is_trusted_for_nothing() -> None:
    found = surveyed(RenderingEngine(templates.EARLIER_TURNS_DROPPED))
    assert found.order is Order.OTHER
    assert found.why == "a plain dialogue: messages/0 does not appear in the model input"
    assert found.shapes == frozenset()


@pytest.mark.parametrize("has_render", [True, False], ids=["render", "tokenize"])
def test_an_engine_that_calls_tools_is_asked_as_callers_would(has_render: bool) -> None:
    engine = RenderingEngine(templates.TOOLS_FIRST)
    engine.has_tool_parser, engine.has_render = True, has_render
    assert surveyed(engine).order is Order.DECLARED


def test_a_conversation_that_the_engine_refuses_shows_nothing_and_is_no_fault() -> None:
    found = surveyed(RenderingEngine(templates.STRICT))
    assert found.why == "seen in 8 of 32 conversations"
    assert found.shapes is not None
    assert not any({Trait.LATE, Trait.DEVELOPER} & shape for shape in found.shapes)


def test_where_the_engine_refuses_everything_nothing_is_established() -> None:
    found = surveyed(RenderingEngine(templates.NO_TEMPLATE_AT_ALL))
    assert found.order is Order.NOT_ESTABLISHED
    assert found.why == "the engine renders nothing: there is no chat template"


def test_an_engine_without_either_end_point_leaves_it_open() -> None:
    engine = RenderingEngine(templates.TOOLS_FIRST)
    engine.has_tokenize = False
    found = surveyed(engine)
    assert found.order is Order.NOT_ESTABLISHED
    assert found.why == "the engine has no /v1/chat/completions/render; the engine has no /tokenize"


def test_an_engine_that_fails_or_does_not_answer_leaves_it_open() -> None:
    engine = RenderingEngine(templates.TOOLS_FIRST)
    engine.up = False
    found = surveyed(engine)
    assert found.order is Order.NOT_ESTABLISHED
    assert "failed with status 503" in found.why


def test_tokenizing_that_renders_otherwise_than_chat_establishes_nothing() -> None:
    engine = RenderingEngine(templates.TOOLS_FIRST)
    engine.chat_template = templates.TOOLS_IN_THE_SYSTEM_TURN
    found = surveyed(engine)
    assert found.order is Order.NOT_ESTABLISHED
    assert "/tokenize renders otherwise than chat does" in found.why
    engine.has_render = True
    assert surveyed(engine).order is Order.PARTLY


def test_what_stands_in_a_prompt_is_judged_by_every_word_of_a_fragment() -> None:
    renderings = [rendered(templates.TOOLS_FIRST, one) for one in conversations()]
    assert judge(renderings).order is Order.DECLARED
    last = renderings[-1]
    assert last.prompt is not None
    repeated = Rendering(last.conversation, last.prompt + last.conversation.fragments[0].markers[-1])
    judged = judge([*renderings[:-1], repeated])
    assert judged.order is Order.PARTLY
    assert set(judged.shapes or ()) == {one.conversation.shape for one in renderings[:-1]}


def test_no_renderings_establish_nothing() -> None:
    assert judge([]).order is Order.NOT_ESTABLISHED


def test_markers_are_drawn_anew_for_each_survey_and_never_twice() -> None:
    words = [
        marker
        for made in (conversations(), conversations())
        for conversation in made
        for fragment in conversation.fragments
        for marker in fragment.markers
    ]
    assert len(set(words)) == len(words)


SEEN = RenderedOrder(
    Order.PARTLY, "", frozenset({frozenset(), frozenset({Trait.TOOLS, Trait.SYSTEM, Trait.CALLS})})
)
CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ASKED = message("x")
SYSTEM = message("x", role="system")
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL], "refusal": None, "annotations": []}
RESULT = {"role": "tool", "content": "x", "tool_call_id": "c"}


def fragments(*values: Any) -> list[Fragment]:
    return [Fragment(Kind.MESSAGE if "role" in one else Kind.TOOL, "", one, None) for one in values]


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        ([ASKED], set()),
        ([ASKED, message("x", role="assistant", reasoning_content="y"), ASKED], set()),
        ([message("", content=[{"type": "text", "text": "x"}], name="n", cache_intent=intent())], set()),
        ([tool("f"), ASKED], {Trait.TOOLS}),
        ([SYSTEM, SYSTEM, ASKED], {Trait.SYSTEM}),
        ([message("x", role="developer"), ASKED], {Trait.DEVELOPER}),
        ([ASKED, SYSTEM], {Trait.LATE}),
        ([SYSTEM, ASKED, message("x", role="developer")], {Trait.SYSTEM, Trait.LATE}),
        ([ASKED, CALLING, RESULT, SYSTEM], {Trait.CALLS, Trait.LATE}),
    ],
)  # fmt: skip
def test_the_shape_of_a_request_is_what_templates_tell_requests_apart_by(
    values: list[Json], shape: set[Trait]
) -> None:
    assert shape_of(fragments(*values)) == frozenset(shape)


@pytest.mark.parametrize(
    "value",
    [
        message("x", role="critic"),
        message("x", role="function"),
        message("x", role="developer", tools=[tool("f")]),
        message("", content=[{"type": "image_url", "image_url": {"url": "data:"}}]),
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
        {"type": "custom", "custom": {"name": "f"}},
    ],
)
def test_what_no_sentinel_has_is_of_no_known_shape(value: Json) -> None:
    assert shape_of(fragments(ASKED, value)) is None
    assert not SEEN.holds_for(fragments(ASKED, value))
    assert BY_CONSTRUCTION.holds_for(fragments(ASKED, value))


def test_an_order_holds_for_exactly_the_shapes_in_which_it_was_seen() -> None:
    assert SEEN.holds_for(fragments(ASKED))
    assert SEEN.holds_for(fragments(tool("f"), SYSTEM, ASKED, CALLING, RESULT))
    assert not SEEN.holds_for(fragments(tool("f"), SYSTEM, ASKED))
    assert not NOT_SURVEYED.holds_for(fragments(ASKED))


def test_sentinels_have_the_shape_that_they_stand_for() -> None:
    made = list(conversations())
    assert len({one.shape for one in made}) == 2 ** len(Trait)
    for one in made:
        values = [*one.elements(Kind.TOOL), *one.elements(Kind.MESSAGE)]
        assert shape_of(fragments(*values)) == one.shape


def kept(engine: RenderingEngine, follow: Callable[[Orders, Clock], Awaitable[None]]) -> None:
    async def run(url: str) -> None:
        upstream, clock = Upstream(url, deadline=10.0), Clock()
        async with upstream.connected():
            await follow(Orders(upstream, clock), clock)

    with serving(engine) as url:
        asyncio.run(run(url))


def test_models_are_surveyed_again_when_their_list_changes_or_the_engine_was_away() -> None:
    engine = RenderingEngine(templates.TOOLS_FIRST)

    async def follow(orders: Orders, _: Clock) -> None:
        assert orders.of("rendered") == NOT_SURVEYED
        await orders.refresh(["rendered"])
        assert orders.of("rendered").order is Order.DECLARED
        assert orders.of("another") == NOT_SURVEYED
        asked = len(engine.asked)
        await orders.refresh(["rendered"])
        assert len(engine.asked) == asked
        engine.template = templates.TOOLS_LAST
        await orders.refresh(["rendered", "another"])
        assert {orders.of(model).order for model in ("rendered", "another")} == {Order.PARTLY}
        engine.template = templates.TOOLS_FIRST
        orders.forget()
        assert orders.of("rendered") == NOT_SURVEYED
        await orders.refresh(["rendered", "another"])
        assert orders.of("another").order is Order.DECLARED

    kept(engine, follow)


def test_a_survey_that_established_nothing_is_repeated_after_a_while() -> None:
    engine = RenderingEngine(templates.TOOLS_FIRST)
    engine.up = False

    async def follow(orders: Orders, clock: Clock) -> None:
        await orders.refresh(["rendered"])
        engine.up = True
        await orders.refresh(["rendered"])
        assert orders.of("rendered").order is Order.NOT_ESTABLISHED
        clock.now += RETRY_SECONDS
        await orders.refresh(["rendered"])
        assert orders.of("rendered").order is Order.DECLARED

    kept(engine, follow)


@pytest.mark.parametrize(
    ("template", "order"), [(templates.TOOLS_FIRST, "declared"), (templates.TOOLS_LAST, "partly declared")]
)
def test_a_gateway_surveys_at_its_start_and_tells_it_with_the_models(
    tmp_path: Path, template: str, order: str
) -> None:
    with (
        serving(RenderingEngine(template)) as engine_url,
        running(*forwarding(engine_url, tmp_path), "--log", "none") as (url, _),
    ):
        headers = {"Authorization": f"Bearer {MONDAY}"}
        told = requests.get(f"{url}/v1/models", headers=headers, timeout=10).json()
        assert [(one["id"], one["rendered_order"]) for one in told["data"]] == [("rendered", order)]
