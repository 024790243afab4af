"""What can be tested on a target, what can't, and why: found out with a few requests before any probe.

Nothing here is a verdict on the target, with one exception: two tenants that turn out to be one.
"""

import secrets
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import Final

from cctest.diagnosis import Diagnosis, Finding, Level, Obstacle
from cctest.probe.acceptance import Acceptance, ask_plainly, unnamed
from cctest.probe.callers import cast, lacking
from cctest.probe.case import Case, Role
from cctest.probe.cells import Cell, cells_of
from cctest.probe.courier import Courier
from cctest.probe.judgement import Advertised, missing_capability
from cctest.probe.observation import Observation
from cctest.probe.preflight import CAPABILITIES_PATH, reach, survey
from cctest.probe.prompt import UNIT_WORDS
from cctest.probe.trial import Trial, reused
from cctest.problem import Problem, TargetProblem
from cctest.target.configuration import Configuration
from cctest.target.credential import Credential
from cctest.target.exchange import Target
from cctest.verdict import Exit

_PAUSES: Final = (0.0, 0.4, 1.6)
"""Seconds before each try to see reuse: some caches show an entry only a while after it was made."""

_SCOPES: Final = ("tenant", "principal", "session")
"""Scopes with which reuse can be tried, widest first; `public` could reach other people."""


Findings = Generator[Finding, None, None]


def examine(configuration: Configuration, cases: Sequence[Case]) -> Diagnosis:
    """Ask the target a few things and say what they mean for a probe with these cases.

    Raises TargetProblem if it can't be reached. No secret is in what is returned or raised.
    """
    redactor = configuration.redactor()
    try:
        with configuration.connect() as target:
            found, obstacle = _collect(_examine(configuration, tuple(cells_of(cases)), target))
    except Problem as problem:
        texts = (problem.message, problem.where, problem.hint)
        message, where, hint = (redactor.text(text) for text in texts)
        raise type(problem)(message, where=where, hint=hint) from None
    notes = [Finding(Level.NOTE, "connection", note) for note in configuration.notes()]
    return redactor.structure(Diagnosis((*notes, *found), obstacle))


def _collect(findings: Generator[Finding, None, Obstacle | None]) -> tuple[list[Finding], Obstacle | None]:
    found = []
    while True:
        try:
            found.append(next(findings))
        except StopIteration as end:
            return found, end.value


def _examine(
    configuration: Configuration, cells: Sequence[Cell], target: Target
) -> Generator[Finding, None, Obstacle | None]:
    opened, told = _reach(target)
    yield told
    if not configuration.credentials:
        yield Finding(
            Level.LACKING, "credentials", "there is none: list at least two tenants in a target file"
        )
    if configuration.model is None:
        yield Finding(Level.LACKING, "model", "none is named: give --model NAME, or `model` in the file")
    lack = unnamed(configuration)
    if lack is not None:
        yield from _scopes(configuration.credentials, cells)
        return lack
    words = max(UNIT_WORDS, configuration.min_prompt_tokens or 0)
    trial = Trial(Courier(target), configuration.model or "", secrets.token_hex(6), words)
    met = yield from _credentials(configuration, trial)
    accepted = met.accepted
    if not accepted:
        return met.obstacle(configuration.target)
    yield from _scopes(accepted, cells)
    caller = cast(accepted)[Role.SELF]
    found = survey(target, caller, trial.model, trial.nonce, openly=opened)
    if found.obstacle is not None:
        yield Finding(Level.LACKING, "binding", found.obstacle)
        return Obstacle(found.obstacle, "", Exit.UNTESTABLE)
    yield from _capabilities(found.advertised, cells)
    scope = _scope(found.advertised)
    if scope is None:
        yield Finding(Level.NOTE, "reuse", "by its capabilities the target shares nothing between requests")
    else:
        yield from _reuse(trial, caller, accepted, scope)
    return None


def _reach(target: Target) -> tuple[int, Finding]:
    """Give the HTTP status of an answer to somebody without a credential, and say so."""
    started = time.monotonic()
    response = reach(target)
    address, seconds = target.address(CAPABILITIES_PATH), time.monotonic() - started
    said = f"{address} answers HTTP {response.status} without a credential, in {seconds:.2f} s"
    return response.status, Finding(Level.GOOD, "reachable", said)


