"""Which intents are refused, with which code, and where the message says the fault is."""

import json
from typing import Any

import pytest

from gateway.talk import Caller, Json, intent, message, tool
from reference_gateway.request.misplaced import misplaced_intent

INVALID = "cache_intent_invalid"
UNSUPPORTED = "cache_intent_unsupported_version"


def changed(path: str, value: Any) -> Json:
    """A valid intent with one member set, or taken out if the value is `...`."""
    made = intent(max_age=60, namespace="n", id="i")
    *parents, last = path.split("/")
    place: Json = made
    for name in parents:
        place = place[name]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return made


@pytest.mark.parametrize(
    ("path", "value", "pointer"),
    [
        ("constraints/retention/max_age", -1, "/constraints/retention/max_age"),
        ("constraints/retention/mode", "forbid", "/constraints/retention/max_age"),
        ("constraints/retention", ..., "/constraints"),
        ("constraints/reuse", "Exact", "/constraints/reuse"),
        ("constraints/share_max", "world", "/constraints/share_max"),
        ("constraints/pin", True, "/constraints/pin"),
        ("constraints/namespace", "n" * 257, "/constraints/namespace"),
        ("constraints/namespace", "", "/constraints/namespace"),
        ("constraints", ..., ""),
        ("id", "", "/id"),
        ("id", None, "/id"),
        ("id", "i" * 257, "/id"),
        ("version", ..., ""),
        ("version", True, "/version"),
        ("version", 0, "/version"),
        ("hints", [], "/hints"),
        ("extra", 1, "/extra"),
    ],
)
@pytest.mark.parametrize("place", ["message", "tool"])
def test_an_invalid_intent_is_refused_and_the_place_named(
    caller: Caller, path: str, value: Any, pointer: str, place: str
) -> None:
    bad = changed(path, value)
    fragments = [message("x", bad)] if place == "message" else [message("x"), tool("t", bad)]
    reply = caller.chat(*fragments)
    assert (reply.http, reply.error["code"]) == (400, INVALID)
    where = f"/{'messages' if place == 'message' else 'tools'}/0/cache_intent{pointer}"
    assert reply.error["param"] == where
    assert where in reply.error["message"]


@pytest.mark.parametrize("value", [None, 1, "x", [], True, {}])
def test_an_intent_that_is_no_intent_is_invalid(caller: Caller, value: Any) -> None:
    reply = caller.post({"model": "embedded", "messages": [{**message("x"), "cache_intent": value}]})
    assert (reply.http, reply.error["code"]) == (400, INVALID)


def test_an_unknown_version_has_a_code_of_its_own(caller: Caller) -> None:
    reply = caller.chat(message("x", changed("version", 2)))
    assert (reply.http, reply.error["code"]) == (400, UNSUPPORTED)


@pytest.mark.parametrize(("path", "value"), [("version", 1.0), ("constraints/retention/max_age", 60.0)])
def test_an_integral_float_is_an_integer(caller: Caller, path: str, value: float) -> None:
    assert caller.chat(message("x", changed(path, value))).http == 200


@pytest.mark.parametrize(
    "hints", [{"reuse_within": -1}, {"reuse_within": "300"}, {"reuse_within": True}, {"new": [1]}]
)
def test_a_hint_that_is_malformed_or_unknown_is_no_fault(caller: Caller, hints: Json) -> None:
    assert caller.chat(message("x", intent(hints=hints))).http == 200


def test_the_same_id_twice_is_invalid(caller: Caller) -> None:
    reply = caller.chat(tool("t", intent(id="i")), message("x", intent(id="i")))
    assert (reply.http, reply.error["code"]) == (400, INVALID)
    assert reply.error["param"] == "/messages/0/cache_intent/id"


