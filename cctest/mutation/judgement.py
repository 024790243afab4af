"""From what was seen with a mutant to what became of it.

A check kills a mutant by failing; one of level SHOULD, by a warning. A crash, a server error that nobody
asked for, an error and an inconclusive check kill nothing.
"""

import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cctest.mutation.by_probe import Probed
from cctest.mutation.by_vectors import Ran
from cctest.mutation.mutant import Finding, Mutant, Status, Verdict
from cctest.probe.case import Case
from cctest.vectors.model import Vector
from cctest.verdict import Check, Result

_NOTE: Final = 300
"""Most characters of a note."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One check as it came out. `red` says that it failed, `broke` that it only shows a crash."""

    check: str
    rules: tuple[str, ...]
    red: bool
    broke: bool
    message: str
    cell: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Run:
    """All that one setup showed of a mutant."""

    seen: tuple[Seen, ...]
    applied: bool
    broke: str = ""
    late: bool = False
    whole: bool = False

    @property
    def crashed(self) -> bool:
        """Whether anything crashed, or nothing could be run."""
        return bool(self.broke) or any(one.broke for one in self.seen)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The checks that failed, and not for a crash."""
        return tuple(
            Finding(one.check, one.rules, one.message, one.cell)
            for one in self.seen
            if one.red and not one.broke
        )


class Reader:
    """Reads results in the light of the vectors and the cases that they are of."""

    def __init__(self, vectors: Sequence[Vector], cases: Sequence[Case]) -> None:
        self._rules = {vector.name: vector.rules for vector in vectors}
        self._vectors = len(vectors)
        self._recommended = {
            check
            for case in cases
            for check, expected in zip(case.checks, case.expectations, strict=True)
            if expected.level == "SHOULD"
        }
        self._provoked = {case.id for case in cases if any(step.misbehaviour for step in case.steps)}

    def of_vectors(self, ran: Ran) -> Run:
        """Read a run of vectors."""
        seen = tuple(
            Seen(
                check,
                self._rules[check.partition("#")[0]],
                result == Result.FAIL,
                result == Result.ERROR,
                message,
            )
            for check, result, message in ran.checks
        )
        return Run(seen, ran.applied, ran.broke, ran.late, whole=True)

    def of_probe(self, probed: Probed, *, whole: bool) -> Run:
        """Read a probe."""
        seen = tuple(self._seen(check) for check in probed.checks)
        return Run(seen, probed.applied, probed.broke, probed.late, whole and not probed.stopped)

    def is_finding(self, check: Check) -> bool:
        """Tell whether a check failed, and not for a crash."""
        seen = self._seen(check)
        return seen.red and not seen.broke

    def _seen(self, check: Check) -> Seen:
        missed = check.result is Result.WARN and check.id in self._recommended
        told = f"{check.message}; {check.seen}" if check.seen else check.message
        unprovoked = check.id.partition("#")[0] not in self._provoked
        broke = check.result is Result.ERROR or ("HTTP 5" in told and unprovoked)
        red = check.result is Result.FAIL or missed
        return Seen(check.id, check.rules, red, broke, told, check.cell)


def decide(mutant: Mutant, runs: Sequence[Run], seconds: float) -> Verdict:
    """Say what became of a mutant."""
    seen = [one for run in runs for one in run.seen]
    findings = [finding for run in runs for finding in run.findings]
    named = [finding for finding in findings if is_named(mutant, finding.check)]
    note = ""
    if not any(run.applied or run.broke or run.late for run in runs):
        status = Status.NOT_APPLIED
    elif not any(run.applied for run in runs):
        late = any(run.late for run in runs)
        status, note = (Status.TIMED_OUT, "") if late else (Status.BROKE, _breakage(runs, seen))
    elif named and (elsewhere := _elsewhere(mutant, seen)):
        status, note = Status.KILLED_BY_ANOTHER, elsewhere
    elif named or (findings and mutant.caught_by is None):
        status = Status.KILLED
    elif findings:
        status = Status.KILLED_BY_ANOTHER
    elif any(run.late for run in runs):
        status = Status.TIMED_OUT
    elif any(run.crashed for run in runs):
        status, note = Status.BROKE, _breakage(runs, seen)
    else:
        status = Status.SURVIVED
    suspect = any(run.whole and len(run.findings) > len(run.seen) / 2 for run in runs)
    return Verdict(
        mutant=mutant.id,
        status=status,
        ran=len(seen),
        findings=tuple(findings),
        whole=bool(runs) and all(run.whole for run in runs),
        suspect=suspect,
        note=note,
        seconds=round(seconds, 2),
    )


def is_named(mutant: Mutant, check: str) -> bool:
    """Tell whether a check is the one meant for the mutant; a vector's name means each of its checks."""
    return mutant.caught_by is not None and mutant.caught_by in (check, check.partition("#")[0])


def _elsewhere(mutant: Mutant, seen: Iterable[Seen]) -> str:
    """Tell where the named check came out otherwise than the cells of the mutant say."""
    wrong = [
        " ".join(f"{axis}={value}" for axis, value in sorted(one.cell.items()))
        for one in seen
        if mutant.cells and is_named(mutant, one.check) and one.red != mutant.shows_in(one.cell)
    ]
    return (
        f"{mutant.caught_by} came out otherwise than the catalogue says in {'; '.join(wrong)}"
        if wrong
        else ""
    )


def _breakage(runs: Iterable[Run], seen: Iterable[Seen]) -> str:
    told = [run.broke for run in runs if run.broke]
    told += [f"{one.check}: {one.message}" for one in seen if one.broke]
    return without_folders(told[0])[:_NOTE]


def without_folders(text: str) -> str:
    """Take out where on this machine a file lies: a report is for others."""
    here = Path(__file__).parents[2]
    folders = {*map(str, (here, Path.home())), tempfile.gettempdir(), sys.prefix, sys.base_prefix}
    for folder in sorted(folders - {"/"}, key=len, reverse=True):
        text = text.replace(f"{folder}/", "")
    return text


def unexplained(mutant: Mutant, verdict: Verdict) -> tuple[Finding, ...]:
    """Give the failures that rest on none of the rules that the mutant is said to break or to entail."""
    expected = {*mutant.rules, *mutant.entails}
    return tuple(one for one in verdict.findings if expected and not expected & {*one.rules})
