"""The template: what of a fragment reaches the model, and how it is cut."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.talk import Json, intent, message, tool
from reference_gateway.in_process.render import TOKEN_BYTES, render, tokenize
from reference_gateway.request.intake import Fragment, Kind, read_chat_request


def rendered(fragment: Json) -> str:
    kind = Kind.MESSAGE if "role" in fragment else Kind.TOOL
    return render(Fragment(kind, "", fragment, None))


def test_an_intent_is_not_rendered() -> None:
    assert rendered(message("x", intent(id="secret-label"))) == rendered(message("x"))
    assert rendered(tool("t", intent(id="secret-label"))) == rendered(tool("t"))


def test_members_that_name_a_partition_are_not_rendered() -> None:
    named = {"cache_salt": "s", "tenant": "acme", "session": "x"}
    assert rendered({**message("x"), **named}) == rendered(message("x"))
    assert rendered({**tool("t"), **named}) == rendered(tool("t"))
    part: Json = {"type": "text", "text": "x"}
    assert rendered(message("", content=[{**part, **named}])) == rendered(message("", content=[part]))


def test_what_a_parameter_is_called_is_content() -> None:
    for name in ("cache_intent", "cache_salt"):
        assert f'"{name}":{{"type":"string"}}' in rendered(
            tool("t", None, {"properties": {name: {"type": "string"}}})
        )


def test_everything_else_that_a_template_reads_is_rendered() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "t", "arguments": '{"cache_intent":1}'}}
    fragments: list[Json] = [
        message("x"),
        message("y"),
        message("x", role="system"),
        message("x", name="n"),
        message("x", tool_call_id="c1"),
        message("x", refusal="no"),
        message("x", tool_calls=[call]),
        message("x", content=None),
        message("x", content=[{"type": "text", "text": "x"}]),
        message("x", content=[{"type": "image_url", "image_url": {"url": "data:,"}}]),
        tool("t"),
        tool("u"),
        tool("t", None, {"type": "object"}),
        {"type": "custom", "custom": {"name": "t", "format": {"type": "text"}}},
        {"type": "other"},
    ]
    assert len({rendered(fragment) for fragment in fragments}) == len(fragments)


def test_tools_are_rendered_before_messages_in_array_order() -> None:
    body = b'{"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "model": "embedded",'
    body += b'"tools": [{"type": "function", "function": {"name": "c"}}, {"type": "custom", "custom": {"name": "d"}}]}'
    order = [fragment.pointer for fragment in read_chat_request(body).fragments]
    assert order == ["/tools/0", "/tools/1", "/messages/0", "/messages/1"]


@given(st.text())
def test_tokens_are_short_and_lose_nothing(text: str) -> None:
    tokens = tokenize(text)
    assert b"".join(tokens).decode() == text
    assert all(1 <= len(token) <= TOKEN_BYTES for token in tokens)


@given(st.text(), st.text())
def test_two_texts_are_never_rendered_alike(one: str, two: str) -> None:
    assert (rendered(message(one)) == rendered(message(two))) == (one == two)