def _credentials(configuration: Configuration, trial: Trial) -> Generator[Finding, None, Acceptance]:
    met = ask_plainly(trial, configuration.credentials)
    obstacle = met.obstacle(configuration.target)
    if obstacle is not None and met.failing:
        raise TargetProblem(obstacle.why, hint=obstacle.hint)
    for credential, one in met.seen.items():
        if one.answered:
            yield Finding(Level.GOOD, "credential", f"{credential.name} is accepted")
        elif one.response is not None and one.response.status in (401, 403):
            text = f"{credential.name} is refused: {one.outline}; is the token right, and still valid?"
            yield Finding(Level.LACKING, "credential", text)
        else:
            text = f"{credential.name} gets no answer: {one.outline}; is the model {trial.model!r} right?"
            yield Finding(Level.LACKING, "credential", text)
    if met.accepted and trial.short(Credential("nobody", f"made-up-{trial.nonce}", "", "")).answered:
        text = "a made-up token is accepted too, so that being accepted says nothing about the others"
        yield Finding(Level.NOTE, "credential", text)
    return met


_ROLES: Final = (
    Role.OTHER_SESSION,
    Role.SESSIONLESS,
    Role.OTHER_PRINCIPAL,
    Role.OTHER_TENANT,
    Role.NAMESAKE,
)


def _scopes(credentials: Sequence[Credential], cells: Sequence[Cell]) -> Findings:
    """Say which callers the file tells apart, and what can't be tested without the others."""
    callers = cast(credentials)
    if Role.SELF in callers:
        yield Finding(Level.GOOD, "caller", f"{callers[Role.SELF].name} sends first")
    for role in _ROLES:
        if role in callers:
            yield Finding(Level.GOOD, "caller", f"{callers[role].name} is {lacking(role)}, by the file")
            continue
        needing = [cell for cell in cells if role in cell.case.roles(cell.at)]
        if needing:
            yield Finding(
                Level.LACKING, "caller", f"{lacking(role)} is missing: {_undecided(needing, cells)}"
            )
    if not callers.keys() & {Role.OTHER_TENANT, Role.NAMESAKE}:
        text = "all callers are of one tenant: isolation between tenants can't be shown, nor conformance"
        yield Finding(Level.LACKING, "caller", text)


def _undecided(needing: Sequence[Cell], cells: Sequence[Cell]) -> str:
    groups = ", ".join(sorted({cell.case.group for cell in needing}))
    return f"{len(needing)} of {len(cells)} cells can't be decided (in {groups})"


def _capabilities(advertised: Advertised, cells: Sequence[Cell]) -> Findings:
    if advertised.capabilities is None:
        faults = "; ".join(advertised.faults) or advertised.outline
        text = f"there are none to rely on ({faults}): nothing that isn't seen can be excused as unsupported"
        yield Finding(Level.NOTE, "capabilities", text)
    else:
        offered = advertised.capabilities
        scopes = ", ".join(offered.share_max) or "no scope"
        text = f"they offer sharing by {scopes}, and {offered.on_unenforceable} what can't be enforced"
        yield Finding(Level.GOOD, "capabilities", text)
        if not offered.status:
            text = "they promise no cache_status: what status must say can be tested only where it comes"
            yield Finding(Level.NOTE, "capabilities", text)
    quotations = Counter(missing_capability(cell.case.needed(cell.at), advertised) for cell in cells)
    for quotation, count in quotations.items():
        if quotation is not None:
            stated = quotation.removeprefix("capabilities: ")
            text = f"{stated}: {count} cells may be unsupported, which lowers nothing"
            yield Finding(Level.NOTE, "capabilities", text)
    two_ended = sum(cell.case.two_ended for cell in cells)
    if two_ended:
        text = f"{two_ended} cells need an instrumented engine behind the target (cctest engine)"
        yield Finding(Level.NOTE, "engine", text)


