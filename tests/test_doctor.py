from collections.abc import Callable
from dataclasses import replace

import pytest
from local_server import Behaviour, LocalServer, closed_port
from small_gateway import CAPABILITIES, SmallGateway

from cctest.diagnosis import Diagnosis, Level
from cctest.doctor import examine
from cctest.probe.bundled import make_credentials
from cctest.probe.case import Case, Expectation, FragmentSpec, Role, Step
from cctest.problem import TargetProblem
from cctest.target.configuration import Configuration
from cctest.verdict import Exit

Serve = Callable[[Behaviour], LocalServer]

CREDENTIALS = make_credentials()
TENANTS = {credential.token: credential.tenant for credential in CREDENTIALS}
ROLES = (
    Role.SELF,
    Role.OTHER_SESSION,
    Role.SESSIONLESS,
    Role.OTHER_PRINCIPAL,
    Role.OTHER_TENANT,
    Role.NAMESAKE,
)
CASES = tuple(
    Case(
        id=f"by-{role}",
        title="One caller",
        rules=(),
        texts={"question": 0.05},
        intents={},
        steps=(Step("ask", role, (FragmentSpec("question"),)),),
        expectations=(Expectation("x", "accepted", (), {}),),
        axes={"stream": ("plain", "streamed")},
        group=f"group-{role}",
    )
    for role in ROLES
)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cctest.doctor._PAUSES", (0.0, 0.0))
    monkeypatch.setattr("cctest.probe.acceptance._PAUSES", (0.0, 0.0))
    monkeypatch.setattr("cctest.probe.courier.USUAL_WAIT", 0.0)


def good(**changes: object) -> SmallGateway:
    return replace(SmallGateway(TENANTS), **changes)  # type: ignore[arg-type]


def diagnose(serve: Serve, gateway: SmallGateway, **changes: object) -> Diagnosis:
    configuration = Configuration(serve(gateway).url, "m", CREDENTIALS)
    return examine(replace(configuration, **changes), CASES)  # type: ignore[arg-type]


def told(diagnosis: Diagnosis, *levels: Level) -> str:
    return "\n".join(
        f"{one.about}: {one.text}" for one in diagnosis.findings if one.level in (levels or Level)
    )


def test_a_good_target_can_be_probed_in_full(serve: Serve) -> None:
    gateway = good()
    diagnosis = diagnose(serve, gateway)
    assert diagnosis.exit is Exit.OK, told(diagnosis)
    assert told(diagnosis, Level.NOTE, Level.LACKING, Level.ALARM) == ""
    everything = told(diagnosis)
    for name in (credential.name for credential in CREDENTIALS):
        assert f"credential: {name} is accepted" in everything
    assert "bob is a second principal of the same tenant" in everything
    assert "reuse: it can be seen" in everything
    assert "plain answers tell the cached tokens" in everything
    assert "streamed answers tell the cached tokens" in everything
    assert "carol (globex) isn't served what alice (acme) left" in everything
    assert gateway.chats < 20


def test_two_tenants_that_are_one_are_an_alarm(serve: Serve) -> None:
    diagnosis = diagnose(serve, good(partition=lambda tenant: "everybody"))
    alarm = told(diagnosis, Level.ALARM)
    assert "carol is served, twice with fresh texts, what alice left" in alarm
    assert "'acme'" in alarm
    assert "'globex'" in alarm
    assert "EITHER THE FILE IS WRONG" in alarm
    assert diagnosis.exit is Exit.INCOMPLETE


def test_a_status_that_gives_them_away_is_enough_for_the_alarm(serve: Serve) -> None:
    assert told(diagnose(serve, good(partition=lambda tenant: "", usage=False)), Level.ALARM)


def test_a_target_that_never_reuses_is_told_with_what_that_means(serve: Serve) -> None:
    diagnosis = diagnose(serve, good(shortest=10**9))
    assert "it can't be seen" in told(diagnosis, Level.LACKING)
    assert "min_prompt_tokens" in told(diagnosis, Level.LACKING)
    assert diagnosis.exit is Exit.INCOMPLETE


def test_longer_prompts_help_where_short_ones_are_not_cached(serve: Serve) -> None:
    assert diagnose(serve, good(shortest=1024)).exit is Exit.INCOMPLETE
    assert diagnose(serve, good(shortest=1024), min_prompt_tokens=1024).exit is Exit.OK


