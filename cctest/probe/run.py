"""A whole probe: survey the target, play every cell, give the verdict."""

import random
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import monotonic
from typing import Final

from cctest.catalogue import load_catalogue
from cctest.instrument.client import Engine
from cctest.probe.acceptance import Acceptance, ask_plainly, unnamed
from cctest.probe.callers import absences, cast
from cctest.probe.case import Case, ReadingSpec, Role
from cctest.probe.cells import Cell, cells_of
from cctest.probe.courier import Courier
from cctest.probe.interpreter import CellResult, run_cell
from cctest.probe.ledger import Ledger
from cctest.probe.preflight import Survey, reach, survey
from cctest.probe.prompt import UNIT_WORDS
from cctest.probe.readings import without_noise
from cctest.probe.schedule import run_overlapped
from cctest.probe.settling import Habits, learn
from cctest.probe.stage import Stage
from cctest.probe.timing import timing_check
from cctest.probe.trial import Trial
from cctest.problem import Problem, TargetProblem, UsageProblem
from cctest.report.model import Report
from cctest.target.configuration import Configuration
from cctest.target.redaction import Redactor
from cctest.verdict import Check, Evidence, Exit, Outcome, Reading, Result, Source, Verdict, decide

DEFAULT_JOBS: Final = 4
"""Exchanges that may be under way at the same time."""


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """What to probe and how. `total` is the number of cases there are, selected or not.

    `seed` fixes the order of the cells and, with the run's random identifier, every text. `full` runs the
    whole product of each case's axes; `only` narrows it to the cells for which it is true.
    `timing` is the number of timing trials. `engine` is the URL of the instrumented engine behind the target,
    if there is one.
    """

    configuration: Configuration
    cases: tuple[Case, ...]
    total: int
    seed: int
    jobs: int = DEFAULT_JOBS
    full: bool = False
    only: Callable[[Cell], bool] | None = None
    engine: str | None = None
    timing: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come: called once with no check when the number of cells is known."""

    cells: int
    checks: tuple[Check, ...] = ()


def run_probe(plan: ProbePlan, progress: Callable[[Progress], None]) -> Report:
    """Probe the target and report.

    Raises UsageProblem if the configuration can't be probed with, and TargetProblem if the target can't be
    reached or answers no plain question of any caller; neither message holds a credential.
    """
    configuration = plan.configuration
    redactor = configuration.redactor()
    lack = unnamed(configuration)
    if lack is not None:
        raise UsageProblem(lack.why, hint=lack.hint)
    model = configuration.model or ""
    started, clock = datetime.now(UTC), monotonic()
    run_id = secrets.token_hex(8)
    nonce = f"{plan.seed}-{run_id}"
    with configuration.connect() as target, _ledger(plan.engine) as ledger:
        with _redacted(redactor):
            opened = reach(target)
            met = _met(configuration, Trial(Courier(target), model, nonce))
            callers = cast(met.accepted)
            found = survey(target, callers[Role.SELF], model, nonce, openly=opened.status)
        stage = Stage(
            courier=Courier(target),
            callers=callers,
            absences=absences(callers, configuration.credentials, met.refusals),
            advertised=found.advertised,
            model=model,
            nonce=nonce,
            unit_words=max(UNIT_WORDS, configuration.min_prompt_tokens or 0),
            ledger=ledger,
        )
        checks, readings = _play(plan, _settled(stage, found), found, progress)
    verdict = _verdict(checks, found, stage)
    report = Report(
        command="probe",
        started=started.isoformat(timespec="seconds"),
        seconds=round(monotonic() - clock, 3),
        seed=plan.seed,
        target=configuration.target,
        capabilities=found.advertised.document,
        verdict=verdict,
        readings=_distinct(without_noise((*found.readings, *readings), _specs(plan.cases), _cells(checks))),
        checks=tuple(sorted(checks, key=_by_case(plan.cases))),
        partial=plan.only is not None or len(plan.cases) != plan.total,
        unobservable=_unobservable(),
        notes=(
            *configuration.notes(),
            *found.notes,
            *(f"{why}: nothing else was sent with it" for why in met.refusals.values()),
            *_selection(plan),
            *_unattached(plan),
            *_one_boundary(found),
        ),
    )
    return redactor.structure(report)


@contextmanager
def _ledger(url: str | None) -> Iterator[Ledger | None]:
    if url is None:
        yield None
        return
    with Engine(url) as engine:
        yield Ledger(engine)


def _unobservable() -> dict[str, str]:
    """The rules that no probe can observe, and why."""
    return {rule.id: rule.because for rule in load_catalogue().values() if rule.because is not None}


def _one_boundary(found: Survey) -> tuple[str, ...]:
    """Say what the lack of per-fragment boundaries costs the caller (CAP-6); it is no fault."""
    capabilities = found.advertised.capabilities
    if capabilities is None or capabilities.per_fragment_share:
        return ()
    cost = "one boundary, the narrowest, is applied to each whole request (CAP-6)"
    return (f"{cost}: a public prefix in front of a tenant's text is recomputed by every tenant",)


def _unattached(plan: ProbePlan) -> tuple[str, ...]:
    two_ended = sum(case.two_ended for case in plan.cases)
    if plan.engine is not None or not two_ended:
        return ()
    return (
        f"{two_ended} cases were left out: they need an instrumented engine behind the target (--engine)",
    )


def _met(configuration: Configuration, trial: Trial) -> Acceptance:
    """Have every caller ask plainly. Raises TargetProblem if nobody is answered."""
    met = ask_plainly(trial, configuration.credentials)
    obstacle = met.obstacle(configuration.target)
    if obstacle is not None:
        raise TargetProblem(obstacle.why, hint=obstacle.hint)
    return met


@contextmanager
def _redacted(redactor: Redactor) -> Iterator[None]:
    """Keep secrets out of problems."""
    try:
        yield
    except Problem as problem:
        texts = (problem.message, problem.where, problem.hint)
        message, where, hint = (redactor.text(text) for text in texts)
        raise type(problem)(message, where=where, hint=hint) from None


def _settled(stage: Stage, found: Survey) -> Stage:
    """Take in the target's habits, and whether controls are worth trying again."""
    habits = learn(stage) if found.obstacle is None else Habits()
    stage.hope.note(reused=habits.settling is not None)
    return replace(stage, settling=habits.settling or 0.0, tokens_per_byte=habits.tokens_per_byte)


