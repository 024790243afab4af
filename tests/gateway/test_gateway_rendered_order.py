"""The rendered order of a model, established against real templates (CMP-11, BND-2)."""

import asyncio

import pytest

from gateway import templates
from gateway.rendering_engine import RenderingEngine, environment, serving
from gateway.talk import message, tool
from reference_gateway.intake import Fragment, Kind
from reference_gateway.order_survey import survey
from reference_gateway.rendered_order import (
    BY_CONSTRUCTION,
    NOT_SURVEYED,
    Order,
    RenderedOrder,
    Rendering,
    judge,
)
from reference_gateway.sentinels import Conversation, conversations
from reference_gateway.upstream import Upstream


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
    "TOOLS_IN_THE_SYSTEM_TURN": "seen: messages/0, tools/0",
    "TOOLS_BEFORE_THE_LAST_USER_MESSAGE": "seen: messages/0, messages/1, tools/0",
    "TOOLS_LAST": "seen: messages/0, tools/0",
    "TOOLS_IGNORED": "tools/0 does not appear",
    "TOOLS_SORTED": "seen: tools/2, tools/0, tools/1",
    "TOOLS_REPEATED_AT_THE_END": "before the end of tools/",
    "SYSTEM_HOISTED": "a late system message",
    "SYSTEM_MERGED_INTO_THE_FIRST": "a late system message",
    "SYSTEM_IN_THE_LAST_USER_MESSAGE": "messages/0",
    "EARLIER_TURNS_DROPPED": "a dialogue: messages/0 does not appear",
}


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
def test_any_other_template_is_recognised_and_what_was_seen_is_told(name: str, has_render: bool) -> None:
    engine = RenderingEngine(getattr(templates, name))
    engine.has_render = has_render
    found = surveyed(engine)
    assert found.order is Order.OTHER
    assert OTHERWISE[name] in found.why


@pytest.mark.parametrize("has_render", [True, False], ids=["render", "tokenize"])
def test_an_engine_that_calls_tools_is_asked_as_callers_would(has_render: bool) -> None:
    engine = RenderingEngine(templates.TOOLS_FIRST)
    engine.has_tool_parser, engine.has_render = True, has_render
    assert surveyed(engine).order is Order.DECLARED


def test_a_conversation_that_the_engine_refuses_shows_nothing_and_is_no_fault() -> None:
    found = surveyed(RenderingEngine(templates.STRICT))
    assert found.why == "seen in 6 of 10 conversations"


def test_without_the_plainest_conversations_nothing_is_established() -> None:
    found = surveyed(RenderingEngine(templates.NO_TEMPLATE_AT_ALL))
    assert found.order is Order.NOT_ESTABLISHED
    assert found.why == "a dialogue: the engine refused to render it: there is no chat template"


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
    assert surveyed(engine).order is Order.OTHER


def test_what_stands_in_a_prompt_is_judged_by_every_word_of_a_fragment() -> None:
    renderings = [rendered(templates.TOOLS_FIRST, one) for one in conversations()]
    assert judge(renderings).order is Order.DECLARED
    last = renderings[-1]
    assert last.prompt is not None
    repeated = Rendering(last.conversation, last.prompt + last.conversation.fragments[0].markers[-1])
    assert judge([*renderings[:-1], repeated]).order is Order.OTHER


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


def test_an_order_holds_for_the_roles_that_were_surveyed() -> None:
    declared = RenderedOrder(Order.DECLARED, "")
    known = Fragment(Kind.MESSAGE, "/messages/0", message("x"), None)
    called = Fragment(Kind.TOOL, "/tools/0", tool("f"), None)
    unknown = Fragment(Kind.MESSAGE, "/messages/1", message("x") | {"role": "critic"}, None)
    assert declared.holds_for([called, known])
    assert not declared.holds_for([called, known, unknown])
    assert not NOT_SURVEYED.holds_for([known])
    assert BY_CONSTRUCTION.holds_for([known])
