"""Who may read whose state, over HTTP: every refusal beside the case that does reuse."""

import pytest

from gateway.conftest import As
from gateway.talk import BOB, MONDAY, NAMESAKE, NO_SESSION, TUESDAY, Caller, intent, message, text, tool


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize("place", ["message", "tool"])
def test_state_is_reused_and_reported(caller: Caller, stream: bool, place: str) -> None:
    words = text()
    governed = message(words, intent(id="f")) if place == "message" else tool(words, intent(id="f"))
    first, second = (caller.chat(governed, message("go"), stream=stream) for _ in range(2))
    assert first.cached == 0
    assert first.status[0] == {
        "id": "f",
        "outcome": "miss",
        "effective_share": "tenant",
        "retention": "retained",
        "constraint_result": "satisfied",
    }
    assert second.cached > 200
    assert second.cached % 16 == 0
    assert second.status[0]["outcome"] == "exact_hit"
    assert first.answer != second.answer


READERS = {
    "public": {MONDAY, TUESDAY, NO_SESSION, BOB, NAMESAKE},
    "tenant": {MONDAY, TUESDAY, NO_SESSION, BOB},
    "principal": {MONDAY, TUESDAY, NO_SESSION},
    "session": {MONDAY},
    "request": set(),
}


@pytest.mark.parametrize("scope", READERS)
@pytest.mark.parametrize("reader", [MONDAY, TUESDAY, NO_SESSION, BOB, NAMESAKE])
def test_only_callers_within_the_boundary_read(caller_as: As, scope: str, reader: str) -> None:
    fragment = message(text(), intent(scope))
    caller_as(MONDAY).chat(fragment)
    seen = caller_as(reader).chat(fragment)
    assert (seen.cached > 0) == (reader in READERS[scope])
    assert (seen.status[0]["outcome"] == "exact_hit") == (reader in READERS[scope])


def test_without_a_session_session_means_request(caller_as: As) -> None:
    fragment = message(text(), intent("session"))
    replies = [caller_as(NO_SESSION).chat(fragment) for _ in range(2)]
    assert [reply.cached for reply in replies] == [0, 0]
    assert replies[1].status[0] == {
        "outcome": "bypass",
        "effective_share": "request",
        "retention": "declined",
        "constraint_result": "satisfied",
    }


def test_a_public_prefix_is_shared_and_the_tenants_rest_is_not(caller_as: As) -> None:
    prefix, rest = message(text(), intent("public")), message(text(), intent("tenant"))
    caller_as(MONDAY).chat(prefix, rest)
    other = caller_as(NAMESAKE).chat(prefix, rest)
    assert other.each("outcome") == ["exact_hit", "miss"]
    assert other.each("effective_share") == ["public", "tenant"]
    own = caller_as(BOB).chat(prefix, rest)
    assert own.each("outcome") == ["exact_hit", "exact_hit"]
    assert own.cached > other.cached > 0


def test_a_later_fragment_cannot_widen_sharing(caller_as: As) -> None:
    fragments = [message(text(), intent("tenant")), message(text(), intent("public"))]
    assert caller_as(MONDAY).chat(*fragments).each("effective_share") == ["tenant", "tenant"]
    assert caller_as(NAMESAKE).chat(*fragments).cached == 0


def test_a_fragment_without_intent_narrows_public_to_the_tenant(caller_as: As) -> None:
    public, private = message(text(), intent("public")), message(text())
    first = caller_as(MONDAY).chat(public, private)
    assert first.each("effective_share") == ["public", "tenant"]
    other = caller_as(NAMESAKE).chat(public, private)
    assert other.each("outcome") == ["exact_hit", "miss"]


def test_public_after_text_without_intent_stays_in_the_tenant(caller_as: As) -> None:
    fragments = [message(text()), message(text(), intent("public"))]
    first = caller_as(MONDAY).chat(*fragments)
    assert first.each("effective_share") == ["tenant"]
    assert caller_as(NAMESAKE).chat(*fragments).cached == 0
    assert caller_as(BOB).chat(*fragments).cached > 0


