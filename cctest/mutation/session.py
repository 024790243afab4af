"""A mutation run: the unmutated implementation and every mutant, judged by one suite on all cores."""

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Final

from cctest.instrument.client import running_engine
from cctest.instrument.settings import Settings
from cctest.mutation import worker
from cctest.mutation.judgement import Run
from cctest.mutation.mutant import Judge, Mutant, Setup, Verdict
from cctest.mutation.worker import Suite, named_cases, sample
from cctest.probe.case import Case
from cctest.problem import Problem
from cctest.verdict import Exit

WORKERS: Final = 2 * (os.cpu_count() or 1)
"""A probe waits for half of its time."""


class BaselineError(Problem):
    """The implementation fails without any mutant, so that no failure with one would mean anything."""

    exit = Exit.FAILED


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the unmutated implementation came to: how many checks each setup ran, all of which held."""

    checks: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come."""

    done: int
    total: int
    verdict: Verdict | None = None


def run(
    mutants: Sequence[Mutant],
    suite: Suite,
    tell: Callable[[Progress], None],
    *,
    known: Mapping[str, Verdict] | None = None,
    workers: int = WORKERS,
) -> tuple[Baseline, list[Verdict]]:
    """Judge the mutants of which nothing is `known` yet; verdicts come in the order of the mutants.

    `tell` is called whenever one more is judged. Raises BaselineError, and Problem where nothing can be run.
    """
    known = known or {}
    setups = {setup: None for mutant in mutants for setup in mutant.setups}
    verdicts = dict(known)
    waiting = [mutant for mutant in mutants if mutant.id not in known]
    tell(Progress(len(mutants) - len(waiting), len(mutants)))
    with _engines_for(setups) as engines, _pool(replace(suite, engines=engines), workers) as pool:
        plain = [
            (setup, pool.submit(worker.unmutated, setup, _needed(setup, mutants, suite))) for setup in setups
        ]
        begun = {pool.submit(worker.judge, mutant): mutant for mutant in waiting}
        baseline = Baseline({str(setup): _held(setup, future) for setup, future in plain})
        for future in as_completed(begun):
            verdict = future.result()
            verdicts[verdict.mutant] = verdict
            done = sum(mutant.id in verdicts for mutant in mutants)
            tell(Progress(done, len(mutants), verdict))
    return baseline, [verdicts[mutant.id] for mutant in mutants]


def _needed(setup: Setup, mutants: Iterable[Mutant], suite: Suite) -> tuple[Case, ...]:
    """Give the cases that the unmutated implementation has to pass: all, or those named for some mutant."""
    if setup.judge is Judge.VECTORS:
        return ()
    cases = [case for case in suite.cases if setup.judge is Judge.FORWARDING or not case.two_ended]
    if suite.whole:
        return tuple(cases)
    mine = [mutant for mutant in mutants if setup in mutant.setups]
    named = {case.id for mutant in mine for case in named_cases(mutant, cases)}
    if not named or any(mutant.caught_by is None for mutant in mine):
        return tuple(case for stage in sample(cases) for case in stage)
    return tuple(case for case in cases if case.id in named)


def _held(setup: Setup, future: "Future[Run]") -> int:
    """Count the checks that held without a mutant. Raises BaselineError if one failed."""
    run = future.result()
    wrong = [f"{one.check}: {one.message}" for one in run.seen if one.red or one.broke]
    if run.broke or run.late or wrong or not run.seen:
        told = run.broke or ("it took too long" if run.late else "; ".join(wrong[:3]) or "nothing was run")
        raise BaselineError(
            f"the implementation as it is doesn't pass ({setup})", hint=f"{len(wrong)} checks: {told}"
        )
    return len(run.seen)


@contextmanager
def _engines_for(setups: Iterable[Setup]) -> Iterator[Mapping[bool, str]]:
    """Run the engines that setups need, by whether they have regions; give their URLs."""
    needed = {setup.regions for setup in setups if setup.judge is Judge.FORWARDING}
    with ExitStack() as running:
        yield {one: running.enter_context(running_engine(Settings(regions=one))) for one in needed}


@contextmanager
def _pool(suite: Suite, workers: int) -> Iterator[ProcessPoolExecutor]:
    """Give worker processes. Whatever ends the block ends the work that hasn't begun."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, worker.begin, (suite,))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
