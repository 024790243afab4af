"""Running one case in one cell of its axes: send the steps, judge the expectations."""

import hashlib
import itertools
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from cctest.probe.acceptance import refused_plainly
from cctest.probe.blank import hold_against_blanks, readings_beside_blanks
from cctest.probe.callers import UNCREDENTIALED
from cctest.probe.case import Expectation, Role
from cctest.probe.cells import Cell
from cctest.probe.enforceability import refused_as_announced
from cctest.probe.judgement import (
    Judgement,
    World,
    inconclusive,
    missing_capability,
    refuses_conversation,
)
from cctest.probe.observation import Observation
from cctest.probe.performing import perform, provoked
from cctest.probe.predicates import PREDICATES
from cctest.probe.prompt import Setting
from cctest.probe.readings import take
from cctest.probe.settlement import ATTEMPTS, Hope, conclude, settle
from cctest.probe.stage import Stage
from cctest.target.curl import reproduce
from cctest.verdict import Check, Profile, Reading, Result

_CLOCK_STEP: Final = 0.05
"""Seconds added to every wait, for clocks that tick coarsely."""

_PAUSES: Final = (0.0, 0.4, 1.6)
"""Seconds between steps by attempt: some caches show an entry only a while after it was made."""

_SETTLED_WELL: Final = (Result.PASS, Result.UNSUPPORTED)
"""Results that nobody wants to reproduce."""


@dataclass(frozen=True, slots=True)
class CellResult:
    """What one cell came to."""

    checks: tuple[Check, ...]
    readings: tuple[Reading, ...] = ()
    uncontrolled: frozenset[int] = frozenset()
    """Indexes of those checks that only lacked their positive control."""


_APART: Final = " (tried again under a namespace of the cell's own)"


