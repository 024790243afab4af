import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cctest.probe.case import Attach, Case, FragmentSpec, Place, Role, Step
from cctest.probe.prompt import Setting, build, words
from cctest.target.credential import Credential

ALICE = Credential("alice", "token-of-alice", "acme", "alice", "s1")
INTENT = {
    "version": 1,
    "constraints": {"retention": {"mode": "allow"}, "reuse": "exact", "share_max": "tenant"},
}


def setting(place: str = "messages", stream: str = "plain", **intents: Any) -> Setting:
    case = Case(
        id="case",
        title="",
        rules=(),
        texts={"first": 0.1, "second": 0.1, "third": 0.1, "question": 0.05},
        intents=intents or {"tenant": INTENT},
        steps=(),
        expectations=(),
    )
    cell = {"place": place, "stream": stream}
    return Setting(case=case, cell=cell, nonce="n0nce", model="m", callers={Role.SELF: ALICE})


def body_of(given: Setting, *fragments: FragmentSpec, **more: Any) -> Any:
    return json.loads(build(given, Step("ask", Role.SELF, fragments, **more)).body)


QUESTION = FragmentSpec("question")


def test_a_cell_puts_governed_fragments_where_its_axis_says() -> None:
    fragment = FragmentSpec("first", "tenant")
    in_tools = body_of(setting("tools"), fragment, QUESTION)
    assert in_tools["tools"][0]["cache_intent"] == INTENT
    assert in_tools["tool_choice"] == "none"
    in_messages = body_of(setting("messages"), fragment, QUESTION)
    assert "tools" not in in_messages
    assert in_messages["messages"][0]["cache_intent"] == INTENT


@pytest.mark.parametrize("count", range(6))
def test_messages_alternate_and_end_with_the_users_question(count: int) -> None:
    fragments = [FragmentSpec("first") for _ in range(count)]
    roles = [message["role"] for message in body_of(setting(), *fragments, QUESTION)["messages"]]
    if roles[0] == "system":
        roles = roles[1:]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]


def test_fragments_are_described_in_binding_order() -> None:
    built = build(
        setting(),
        Step(
            "ask",
            Role.SELF,
            (FragmentSpec("first", place=Place.SYSTEM), FragmentSpec("second", place=Place.TOOLS), QUESTION),
        ),
    )
    assert [fragment.text for fragment in built.fragments] == ["second", "first", "question"]


def test_a_raw_intent_reaches_the_body_byte_for_byte() -> None:
    raw = '{"version": 1, "version": 2}, "cache_intent": NaN'
    built = build(setting(odd={"raw": raw}), Step("ask", Role.SELF, (FragmentSpec("first", "odd"), QUESTION)))
    assert f'"cache_intent": {raw}' in built.body.decode()


def test_an_intent_on_a_part_doesnt_govern_the_message() -> None:
    part = FragmentSpec("first", "tenant", Place.PARTS, Attach.PART)
    built = build(setting(), Step("ask", Role.SELF, (part,)))
    message = json.loads(built.body)["messages"][0]
    assert "cache_intent" not in message
    assert message["content"][0]["cache_intent"] == INTENT
    assert not built.fragments[0].governed


def test_a_streamed_cell_asks_for_usage_in_the_stream() -> None:
    streamed = body_of(setting(stream="streamed"), QUESTION)
    assert streamed["stream"] is True
    assert streamed["stream_options"] == {"include_usage": True}
    assert "stream" not in body_of(setting(), QUESTION)


def test_placeholders_are_filled_in_at_any_depth() -> None:
    sent = body_of(
        setting(),
        QUESTION,
        body={"metadata": {"who": ["${tenant:self}", "${session:self}"]}, "salt": "salt-${nonce}"},
    )
    assert sent["metadata"] == {"who": ["acme", "s1"]}
    assert sent["salt"] == "salt-n0nce"


def test_a_wide_namespace_has_256_characters() -> None:
    intent = {"version": 1, "constraints": {"namespace": "${wide:x}"}}
    sent = body_of(setting(wide=intent), FragmentSpec("first", "wide"), QUESTION)
    namespace = sent["messages"][0]["cache_intent"]["constraints"]["namespace"]
    assert len(namespace) == 256
    assert namespace.endswith("x")


def test_the_hints_maximum_becomes_a_number() -> None:
    intent = {"version": 1, "hints": {"reuse_within": "${hint_max:1}"}}
    sent = body_of(setting(hinted=intent), FragmentSpec("first", "hinted"), QUESTION)
    assert sent["messages"][0]["cache_intent"]["hints"] == {"reuse_within": 3601}


@given(st.text(max_size=8), st.text(max_size=8), st.text(max_size=8))
def test_texts_depend_on_nonce_and_name_alone(nonce: str, name: str, other: str) -> None:
    text = words(nonce, name, 40)
    assert text == words(nonce, name, 40)
    assert len(text.split()) == 40
    if other != name:
        assert words(nonce, other, 40)[:20] != text[:20]


def namespaces(body: Any) -> list[str | None]:
    fragments = [*body.get("tools", ()), *body["messages"]]
    intents = [one["cache_intent"] for one in fragments if "cache_intent" in one]
    return [one["constraints"].get("namespace") for one in intents]


@pytest.mark.parametrize("place", ["messages", "tools"])
def test_a_cell_tried_apart_names_one_namespace_of_its_own_and_keeps_those_that_are_named(place: str) -> None:
    named = {**INTENT, "constraints": {**INTENT["constraints"], "namespace": "tools:v1"}}  # type: ignore[dict-item]
    given = setting(place, tenant=INTENT, named=named)
    apart = replace(given, apart=True)
    one, two = FragmentSpec("first", "tenant"), FragmentSpec("second", "tenant")
    assert namespaces(body_of(given, one, two, QUESTION)) == [None, None]
    assert namespaces(body_of(apart, one, QUESTION)) == ["apart-n0nce"]
    assert namespaces(body_of(apart, one, two, QUESTION)) == ["apart-n0nce", None]
    assert namespaces(body_of(apart, FragmentSpec("first", "named"), two, QUESTION)) == ["tools:v1", None]


@pytest.mark.parametrize(("bound", "bounds"), [({}, False), ({"max_age": 0}, False), ({"max_age": 2}, True)])
def test_only_a_bound_that_leaves_time_to_reuse_state_in_counts_as_one(bound: Any, bounds: bool) -> None:
    constraints = {"retention": {"mode": "allow", **bound}, "reuse": "exact", "share_max": "tenant"}
    assert setting(tenant={"version": 1, "constraints": constraints}).case.bounds_an_age is bounds
    assert not setting(raw={"raw": "{"}).case.bounds_an_age