def test_the_first_fragment_at_fault_is_told(caller: Caller) -> None:
    bad_message, bad_tool = message("x", changed("version", 2)), tool("t", changed("id", ""))
    assert caller.chat(bad_message, bad_tool).error["param"] == "/tools/0/cache_intent/id"


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"messages": [message("x", content=[{"type": "text", "text": "x", "cache_intent": intent()}])]},
         "/messages/0/content/0/cache_intent"),
        ({"cache_intent": intent()}, "/cache_intent"),
        ({"stream_options": {"cache_intent": intent()}}, "/stream_options/cache_intent"),
        ({"unknown": [{"cache_intent": 1}]}, "/unknown/0/cache_intent"),
        ({"tools": [{"type": "function", "function": {"name": "t", "cache_intent": intent()}}]},
         "/tools/0/function/cache_intent"),
        ({"messages": [message("x", tool_calls=[{"id": "c", "type": "function", "cache_intent": intent(),
                                                 "function": {"name": "t", "arguments": "{}"}}])]},
         "/messages/0/tool_calls/0/cache_intent"),
        ({"messages": [message("x", tool_calls=[{"id": "c", "type": "function",
                                                 "function": {"name": "t", "cache_intent": None}}])]},
         "/messages/0/tool_calls/0/function/cache_intent"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_an_intent_anywhere_but_on_a_fragment_is_invalid(caller: Caller, members: Json, pointer: str) -> None:
    reply = caller.post({"model": "embedded", "messages": [message("x")], **members})
    assert (reply.http, reply.error["code"], reply.error["param"]) == (400, INVALID, pointer)


def test_inside_content_the_name_means_nothing(caller: Caller) -> None:
    parameters = {"type": "object", "properties": {"cache_intent": {"type": "string"}, "cache_salt": {}}}
    call = {"id": "c", "type": "function", "function": {"name": "t", "arguments": '{"cache_intent": 1}'}}
    reply = caller.chat(
        tool("t", parameters=parameters),
        message('{"cache_intent": 1}'),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        response_format={"type": "json_schema", "json_schema": {"name": "s", "schema": parameters}},
        metadata={"cache_intent": "x"},
    )
    assert reply.http == 200
    assert "cache_status" not in reply.body


@pytest.mark.parametrize(
    "body",
    [
        '{"model": "embedded", "model": "embedded", "messages": [{"role": "user", "content": "x"}]}',
        '{"model": "embedded", "messages": [{"role": "user", "content": "x", "c\\u006fntent": "x"}]}',
        '{"model": "embedded", "messages": [{"role": "user", "content": "x", "cache_intent": INTENT, '
        '"cache\\u005fintent": INTENT}]}',
        '{"model": "embedded", "messages": [{"role": "user", "content": "x", "cache_intent": '
        '{"version": 1, "version": 2}}]}',
        '{"model": "embedded", "messages": [{"role": "user", "content": "x", "cache_intent": {"version": NaN}}]}',
        '{"model": "embedded", "messages": [{"role": "user", "content": "x", "cache_intent": {"id": "\\ud800"}}]}',
    ],
)
def test_a_name_given_twice_and_bad_json_within_an_intent_are_invalid_intents(
    caller: Caller, body: str
) -> None:
    reply = caller.post(body.replace("INTENT", json.dumps(intent())).encode())
    assert (reply.http, reply.error["code"]) == (400, INVALID)
    assert reply.error["param"]


def test_a_message_that_quotes_the_caller_at_length_is_cut(caller: Caller) -> None:
    reply = caller.chat(message("x", changed("x" * 5000, 1)))
    assert reply.error["code"] == INVALID
    assert len(reply.error["message"]) < 1000


def test_a_long_name_over_many_values_costs_no_square() -> None:
    """To copy the name for each value would take minutes."""
    assert misplaced_intent({"n" * 20_000_000: [[]] * 500_000}, "", ()) is None
    found = misplaced_intent({"a/b": [{}, {"cache_intent": 1}]}, "/tools/0", ("tools", "*"))
    assert found is not None
    assert found.pointer == "/tools/0/a~1b/1/cache_intent"


@pytest.mark.parametrize("size", [10, 100_000])
@pytest.mark.parametrize("number", ["1e-400", "-1e-400", "59.99999999999999999999", "9007199254740993.5"])
def test_a_bound_with_a_fraction_that_a_double_loses_is_refused(
    caller: Caller, number: str, size: int
) -> None:
    """Also in a large body, of which only the quick reader reads the numbers."""
    body = {"model": caller.model, "messages": [message("x" * size, intent(max_age=7_654_321))]}
    reply = caller.post(json.dumps(body).replace("7654321", number).encode())
    assert (reply.http, reply.error["code"]) == (400, INVALID)
    assert reply.error["param"] == "/messages/0/cache_intent/constraints/retention/max_age"