def _play(
    plan: ProbePlan, stage: Stage, found: Survey, progress: Callable[[Progress], None]
) -> tuple[list[Check], list[Reading]]:
    if found.obstacle is not None:
        return [], []
    only = plan.only
    cases = [case for case in plan.cases if stage.ledger is not None or not case.two_ended]
    cells = [cell for cell in cells_of(cases, full=plan.full) if only is None or only(cell)]
    if not cells:
        raise UsageProblem("nothing is left to run", hint="the selected cases need an engine: give --engine")
    random.Random(plan.seed).shuffle(cells)  # noqa: S311 - an order, no secret
    progress(Progress(len(cells)))
    results: list[CellResult] = []
    for result in run_overlapped([run_cell(cell, stage) for cell in cells], plan.jobs):
        results.append(result)
        progress(Progress(len(cells), result.checks))
    never_reuses = _never_reuses(stage.ledger)
    if plan.timing:
        results.append(CellResult((timing_check(stage, plan.timing),)))
    checks = [check for result in results for check in _vacuously(result, never_reuses=never_reuses)]
    return checks, [reading for result in results for reading in result.readings]


def _never_reuses(ledger: Ledger | None) -> bool:
    """Whether the engine's own record shows that nothing was reused in the whole run."""
    return ledger is not None and ledger.computed > 0 and not ledger.ever_reused


def _vacuously(result: CellResult, *, never_reuses: bool) -> Iterator[Check]:
    """Let checks that only lacked their control pass, vacuously, for a target that never reuses anything."""
    for index, check in enumerate(result.checks):
        if never_reuses and index in result.uncontrolled:
            message = "the engine's record shows that the target never reuses anything"
            evidence = (*check.evidence, Evidence(Source.ENGINE, "no request of the run reused anything"))
            yield replace(
                check, result=Result.PASS, message=message, evidence=evidence, vacuous=True, reproduce=()
            )
        else:
            yield check


def _verdict(checks: Sequence[Check], found: Survey, stage: Stage) -> Verdict:
    if found.obstacle is not None:
        return Verdict(Outcome.INCOMPLETE, Exit.UNTESTABLE, (found.obstacle,))
    blockers = []
    if not stage.callers.keys() & {Role.OTHER_TENANT, Role.NAMESAKE}:
        blockers.append(
            "all accepted credentials are of one tenant, so that isolation between tenants can't be shown"
        )
    return decide(checks, blockers)


def _selection(plan: ProbePlan) -> tuple[str, ...]:
    if plan.only is not None:
        return ("only some cells were selected: this is no verdict on the others",)
    if len(plan.cases) == plan.total:
        return ()
    return (f"{len(plan.cases)} of {plan.total} cases were selected: this is no verdict on the others",)


def _by_case(cases: Sequence[Case]) -> Callable[[Check], tuple[int, str, tuple[tuple[str, str], ...]]]:
    order = {case.id: index for index, case in enumerate(cases)}
    return lambda check: (
        order.get(check.id.split("#")[0], len(order)),
        check.id,
        tuple(check.cell.items()),
    )


def _specs(cases: Sequence[Case]) -> dict[str, ReadingSpec]:
    """Give the specification of each reading, by the name that it has in reports."""
    return {f"{case.id}#{spec.id}": spec for case in cases for spec in case.readings}


def _cells(checks: Sequence[Check]) -> Counter[str]:
    """Count the cells that were run of each case."""
    return Counter(
        case for case, _ in {(one.id.partition("#")[0], frozenset(one.cell.items())) for one in checks}
    )


def _distinct(readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """Keep each reading once per way it was taken; a target may take several, in different cells."""
    kept = {(reading.id, reading.taken): reading for reading in reversed(readings)}
    return tuple(sorted(kept.values(), key=lambda reading: (int(reading.id.split("-")[1]), reading.taken)))