def test_without_any_intent_state_stays_in_the_tenant_and_no_status_is_given(caller_as: As) -> None:
    fragment = message(text())
    assert "cache_status" not in caller_as(MONDAY).chat(fragment).body
    assert caller_as(NAMESAKE).chat(fragment).cached == 0
    assert caller_as(BOB).chat(fragment).cached > 0


def test_a_narrower_reader_does_not_read_wider_state(caller: Caller) -> None:
    words = text()
    caller.chat(message(words, intent("tenant")))
    assert caller.chat(message(words, intent("principal"))).cached == 0


IDENTITIES = ["cache_salt", "tenant", "user", "session", "prompt_cache_key", "safety_identifier", "group"]


@pytest.mark.parametrize("name", IDENTITIES)
def test_a_body_member_that_names_an_identity_changes_nothing(caller_as: As, name: str) -> None:
    fragment = message(text(), intent("tenant"))
    body = {"model": "embedded", "messages": [fragment]}
    caller_as(MONDAY).post({**body, name: "acme"})
    assert caller_as(NAMESAKE).post({**body, name: "acme"}).cached == 0
    other = {**body, "messages": [{**fragment, name: "other"}], name: "other"}
    assert caller_as(BOB).post(other).cached > 0


def test_a_header_that_names_an_identity_changes_nothing(caller_as: As) -> None:
    body = {"model": "embedded", "messages": [message(text(), intent("tenant"))]}
    caller_as(MONDAY).post(body)
    headers = {
        "X-Tenant-Id": "acme",
        "X-User-Id": "alice",
        "OpenAI-Organization": "acme",
        "X-Cache-Salt": "s",
    }
    assert caller_as(NAMESAKE).post(body, **headers).cached == 0
    assert caller_as(BOB).post(body, **headers).cached > 0


@pytest.mark.parametrize(
    ("one", "two"),
    [("a", "b"), ("a", None), (None, "a"), ("caf\u00e9", "cafe\u0301"), ("A", "a"), ("a", "a ")],
)
def test_another_namespace_is_another_cache(caller: Caller, one: str | None, two: str | None) -> None:
    words = text()
    own, other = (intent() if name is None else intent(namespace=name) for name in (one, two))
    caller.chat(message(words, own))
    assert caller.chat(message(words, other)).status[0]["outcome"] == "miss"
    assert caller.chat(message(words, own)).status[0]["outcome"] == "exact_hit"


def test_namespaces_are_told_apart_by_where_they_are_cut(caller: Caller) -> None:
    one, two = text(), text()
    caller.chat(message(one, intent(namespace="ab")), message(two, intent(namespace="c")))
    other = caller.chat(message(one, intent(namespace="a")), message(two, intent(namespace="bc")))
    assert other.each("outcome") == ["miss", "miss"]


def test_an_id_is_no_part_of_the_identity(caller: Caller) -> None:
    words = text()
    caller.chat(message(words, intent(id="one")))
    assert caller.chat(message(words, intent(id="two"))).status[0]["outcome"] == "exact_hit"


def test_a_parameter_with_a_reserved_name_is_part_of_the_input(caller: Caller) -> None:
    name = text()
    for reserved in ("cache_intent", "cache_salt"):
        caller.chat(tool(name, intent(), {"properties": {reserved: {"enum": ["one"]}}}), message("go"))
        other = caller.chat(
            tool(name, intent(), {"properties": {reserved: {"enum": ["two"]}}}), message("go")
        )
        same = caller.chat(tool(name, intent(), {"properties": {reserved: {"enum": ["two"]}}}), message("go"))
        assert other.body["usage"]["prompt_tokens"] == same.body["usage"]["prompt_tokens"]
        assert same.status[0]["outcome"] == "exact_hit"


def test_the_order_of_fragments_is_kept(caller: Caller) -> None:
    one, two = message(text(), intent()), message(text(), intent())
    caller.chat(one, two)
    assert caller.chat(two, one).each("outcome") == ["miss", "miss"]
