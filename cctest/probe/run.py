"""A whole probe: survey the target, play every cell, give the verdict."""

import random
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Final

from cctest.probe.callers import cast
from cctest.probe.case import Case, Role
from cctest.probe.cells import Cell, cells_of
from cctest.probe.courier import Courier
from cctest.probe.interpreter import Stage, run_cell
from cctest.probe.preflight import Survey, survey
from cctest.probe.prompt import UNIT_WORDS
from cctest.probe.schedule import run_overlapped
from cctest.problem import Problem, UsageProblem
from cctest.report.model import Report
from cctest.target.configuration import Configuration
from cctest.target.credential import Credential
from cctest.target.exchange import Target
from cctest.target.redaction import Redactor
from cctest.verdict import Check, Exit, Outcome, Reading, Verdict, decide

DEFAULT_JOBS: Final = 4
"""Exchanges that may be under way at the same time."""


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """What to probe and how. `total` is the number of cases there are, selected or not.

    `seed` fixes the order of the cells and, with the run's random identifier, every text. `full` runs the
    whole product of each case's axes; `only` narrows it to the cells for which it is true.
    """

    configuration: Configuration
    cases: tuple[Case, ...]
    total: int
    seed: int
    jobs: int = DEFAULT_JOBS
    full: bool = False
    only: Callable[[Cell], bool] | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come: called once with no check when the number of cells is known."""

    cells: int
    checks: tuple[Check, ...] = ()


def run_probe(plan: ProbePlan, progress: Callable[[Progress], None]) -> Report:
    """Probe the target and report.

    Raises UsageProblem if the configuration can't be probed with, and TargetProblem if the target can't be
    reached; neither message holds a credential.
    """
    configuration = plan.configuration
    redactor = Redactor(configuration.credentials, configuration.headers)
    callers = cast(configuration.credentials)
    if Role.SELF not in callers:
        raise UsageProblem(
            "no credential to probe with", hint="list at least two tenants under `credentials`"
        )
    if configuration.model is None:
        raise UsageProblem("no model to ask for", hint="give --model NAME, or `model` in the file")
    started, clock = datetime.now(UTC), monotonic()
    run_id = secrets.token_hex(8)
    nonce = f"{plan.seed}-{run_id}"
    with _target(configuration) as target:
        found = _survey(target, callers[Role.SELF], configuration.model, nonce, redactor)
        stage = Stage(
            courier=Courier(target),
            callers=callers,
            advertised=found.advertised,
            model=configuration.model,
            nonce=nonce,
            unit_words=max(UNIT_WORDS, configuration.min_prompt_tokens or 0),
        )
        checks, readings = _play(plan, stage, found, progress)
    verdict = _verdict(checks, found, stage)
    report = Report(
        command="probe",
        started=started.isoformat(timespec="seconds"),
        seconds=round(monotonic() - clock, 3),
        seed=plan.seed,
        target=configuration.target,
        capabilities=found.advertised.document,
        verdict=verdict,
        readings=_distinct((*found.readings, *readings)),
        checks=tuple(sorted(checks, key=_by_case(plan.cases))),
        notes=(*found.notes, *_selection(plan)),
    )
    return redactor.structure(report)


def _target(configuration: Configuration) -> Target:
    return Target(configuration.target, deadline=configuration.deadline, headers=configuration.headers)


def _survey(target: Target, credential: Credential, model: str, nonce: str, redactor: Redactor) -> Survey:
    try:
        return survey(target, credential, model, nonce)
    except Problem as problem:
        texts = (problem.message, problem.where, problem.hint)
        message, where, hint = (redactor.text(text) for text in texts)
        raise type(problem)(message, where=where, hint=hint) from None


def _play(
    plan: ProbePlan, stage: Stage, found: Survey, progress: Callable[[Progress], None]
) -> tuple[list[Check], list[Reading]]:
    if found.obstacle is not None:
        return [], []
    only = plan.only
    cells = [cell for cell in cells_of(plan.cases, full=plan.full) if only is None or only(cell)]
    random.Random(plan.seed).shuffle(cells)  # noqa: S311 - an order, no secret
    progress(Progress(len(cells)))
    checks: list[Check] = []
    readings: list[Reading] = []
    for result in run_overlapped([run_cell(cell, stage) for cell in cells], plan.jobs):
        checks += result.checks
        readings += result.readings
        progress(Progress(len(cells), result.checks))
    return checks, readings


def _verdict(checks: Sequence[Check], found: Survey, stage: Stage) -> Verdict:
    if found.obstacle is not None:
        return Verdict(Outcome.INCOMPLETE, Exit.INCOMPLETE, (found.obstacle,))
    blockers = []
    if not stage.callers.keys() & {Role.OTHER_TENANT, Role.NAMESAKE}:
        blockers.append("all credentials are of one tenant, so that isolation between tenants can't be shown")
    return decide(checks, blockers)


def _selection(plan: ProbePlan) -> tuple[str, ...]:
    if plan.only is not None:
        return ("only some cells were selected: this is no verdict on the others",)
    if len(plan.cases) == plan.total:
        return ()
    return (f"{len(plan.cases)} of {plan.total} cases were selected: this is no verdict on the others",)


def _by_case(cases: Sequence[Case]) -> Callable[[Check], tuple[int, str, tuple[tuple[str, str], ...]]]:
    order = {case.id: index for index, case in enumerate(cases)}
    return lambda check: (order[check.id.split("#")[0]], check.id, tuple(check.cell.items()))


def _distinct(readings: Sequence[Reading]) -> tuple[Reading, ...]:
    """Keep each reading once per way it was taken; a target may take several, in different cells."""
    kept = {(reading.id, reading.taken): reading for reading in reversed(readings)}
    return tuple(sorted(kept.values(), key=lambda reading: (int(reading.id.split("-")[1]), reading.taken)))