def run_cell(cell: Cell, stage: Stage) -> Generator[float, None, CellResult]:
    """Run a cell; yields the monotonic instants before which it has nothing to do."""
    roles = cell.case.roles(cell.at)
    absent = [role for role in roles if role not in stage.callers.keys() | UNCREDENTIALED]
    if absent:
        uncast = [_uncast(cell, expected, absent[0], stage) for expected in cell.case.expectations]
        return CellResult(tuple(uncast))
    began = time.monotonic()
    attempts: list[_Attempt] = []
    while not attempts or _worth_another(attempts, stage.hope):
        apart = bool(attempts) and _might_be_disturbed(cell, stage, attempts)
        attempts.append((yield from _attempt(cell, stage, len(attempts), apart=apart)))
    seconds = time.monotonic() - began
    decisions = [conclude(history) for history in _histories(attempts)]
    checks = tuple(
        _check(
            cell,
            expected,
            decided,
            reproduce=() if decided.result in _SETTLED_WELL else _commands(index, attempts, stage),
            seconds=seconds,
        )
        for index, (expected, decided) in enumerate(zip(cell.case.expectations, decisions, strict=True))
    )
    world, shown = attempts[-1].world, () if attempts[-1].refused else cell.case.readings
    taken = (take(spec, world, f"{cell.case.id}#{spec.id}") for spec in shown)
    readings = yield from readings_beside_blanks([one for one in taken if one is not None], world, stage)
    return CellResult(
        checks,
        readings,
        frozenset(index for index, decided in enumerate(decisions) if decided.uncontrolled),
    )


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One time through the steps of a cell; a judgement for each expectation."""

    world: World
    judgements: tuple[Judgement, ...]
    refused: bool = False
    """Whether a caller was refused whatever it asks, so that the attempt shows nothing."""


def _histories(attempts: Sequence[_Attempt]) -> Iterator[tuple[Judgement, ...]]:
    """Yield, for each expectation, its judgements in all attempts."""
    return zip(*(one.judgements for one in attempts), strict=True)


def _worth_another(attempts: Sequence[_Attempt], hope: Hope) -> bool:
    """Whether something is unsettled that another attempt may settle.

    A missed control is worth it while there is hope of any reuse. What failed once always is, also on a
    target that never reuses anything, and gets two attempts more.
    """
    unsettled = [history for history in _histories(attempts) if settle(history) is None]
    failed = any(one.result is Result.FAIL for history in unsettled for one in history)
    return bool(unsettled) and (failed or hope.left) and len(attempts) < ATTEMPTS + (2 if failed else 0)


def _might_be_disturbed(cell: Cell, stage: Stage, attempts: Sequence[_Attempt]) -> bool:
    """Whether other cells may be why nothing was settled, so that a namespace of the cell's own may help.

    A target may bound ages for a boundary as a whole, all of its state ending with the oldest. Whatever other
    cells leave there then ends this cell's state early. What failed is tried again just as it was.
    """
    capabilities = stage.advertised.capabilities
    if attempts[-1].world.setting.apart:
        return True
    failed = any(one.result is Result.FAIL for one in attempts[-1].judgements)
    return (
        not failed and cell.case.bounds_an_age and capabilities is not None and capabilities.namespace is True
    )


def _attempt(cell: Cell, stage: Stage, number: int, *, apart: bool) -> Generator[float, None, _Attempt]:
    place = "\0".join((stage.nonce, cell.case.id, *itertools.chain(*sorted(cell.at.items())), str(number)))
    setting = Setting(
        case=cell.case,
        cell=cell.at,
        nonce=hashlib.sha256(place.encode()).hexdigest()[:12],
        model=stage.model,
        callers=stage.callers,
        capabilities=stage.advertised.capabilities,
        unit_words=stage.unit_words,
        apart=apart,
    )
    timed = any(step.after for step in cell.case.steps)
    pause = 0.0 if timed else max(stage.settling, _PAUSES[min(number, len(_PAUSES) - 1)])
    observations: dict[str, Observation] = {}
    read = stage.ledger.latest if stage.ledger else 0
    for step in cell.case.steps:
        if step.after is not None:
            response = observations[step.after.step].response
            if response is not None:
                yield response.ended + step.after.seconds + _CLOCK_STEP
        elif pause and observations:
            yield time.monotonic() + pause
        seen = yield from perform(step, setting, stage, observations)
        if stage.ledger is not None and (seen.error is None or provoked(seen)):
            seen = replace(seen, records=stage.ledger.entries(setting, seen.built, read))
            read = max((entry.number for entry in seen.records or ()), default=read)
        observations[step.id] = replace(seen, tokens_per_byte=stage.tokens_per_byte)
    world = World(setting, observations, stage.advertised)
    refusal = yield from refused_plainly(world, stage)
    if refusal is not None:
        return _Attempt(world, (inconclusive(refusal),) * len(cell.case.expectations), refused=True)
    judged = tuple(_judge(expected, world) for expected in cell.case.expectations)
    if apart:
        judged = tuple(replace(one, message=f"{one.message}{_APART}") for one in judged)
    judged = yield from hold_against_blanks(judged, world, stage)
    stage.hope.note(reused=any(_any_reuse(seen) for seen in observations.values()))
    return _Attempt(world, judged)


def _judge(expected: Expectation, world: World) -> Judgement:
    """Judge an expectation; where the target takes no such conversation at all, there is nothing to show.

    Nor is there where it refuses what it says that it can't enforce.
    """
    judgement = PREDICATES[expected.predicate](expected, world)
    if judgement.result is not Result.INCONCLUSIVE:
        return judgement
    announced = refused_as_announced(expected, world)
    if announced is not None:
        return Judgement(Result.UNSUPPORTED, announced)
    if not refuses_conversation(world):
        return judgement
    refusal = next(iter(world.observations.values())).outline
    return Judgement(Result.UNSUPPORTED, f"the target takes no such conversation: {refusal}")


def _any_reuse(seen: Observation) -> bool:
    outcomes = {entry.get("outcome") for entry in seen.entries or ()}
    recorded = any(record.cached_tokens for record in seen.asked)
    counted = seen.chat is not None and bool(seen.chat.cached_tokens)
    return recorded or counted or bool(outcomes & {"exact_hit", "approximate_hit"})


def _uncast(cell: Cell, expected: Expectation, role: Role, stage: Stage) -> Check:
    quotation = missing_capability(cell.case.needed(cell.at), stage.advertised)
    if quotation is not None:
        judgement = Judgement(Result.UNSUPPORTED, quotation)
    else:
        judgement = Judgement(Result.INCONCLUSIVE, stage.absences[role])
    return _check(cell, expected, judgement)


def _check(
    cell: Cell,
    expected: Expectation,
    judgement: Judgement,
    *,
    reproduce: tuple[str, ...] = (),
    seconds: float = 0.0,
) -> Check:
    result = judgement.result
    if result is Result.FAIL and expected.level == "SHOULD":
        result = Result.WARN
    return Check(
        id=f"{cell.case.id}#{expected.id}",
        rules=expected.rules,
        result=result,
        message=judgement.message,
        cell=cell.at,
        expected=judgement.expected,
        seen=judgement.seen,
        evidence=judgement.evidence,
        reproduce=reproduce,
        seconds=round(seconds, 3),
        profile=Profile.EXTENDED if cell.case.needs else Profile.CORE,
    )


def _commands(index: int, attempts: Sequence[_Attempt], stage: Stage) -> tuple[str, ...]:
    """Write the requests of the attempt that tells most about an expectation: the last one that failed."""
    failing = [one.world for one in attempts if one.judgements[index].result is Result.FAIL]
    world = failing[-1] if failing else attempts[-1].world
    target = stage.courier.target
    return tuple(
        (f"sleep {seen.step.after.seconds:g} && " if seen.step.after else "")
        + reproduce(seen.request, target)
        for seen in world.observations.values()
    )
