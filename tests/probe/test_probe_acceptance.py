"""Nothing is concluded from refusals that any request of the same caller meets."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest
from local_server import Behaviour, LocalServer
from small_gateway import SmallGateway

from cctest.doctor import examine
from cctest.probe.bundled import make_credentials
from cctest.probe.callers import UNCREDENTIALED, cast
from cctest.probe.case import Case, Role
from cctest.probe.cells import cells_of
from cctest.probe.load import load_cases
from cctest.probe.run import ProbePlan, run_probe
from cctest.problem import Problem, TargetProblem, UsageProblem
from cctest.report.model import Report
from cctest.target.configuration import Configuration
from cctest.verdict import Check, Exit, Outcome, Result

Serve = Callable[[Behaviour], LocalServer]

CREDENTIALS = make_credentials()
TENANTS = {credential.token: credential.tenant for credential in CREDENTIALS}
NAMES = [credential.name for credential in CREDENTIALS]
CASES = {case.id: case for case in load_cases()}
UNGATED = [case for case in CASES.values() if not case.two_ended]
BOUNDARY, UNKNOWN = CASES["tenant-boundary"], CASES["uncredentialed"]
INVALID = next(
    case for case in CASES.values() if any(one.predicate == "refused" for one in case.expectations)
)
DRAWN = (Result.PASS, Result.FAIL, Result.WARN)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cctest.probe.acceptance._PAUSES", (0.0, 0.0))
    monkeypatch.setattr("cctest.probe.settling.PAUSES", (0.0,))


def good(**changes: Any) -> SmallGateway:
    return replace(SmallGateway(TENANTS), **changes)


def configured(serve: Serve, gateway: SmallGateway, **changes: Any) -> Configuration:
    return replace(Configuration(serve(gateway).url, "m", CREDENTIALS), **changes)


def probe(configuration: Configuration, *cases: Case) -> Report:
    return run_probe(ProbePlan(configuration, cases, len(cases), seed=1), lambda _: None)


def ends(command: Callable[[], Exit]) -> Exit:
    try:
        return command()
    except Problem as problem:
        return problem.exit


def only(name: str) -> dict[str, str]:
    return {one.token: one.tenant for one in CREDENTIALS if one.name == name}


def without(name: str) -> dict[str, str]:
    return {one.token: one.tenant for one in CREDENTIALS if one.name != name}


def plain(body: Mapping[str, Any]) -> bool:
    return "cache_intent" not in json.dumps(body)


@pytest.mark.parametrize("refusal", ["401 Unauthorized", "403 Forbidden"])
def test_with_no_accepted_credential_there_is_no_verdict(serve: Serve, refusal: str) -> None:
    server = serve(good(tenants={}, refusal=refusal))
    with pytest.raises(TargetProblem, match=rf"no credential is accepted .* HTTP {refusal[:3]}") as raised:
        probe(Configuration(server.url, "m", CREDENTIALS), BOUNDARY)
    assert "token" in raised.value.hint
    assert not any(b"cache_intent" in body for _, body in server.requests)


def test_with_a_wrong_model_there_is_no_verdict(serve: Serve) -> None:
    with pytest.raises(
        TargetProblem, match=r"no plain request .* HTTP 404, error code model_not_found"
    ) as raised:
        probe(configured(serve, good(model="other")), BOUNDARY)
    assert raised.value.hint == "is the model 'm' right?"


@pytest.mark.parametrize("status", ["400 Bad Request", "404 Not Found", "422 Unprocessable", "200 OK"])
def test_with_no_plain_request_answered_there_is_no_verdict(serve: Serve, status: str) -> None:
    with pytest.raises(TargetProblem):
        probe(configured(serve, good(awry=lambda number, body: status)), BOUNDARY)


@pytest.mark.parametrize(
    ("gateway", "changes", "code"),
    [
        (good(tenants={}), {}, Exit.UNTESTABLE),
        (good(model="other"), {}, Exit.UNTESTABLE),
        (good(base_path="/nowhere"), {}, Exit.UNTESTABLE),
        (good(failure="501 Unsupported method"), {}, Exit.UNTESTABLE),
        (good(capabilities=None, status=False), {}, Exit.UNTESTABLE),
        (good(), {"credentials": ()}, Exit.USAGE),
        (good(), {"model": None}, Exit.USAGE),
    ],
    ids=["tokens", "model", "path", "web-server", "no-binding", "no-credentials", "no-model"],
)
def test_doctor_and_probe_end_alike_where_nothing_can_be_tested(
    serve: Serve, gateway: SmallGateway, changes: Mapping[str, Any], code: Exit
) -> None:
    configuration = configured(serve, gateway, **changes)
    assert ends(lambda: examine(configuration, [BOUNDARY]).exit) is code
    assert ends(lambda: probe(configuration, BOUNDARY).verdict.exit) is code


def test_nobody_to_ask_as_is_a_mistake_in_the_configuration(serve: Serve) -> None:
    with pytest.raises(UsageProblem, match="no credential"):
        probe(configured(serve, good(), credentials=()), BOUNDARY)


@pytest.mark.parametrize(
    ("name", "refusal"), list(zip(NAMES, cycle(["401 Unauthorized", "403 Forbidden"]), strict=False))
)
def test_a_refused_credential_decides_nothing_where_it_is_needed(
    serve: Serve, name: str, refusal: str
) -> None:
    (lost,) = set(cast(CREDENTIALS)) - set(cast([one for one in CREDENTIALS if one.name != name]))
    needing = next(cell.case for cell in cells_of(UNGATED) if lost in cell.case.roles(cell.at))
    report = probe(configured(serve, good(tenants=without(name), refusal=refusal)), needing)
    reason = f"credential {name} isn't accepted (HTTP {refusal[:3]})"
    hit = [one for one in report.checks if lost in needing.roles(one.cell)]
    assert {one.result for one in hit} == {Result.INCONCLUSIVE}
    assert all(reason in one.message for one in hit)
    assert any(reason in note for note in report.notes)
    assert report.verdict.outcome is not Outcome.CONFORMANT


def test_without_an_accepted_second_tenant_isolation_is_not_shown(serve: Serve) -> None:
    acme = {one.token: one.tenant for one in CREDENTIALS if one.tenant == "acme"}
    report = probe(configured(serve, good(tenants=acme)), UNKNOWN)
    assert any("isolation between tenants can't be shown" in reason for reason in report.verdict.blockers)


def test_a_case_about_bad_credentials_is_decided_all_the_same(serve: Serve) -> None:
    report = probe(configured(serve, good(tenants=only("alice"))), UNKNOWN)
    assert {role for cell in report.checks for role in UNKNOWN.roles(cell.cell)} & UNCREDENTIALED
    assert found(report, "#nobody-gets-nothing") == {Result.PASS}
    assert found(report, "#stranger-gets-nothing") == {Result.PASS}


def found(report: Report, end: str) -> set[Result]:
    return {one.result for one in report.checks if one.id.endswith(end)}


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden", "404 Not Found"])
def test_nothing_is_concluded_once_a_caller_is_refused_whatever_it_asks(serve: Serve, status: str) -> None:
    """Tokens expire and models go while a probe runs."""
    gateway = good(awry=lambda number, body: status if number > len(CREDENTIALS) + 4 else None)
    report = probe(configured(serve, gateway), BOUNDARY, INVALID)
    assert {one.result for one in report.checks} == {Result.INCONCLUSIVE}
    assert all(f"HTTP {status[:3]}" in one.message for one in report.checks)
    assert all(one.message.startswith("credential ") for one in report.checks)
    assert not [reading for reading in report.readings if not reading.check.startswith("preflight")]


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
def test_a_caller_who_is_refused_only_with_an_intent_is_refused_wrongly(serve: Serve, status: str) -> None:
    gateway = good(awry=lambda number, body: None if plain(body) else status)
    report = probe(configured(serve, gateway), INVALID)
    assert Result.FAIL in {one.result for one in report.checks}


@pytest.mark.parametrize("status", ["400 Bad Request", "422 Unprocessable"])
def test_a_target_that_refuses_only_what_has_no_intent_is_probed(serve: Serve, status: str) -> None:
    gateway = good(awry=lambda number, body: status if plain(body) else None)
    assert drawn(probe(configured(serve, gateway), BOUNDARY).checks)


@pytest.mark.parametrize("status", ["500 Internal Server Error", "401 Unauthorized", "404 Not Found"])
def test_a_target_that_sometimes_fails_is_probed(serve: Serve, status: str) -> None:
    gateway = good(awry=lambda number, body: status if number in (1, 4, 5) else None)
    report = probe(configured(serve, gateway), UNKNOWN)
    assert drawn(report.checks)
    assert not any("credential " in note for note in report.notes)


def drawn(checks: Sequence[Check]) -> list[Check]:
    return [one for one in checks if one.result in DRAWN]


def test_one_caller_that_only_meets_failures_is_not_given_up(serve: Serve) -> None:
    gateway = good(awry=lambda number, body: "500 Oops" if number in (6, 7, 8) else None)
    report = probe(configured(serve, gateway), UNKNOWN)
    assert drawn(report.checks)
    assert not any("isn't accepted" in one.message for one in report.checks)


def test_a_target_that_only_fails_is_not_asked_for_long(serve: Serve) -> None:
    gateway = good(awry=lambda number, body: "500 Oops")
    with pytest.raises(TargetProblem, match="server error"):
        probe(configured(serve, gateway), BOUNDARY)
    assert gateway.asked <= len(CREDENTIALS)


def test_before_the_cases_each_credential_costs_one_short_request(serve: Serve) -> None:
    server = serve(good())
    probe(Configuration(server.url, "m", CREDENTIALS), UNKNOWN)
    asked = [
        body for head, body in server.requests if head.startswith(b"POST") and b"cache_intent" not in body
    ]
    assert len(asked) == len(CREDENTIALS)
    assert max(map(len, asked)) < 1000


def test_a_role_without_any_credential_is_still_told_as_lacking(serve: Serve) -> None:
    alone = [one for one in CREDENTIALS if one.tenant == "acme"]
    report = probe(configured(serve, good(), credentials=tuple(alone)), BOUNDARY)
    assert Role.OTHER_TENANT not in cast(alone)
    assert {one.message for one in report.checks if one.result is Result.INCONCLUSIVE} == {
        "needs a credential of a second tenant; the configuration has none"
    }