def test_without_usage_counts_the_status_is_what_is_left(serve: Serve) -> None:
    diagnosis = diagnose(serve, good(usage=False))
    assert diagnosis.exit is Exit.OK
    notes = told(diagnosis, Level.NOTE)
    assert "plain answers have no usage.prompt_tokens_details.cached_tokens" in notes
    assert "streamed answers have no usage.prompt_tokens_details.cached_tokens" in notes


def test_a_target_that_tells_nothing_shows_no_reuse(serve: Serve) -> None:
    assert "it can't be seen" in told(diagnose(serve, good(usage=False, status=False)), Level.LACKING)


@pytest.mark.parametrize("role", [role for role in ROLES if role is not Role.SELF])
def test_a_missing_caller_is_told_with_what_hangs_on_it(serve: Serve, role: Role) -> None:
    from cctest.probe.callers import cast, lacking

    left = CREDENTIALS
    while (found := cast(left).get(role)) is not None:
        left = tuple(credential for credential in left if credential != found)
    lack = told(diagnose(serve, good(), credentials=left), Level.LACKING)
    assert f"{lacking(role)} is missing: 2 of 12 cells can't be decided (in group-{role}" in lack


def test_one_tenant_alone_shows_no_isolation(serve: Serve) -> None:
    acme = tuple(credential for credential in CREDENTIALS if credential.tenant == "acme")
    diagnosis = diagnose(serve, good(), credentials=acme)
    assert "isolation between tenants can't be shown" in told(diagnosis, Level.LACKING)


def test_a_refused_credential_fills_no_role(serve: Serve) -> None:
    known = {token: tenant for token, tenant in TENANTS.items() if token != CREDENTIALS[3].token}
    lack = told(diagnose(serve, good(tenants=known)), Level.LACKING)
    assert "bob is refused: HTTP 401" in lack
    assert "a second principal of the same tenant is missing" in lack


def test_with_no_accepted_credential_nothing_can_be_tested(serve: Serve) -> None:
    diagnosis = diagnose(serve, good(tenants={}))
    assert diagnosis.exit is Exit.UNTESTABLE


def test_a_target_that_lets_anybody_in_is_noted(serve: Serve) -> None:
    assert "a made-up token is accepted too" in told(diagnose(serve, good(lets_anybody_in=True)), Level.NOTE)


def test_a_narrowed_scope_or_a_wrong_tenant_leaves_controls_without_effect(serve: Serve) -> None:
    tenants = {credential.token: credential.name for credential in CREDENTIALS}
    lack = told(diagnose(serve, good(tenants=tenants)), Level.LACKING)
    assert "bob isn't served what alice left for their tenant 'acme'" in lack


def test_what_is_not_offered_lowers_nothing(serve: Serve) -> None:
    inner = CAPABILITIES["cache_intent_capabilities"]
    narrow = {"cache_intent_capabilities": inner | {"constraints": {"share_max": ["request"]}}}
    case = replace(CASES[0], needs=("share_max=tenant",))
    configuration = Configuration(serve(good(capabilities=narrow)).url, "m", CREDENTIALS)
    diagnosis = examine(configuration, (case,))
    assert "constraints.share_max is ['request'] (needs tenant): 2 cells" in told(diagnosis, Level.NOTE)
    assert "shares nothing between requests" in told(diagnosis, Level.NOTE)
    assert diagnosis.exit is Exit.OK


def test_a_target_without_the_binding_is_told(serve: Serve) -> None:
    lack = told(diagnose(serve, good(capabilities=None, status=False)), Level.LACKING)
    assert "does not implement the binding" in lack


def test_what_the_command_line_left_out_is_told(serve: Serve) -> None:
    diagnosis = diagnose(serve, good(), credentials=(), model=None)
    assert "list at least two tenants" in told(diagnosis, Level.LACKING)
    assert "give --model" in told(diagnosis, Level.LACKING)
    assert diagnosis.exit is Exit.USAGE


def test_an_unreachable_target_is_a_problem_of_its_own(serve: Serve) -> None:
    with pytest.raises(TargetProblem, match="refuses connections"):
        examine(Configuration(f"http://127.0.0.1:{closed_port()}", "m", CREDENTIALS), CASES)
    with pytest.raises(TargetProblem, match="server error"):
        diagnose(serve, good(failure="503 Service Unavailable"))
