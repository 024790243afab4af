"""A forwarding gateway: what reaches the engine, in which partition, and that the probe finds nothing wrong."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import requests

from cctest.instrument.client import running_engine
from cctest.instrument.record import header_digest
from cctest.probe.bundled import FORWARDING, Bundled, make_credentials, running_gateway
from cctest.probe.load import load_cases
from cctest.probe.run import ProbePlan, run_probe
from cctest.target.configuration import Configuration
from cctest.verdict import Outcome, Result
from gateway.engine import MODEL, Setting, forwarding
from gateway.process import running
from gateway.talk import BOB, MONDAY, NAMESAKE, NO_SESSION, TUESDAY, Json, intent, message, text, tool


@pytest.mark.bundled
@pytest.mark.parametrize("mode", ["bypass", "reject"])
def test_the_whole_probe_finds_it_conformant(
    tmp_path: Path, mode: str, capfd: pytest.CaptureFixture[str]
) -> None:
    credentials = make_credentials()
    known = tmp_path / "credentials.json"
    members = ("token", "tenant", "principal", "session")
    entries = [{name: getattr(one, name) for name in members if getattr(one, name)} for one in credentials]
    known.touch(mode=0o600)
    known.write_text(json.dumps({"credentials": entries}))
    cases = load_cases()
    with (
        running_engine() as engine,
        running(*forwarding(engine, tmp_path), "--on-unenforceable", mode, credentials=known) as (url, _),
    ):
        configuration = Configuration(target=url, model=MODEL, credentials=credentials)
        plan = ProbePlan(configuration, cases, len(cases), seed=1, engine=engine)
        report = run_probe(plan, lambda _: None)
    decided = (Result.PASS, Result.UNSUPPORTED)
    assert [check for check in report.checks if check.result not in decided] == []
    assert report.verdict.outcome is Outcome.CONFORMANT
    assert not any(check.vacuous for check in report.checks)
    assert capfd.readouterr().err == ""


@pytest.mark.bundled
def test_what_waits_in_the_engine_is_called_off_before_its_bound_has_passed() -> None:
    bounding = ("--max-age=generations", "--engine-deadline=0.5", "--abort-margin=0.3")
    cases = tuple(case for case in load_cases() if case.id.startswith("queued-"))
    credentials = make_credentials()
    with (
        running_engine() as engine,
        running_gateway(credentials, Bundled(FORWARDING, engine, bounding)) as url,
    ):
        configuration = Configuration(target=url, model=MODEL, credentials=credentials)
        report = run_probe(ProbePlan(configuration, cases, len(cases), seed=1, engine=engine), lambda _: None)
    assert {check.id for check in report.checks if check.result is Result.PASS} == {
        f"{case.id}#late-reads-nothing" for case in cases
    }
    assert not [check for check in report.checks if check.result is Result.FAIL]


BODY = r"""{
  "model": "instrumented", "seed": 7, "temperature": 1.10, "x_unknown": {"deep": [1e2, 0.30000000000000004440892]},
  "cache_salt": "mine", "user": "alice", "tenant": "globex", "prompt_cache_key": "k", "metadata": {"user_id": "u"},
  "safety_identifier": "s", "session_id": "s", "group": "g", "vllm_xargs": {"a": 1}, "kv_transfer_params": {},
  "tools": [{"type": "function", "cache_intent": %INTENT%, "function": {"name": "f", "parameters": {"type": "object",
    "properties": {"cache_intent": {"maximum": 1e400, "const": 9007199254740993}, "cache_salt": {}, "tenant": {}}}}}],
  "tool_choice": "none",
  "messages": [
    {"role": "system", "content": "%TEXT%", "c\u0061che_intent": %INTENT%, "cache_s\u0061lt": "mine", "x": 1.0},
    {"role": "user", "content": [{"type": "text", "text": "{\"cache_intent\": {}}", "uuid": "u", "z": 1E5}],
     "tenant": "globex", "session": "s", "name": "n"}
  ],
  "logit_bias": {"50256": -1e2}
}"""


def test_the_body_reaches_the_engine_as_it_was_spelt_less_what_names_a_partition(two_ends: Setting) -> None:
    words = text()
    sent = BODY.replace("1e400", "1e300").replace("%TEXT%", words).replace("%INTENT%", json.dumps(intent()))
    assert two_ends.caller().post(sent.encode()).http == 200
    (record,) = two_ends.arrived(words)
    (salt,) = two_ends.salts(words)
    arrived = record.body.decode()
    # Python's own reader would round these.
    for spelling in ("1.10", "1e2", "0.30000000000000004440892", "1e300", "9007199254740993", "1E5", "-1e2"):
        assert spelling in arrived
    expected = json.loads(sent)
    for name in (
        "user",
        "tenant",
        "prompt_cache_key",
        "metadata",
        "safety_identifier",
        "session_id",
        "group",
    ):
        del expected[name]
    for name in ("vllm_xargs", "kv_transfer_params"):
        del expected[name]
    expected["cache_salt"] = salt
    for fragment in (*expected["tools"], *expected["messages"]):
        for name in ("cache_intent", "cache_salt", "tenant", "session"):
            fragment.pop(name, None)
    del expected["messages"][1]["content"][0]["uuid"]
    assert json.loads(arrived) == expected
    assert list(json.loads(arrived)) == [name for name in expected if name != "cache_salt"] + ["cache_salt"]
    tools = json.loads(arrived)["tools"]
    assert list(tools[0]["function"]["parameters"]["properties"]) == ["cache_intent", "cache_salt", "tenant"]


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_nothing_of_the_callers_identity_reaches_the_engine(two_ends: Setting, stream: bool) -> None:
    words = text()
    given = {"X-Tenant-Id": "acme", "OpenAI-Organization": "acme", "Cookie": "a=alice", "X-User-Id": "alice"}
    body: Json = {"model": MODEL, "messages": [message(words, intent())], "stream": stream, "user": "alice"}
    assert two_ends.caller().post(body, **given).http == 200
    (record,) = two_ends.arrived(words)
    names = {name for name, _ in record.headers}
    assert names == {"host", "user-agent", "accept", "accept-encoding", "content-type", "content-length"}
    everything = record.body.decode() + str(record.headers)
    for identity in ("acme", "alice", "monday", MONDAY, header_digest(f"Bearer {MONDAY}")):
        assert identity not in everything.replace(words, "")


def test_the_engines_key_goes_up_and_is_not_the_callers(two_ends: Setting, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.touch(mode=0o600)
    key.write_text("sk-engine\n")
    words = text()
    url = two_ends.gateway("--engine-key-file", str(key))
    assert two_ends.caller(url=url).chat(message(words)).http == 200
    (record,) = two_ends.arrived(words)
    assert record.header("authorization") == header_digest("Bearer sk-engine")


BYPASSES: dict[str, list[Json]] = {
    "none": [intent(reuse="none")],
    "forbid": [intent(mode="forbid")],
    "age": [intent(max_age=60)],
    "ageless": [intent(max_age=0)],
    "request": [intent("request")],
    "narrowed": [intent("public"), intent("request")],
    "first": [intent(mode="forbid"), intent()],
    "last": [intent(), intent(), intent(reuse="none")],
}


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
def test_every_bypass_has_a_partition_of_its_own_and_says_so(two_ends: Setting, stream: bool) -> None:
    words = text()
    for intents in BYPASSES.values():
        fragments = [message(words, one) for one in intents]
        for _ in range(2):
            reply = two_ends.caller().chat(*fragments, message("go"), stream=stream)
            assert set(reply.each("outcome")) == {"bypass"}
            assert set(reply.each("effective_share")) == {"request"}
            assert set(reply.each("retention")) <= {"declined", "forbidden"}
            assert reply.cached == 0
    reply = two_ends.caller(NO_SESSION).chat(message(words, intent("session")), stream=stream)
    assert reply.each("outcome") == ["bypass"]
    salts = two_ends.salts(words)
    assert len(salts) == len(set(salts)) == 2 * len(BYPASSES) + 1


def salt_of(setting: Setting, token: str, *intents: Json | None, url: str | None = None, **body: Any) -> str:
    words = text(4)
    assert (
        setting.caller(token, url).chat(message(words), *(message("x", one) for one in intents), **body).http
        == 200
    )
    (salt,) = setting.salts(words)
    return salt


SCOPES = [
    ("session", [MONDAY], [TUESDAY, BOB, NAMESAKE]),
    ("principal", [MONDAY, TUESDAY, NO_SESSION], [BOB, NAMESAKE]),
    ("tenant", [MONDAY, TUESDAY, NO_SESSION, BOB], [NAMESAKE]),
    ("public", [MONDAY, TUESDAY, NO_SESSION, BOB], [NAMESAKE]),  # the message before it has no intent
]


@pytest.mark.parametrize(("scope", "inside", "outside"), SCOPES, ids=[scope for scope, *_ in SCOPES])
def test_a_scope_has_one_partition_for_those_inside_and_none_else(
    two_ends: Setting, scope: str, inside: list[str], outside: list[str]
) -> None:
    own = {salt_of(two_ends, token, intent(scope)) for token in inside}
    others = {salt_of(two_ends, token, intent(scope)) for token in outside}
    assert len(own) == 1
    assert not own & others
    assert re.fullmatch("[0-9a-f]{64}", own.pop())


def public_salt(setting: Setting, token: str, **body: Any) -> str:
    words = text(4)
    assert setting.caller(token).chat(message(words, intent("public")), **body).http == 200
    (salt,) = setting.salts(words)
    return salt


def test_public_state_has_a_partition_too_and_all_share_it(two_ends: Setting) -> None:
    assert public_salt(two_ends, MONDAY) == public_salt(two_ends, NAMESAKE)
    assert public_salt(two_ends, MONDAY) != salt_of(two_ends, MONDAY, intent("tenant"))


def test_input_that_is_no_fragment_is_never_public(two_ends: Setting) -> None:
    tenant = salt_of(two_ends, MONDAY)
    for member in ({"documents": [{"text": "x"}]}, {"chat_template_kwargs": {"x": "y"}}):
        assert public_salt(two_ends, MONDAY, **member) == tenant
    assert public_salt(two_ends, MONDAY, documents=None) != tenant


def test_namespaces_part_in_order_and_number(two_ends: Setting) -> None:
    names = [[], ["a"], ["b"], ["a", "b"], ["b", "a"], ["ab"], ["a", "a"]]
    salts = [salt_of(two_ends, MONDAY, *(intent(namespace=name) for name in some)) for some in names]
    assert len(set(salts)) == len(names)
    assert salt_of(two_ends, BOB, intent(namespace="a"), intent(namespace="b")) == salts[3]


def test_the_narrowest_policy_of_all_fragments_decides_wherever_it_stands(two_ends: Setting) -> None:
    principal = salt_of(two_ends, MONDAY, intent("principal"))
    for intents in ([intent("principal"), intent("public")], [intent("tenant"), None, intent("principal")]):
        assert salt_of(two_ends, MONDAY, *intents) == principal
    words = text()
    reply = two_ends.caller().chat(tool(words, intent("public")), message("x", intent("principal")))
    assert reply.each("effective_share") == ["principal", "principal"]


def test_a_request_without_intent_is_the_tenants_whatever_partition_it_names(two_ends: Setting) -> None:
    assert salt_of(two_ends, MONDAY, cache_salt="mine") == salt_of(two_ends, BOB, cache_salt="yours")
    assert salt_of(two_ends, MONDAY) == salt_of(two_ends, MONDAY, intent("tenant"))


def test_the_operator_may_leave_requests_without_intent_in_the_engines_own_partition(
    two_ends: Setting,
) -> None:
    url = two_ends.gateway("--without-intent", "engine-default")
    words, governed = text(4), text(4)
    assert "cache_status" not in two_ends.caller(url=url).chat(message(words), cache_salt="mine").body
    (record,) = two_ends.arrived(words)
    assert "cache_salt" not in record.members()
    assert two_ends.caller(url=url).chat(message(governed), message("x", intent("public"))).http == 200
    assert two_ends.salts(governed) == [salt_of(two_ends, MONDAY)]


def test_replicas_with_one_secret_share_state_and_others_do_not(two_ends: Setting) -> None:
    replica = two_ends.gateway()
    stranger = two_ends.gateway(secret="another fake secret of the tests")
    words = text(400)
    cached = [
        two_ends.caller(url=url).chat(message(words, intent())).cached
        for url in (two_ends.url, replica, stranger, stranger)
    ]
    assert cached[0] == cached[2] == 0
    assert cached[1] == cached[3] > 400
    first, second, third, fourth = two_ends.salts(words)
    assert first == second != third == fourth


def test_approximate_is_served_exactly_or_not_as_the_operator_says(two_ends: Setting) -> None:
    asked = message(text(400), intent(reuse="approximate"))
    exact = [two_ends.caller().chat(asked).each("outcome") for _ in range(2)]
    assert exact == [["miss"], ["exact_hit"]]
    url = two_ends.gateway("--approximate", "unenforceable")
    reply = two_ends.caller(url=url).chat(asked, message("x", intent()))
    assert reply.each("outcome") == ["bypass", "bypass"]
    assert reply.each("retention") == ["declined", "declined"]
    url = two_ends.gateway("--approximate", "unenforceable", "--on-unenforceable", "reject")
    refused = two_ends.caller(url=url).chat(asked)
    assert (refused.http, refused.error["code"]) == (400, "cache_intent_unenforceable")
    assert refused.error["param"] == "/messages/0/cache_intent/constraints/reuse"


def test_a_bound_on_age_is_refused_in_reject_mode(two_ends: Setting) -> None:
    url = two_ends.gateway("--on-unenforceable", "reject")
    words = text(4)
    refused = two_ends.caller(url=url).chat(message(words, intent(max_age=60)))
    assert (refused.http, refused.error["code"]) == (400, "cache_intent_unenforceable")
    assert two_ends.arrived(words) == []


def test_the_capabilities_promise_no_more_than_the_engine_can_do(two_ends: Setting) -> None:
    told = requests.get(f"{two_ends.url}/v1/cache_intent_capabilities", timeout=30).json()
    assert told == {
        "cache_intent_capabilities": {
            "versions": [1],
            "constraints": {
                "retention_modes": ["allow", "forbid"],
                "reuse": ["none", "exact"],
                "share_max": ["request", "session", "principal", "tenant", "public"],
                "namespace": True,
            },
            "on_unenforceable": "bypass",
            "status": True,
            "per_fragment_share": False,
        }
    }
