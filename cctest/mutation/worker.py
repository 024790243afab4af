"""Judging one mutant, in a worker process that keeps the suite loaded from one to the next."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from cctest.mutation.by_probe import probe
from cctest.mutation.by_vectors import run_forked
from cctest.mutation.judgement import Reader, Run, decide, is_named
from cctest.mutation.mutant import Family, Judge, Mutant, Setup, SourceChange, Verdict
from cctest.probe.case import Case
from cctest.vectors.model import Vector

_TWO_PLACES: Final = 2
"""Most cases have their intents on tools and on messages."""


@dataclass(frozen=True, slots=True)
class Suite:
    """What judges: vectors, behavioural cases, and the URLs of instrumented engines where they are needed.

    `engines` are by whether they have regions. With `whole` every check is run; else the one that is named
    for a mutant first, and those of its rules only if that doesn't fail.
    """

    vectors: tuple[Vector, ...]
    cases: tuple[Case, ...]
    engines: Mapping[bool, str] = field(default_factory=dict)
    whole: bool = False


class Worker:
    """Judges mutants by one suite."""

    def __init__(self, suite: Suite) -> None:
        self._suite = suite
        self._reader = Reader(suite.vectors, suite.cases)

    def judge(self, mutant: Mutant) -> Verdict:
        """Say what becomes of a mutant."""
        started = time.monotonic()
        runs: list[Run] = []
        for setup in mutant.setups:
            if setup.judge is Judge.VECTORS:
                ran = run_forked(mutant.change, self._suite.vectors)
                runs.append(self._reader.of_vectors(ran))
            elif isinstance(mutant.change, SourceChange):
                runs += self._probes(mutant, mutant.change, setup)
            if (runs[-1].findings or runs[-1].crashed) and not self._suite.whole:
                break
        return decide(mutant, runs, time.monotonic() - started)

    def unmutated(self, setup: Setup, cases: Sequence[Case]) -> Run:
        """Run the suite, or some of its cases, against the implementation as it is."""
        if setup.judge is Judge.VECTORS:
            return self._reader.of_vectors(run_forked(None, self._suite.vectors))
        engine = self._suite.engines.get(setup.regions)
        return self._reader.of_probe(probe(None, setup, cases, engine=engine), whole=True)

    def _probes(self, mutant: Mutant, change: SourceChange, setup: Setup) -> list[Run]:
        engine = self._suite.engines.get(setup.regions)
        cases = [case for case in self._suite.cases if setup.judge is Judge.FORWARDING or not case.two_ended]
        if self._suite.whole:
            return [self._reader.of_probe(probe(change, setup, cases, engine=engine), whole=True)]
        runs: list[Run] = []
        for stage in stages(mutant, cases):
            enough = self._reader.is_finding if mutant.caught_by is None else None
            probed = probe(change, setup, stage, engine=engine, enough=enough)
            if probed.broke and not probed.checks:  # a machine may be too busy to start anything in time
                probed = probe(change, setup, stage, engine=engine, enough=enough)
            runs.append(self._reader.of_probe(probed, whole=False))
            if runs[-1].broke or any(is_decisive(mutant, one.check) for one in runs[-1].findings):
                break
        return runs


def stages(mutant: Mutant, cases: Sequence[Case]) -> list[list[Case]]:
    """Put the cases in the order in which they are run: the named one, then those of the mutant's rules.

    Of the named one a single cell comes first, unless the mutant shows in some cells only. Where none is
    named, those come of a `sample`.
    """
    if mutant.family is Family.GENERATED:
        return sample(cases)
    named = named_cases(mutant, cases)
    related = [first_cell(case) for case in cases if case not in named and case.all_rules & set(mutant.rules)]
    quick = [] if mutant.cells else [first_cell(case) for case in named]
    return [stage for stage in (quick, named, related) if stage]


def is_decisive(mutant: Mutant, check: str) -> bool:
    """Tell whether nothing more is to be learnt once this check has failed."""
    return mutant.caught_by is None or is_named(mutant, check)


def named_cases(mutant: Mutant, cases: Sequence[Case]) -> list[Case]:
    """Give the case of the check that has to fail."""
    return [case for case in cases if any(is_named(mutant, check) for check in case.checks)]


def first_cell(case: Case) -> Case:
    """Narrow a case to its first cell."""
    return replace(case, axes={axis: values[:1] for axis, values in case.axes.items()})


def sample(cases: Sequence[Case]) -> list[list[Case]]:
    """Give cells for a mutant that any check may find: the first of every case, then a few others.

    These are the last ones of the cases about all the places in which an intent can stand: streamed, on a
    message in parts, the last of many fragments.
    """
    everywhere = [case for case in cases if len(case.axes.get("place", ())) > _TWO_PLACES]
    last = [
        replace(case, axes={axis: values[-1:] for axis, values in case.axes.items()}) for case in everywhere
    ]
    return [stage for stage in ([first_cell(case) for case in cases], last) if stage]


_WORKER: list[Worker] = []
"""The worker of this process."""


def begin(suite: Suite) -> None:
    """Make this process a worker."""
    _WORKER[:] = [Worker(suite)]


def judge(mutant: Mutant) -> Verdict:
    """Judge a mutant in this process."""
    return _WORKER[0].judge(mutant)


def unmutated(setup: Setup, cases: Sequence[Case]) -> Run:
    """Run the suite without a mutant in this process."""
    return _WORKER[0].unmutated(setup, cases)