def _scope(advertised: Advertised) -> str | None:
    """Give the widest scope that may be tried."""
    if advertised.capabilities is None:
        return _SCOPES[0]
    return next((scope for scope in _SCOPES if scope in advertised.capabilities.share_max), None)


def _reuse(trial: Trial, caller: Credential, accepted: Sequence[Credential], scope: str) -> Findings:
    first = trial.long(caller, "reuse", scope)
    if not first.answered:
        text = f"a long prompt with a plain intent ({scope}, exact) gets no answer: {first.outline}"
        yield Finding(Level.LACKING, "reuse", text)
        return
    for pause in _PAUSES:
        trial.sleep(pause)
        again = trial.long(caller, "reuse", scope)
        if reused(again):
            break
    yield from _usage("plain", again)
    yield from _usage("streamed", trial.long(caller, "reuse", scope, streamed=True))
    if not reused(again):
        yield Finding(Level.LACKING, "reuse", _unseen(again))
        return
    text = f"it can be seen: {caller.name} sent the same long prompt again, and it was reused"
    yield Finding(Level.GOOD, "reuse", text)
    yield from _others(trial, caller, accepted, scope)


def _unseen(again: Observation) -> str:
    tokens = again.chat.prompt_tokens if again.chat else None
    length = f"of {tokens:,} tokens" if tokens is not None else f"of {len(again.built.body):,} bytes"
    return (
        f"it can't be seen: the same prompt {length}, sent {len(_PAUSES) + 1} times by one caller, shows no "
        "reuse in usage or status. Without a control every isolation check stays inconclusive. If the target "
        "caches only longer prompts, set `min_prompt_tokens`"
    )


def _usage(how: str, seen: Observation) -> Iterator[Finding]:
    chat = seen.chat
    if chat is None or not chat.ok:
        yield Finding(Level.LACKING, "usage", f"no {how} answer: {seen.outline}")
    elif chat.cached_tokens is not None:
        text = f"{how} answers tell the cached tokens ({chat.cached_tokens} of {chat.prompt_tokens})"
        yield Finding(Level.GOOD, "usage", text)
    else:
        text = (
            f"{how} answers have no usage.prompt_tokens_details.cached_tokens: what rests on them there has "
            "the target's own status alone as evidence"
        )
        yield Finding(Level.NOTE, "usage", text)


def _others(trial: Trial, caller: Credential, accepted: Sequence[Credential], scope: str) -> Findings:
    """Try whether other tenants are served what the caller left, and whether its own tenant is."""
    tried = {caller.tenant}
    for other in accepted:
        if other.tenant in tried:
            continue
        tried.add(other.tenant)
        if _served(trial, caller, other, "one", scope) and _served(trial, caller, other, "two", scope):
            yield Finding(Level.ALARM, "tenants", _ONE_TENANT.format(a=caller, b=other))
        else:
            text = f"{other.name} ({other.tenant}) isn't served what {caller.name} ({caller.tenant}) left"
            yield Finding(Level.GOOD, "tenants", text)
    colleague = cast(accepted).get(Role.OTHER_PRINCIPAL)
    if scope != "tenant" or colleague is None:
        return
    if _served(trial, caller, colleague, "colleague", scope):
        text = f"{colleague.name} is served what {caller.name} left for their tenant, so that controls work"
        yield Finding(Level.GOOD, "tenants", text)
    else:
        text = (
            f"{colleague.name} isn't served what {caller.name} left for their tenant {caller.tenant!r}: they "
            "are no single tenant, or the target narrows the scope; controls that need it won't work"
        )
        yield Finding(Level.LACKING, "tenants", text)


_ONE_TENANT: Final = (
    "{b.name} is served, twice with fresh texts, what {a.name} left for its own tenant, although the file "
    "says that they are of different tenants ({b.tenant!r}, {a.tenant!r}). EITHER THE FILE IS WRONG and they "
    "are one tenant at the target, OR ISOLATION BETWEEN TENANTS IS BROKEN"
)


def _served(trial: Trial, caller: Credential, other: Credential, text: str, scope: str) -> bool:
    fresh = f"{other.name}-{text}"
    trial.long(caller, fresh, scope)
    return reused(trial.long(other, fresh, scope))
