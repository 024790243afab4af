"""The record of a mutation run, its figures, and its JSON shape (`schemas/mutation.schema.json`)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cctest import __version__
from cctest.bundle import SUITE_VERSION, suite_digest
from cctest.mutation.judgement import unexplained
from cctest.mutation.mutant import Family, Finding, Mutant, SchemaChange, SourceChange, Status, Verdict
from cctest.mutation.survivors import GAP, UNKILLABLE, Argument
from cctest.verdict import Exit

SCHEMA_VERSION: Final = 1
LEAST_SCORE: Final = 0.95
"""Of generated mutants, this part has to be killed."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many mutants there are, how many of each status, and the score.

    `score` is the part that was killed by the check that it is for. Of generated mutants those don't count
    for it that only broke, which shows nothing about the suite, and those that are argued to be `unkillable`,
    which a suite would be wrong to fail: together they are `aside`. For `strict`, all count.
    """

    total: int
    by_status: Mapping[Status, int]
    unkillable: int = 0
    aside: int = 0

    @property
    def score(self) -> float | None:
        """The score, from 0 to 1; None where no mutant says anything."""
        telling = self.total - self.aside
        return self.by_status.get(Status.KILLED, 0) / telling if telling else None

    @property
    def strict(self) -> float | None:
        """The part of all mutants that was killed, from 0 to 1; None where there are none."""
        return self.by_status.get(Status.KILLED, 0) / self.total if self.total else None


def tally(verdicts: Sequence[Verdict], arguments: Mapping[str, Argument] | None = None) -> Tally:
    """Count verdicts: of generated mutants with the `arguments` for survivors, of others without."""
    counted = Counter(verdict.status for verdict in verdicts)
    by_status = {status: counted[status] for status in Status}
    if arguments is None:
        return Tally(counted.total(), by_status)
    argued = [arguments.get(one.mutant) for one in verdicts if one.status is Status.SURVIVED]
    unkillable = sum(one is not None and one.kind in UNKILLABLE for one in argued)
    aside = unkillable + counted[Status.BROKE] + counted[Status.NOT_APPLIED]
    return Tally(counted.total(), by_status, unkillable, aside)


@dataclass(frozen=True, slots=True)
class MutationReport:
    """One mutation run, whole.

    `judged` pairs each mutant with what became of it. `golden` are the altered golden values. `baseline`
    counts the checks that the unmutated implementation passed in the same session, by setup. `arguments` say,
    by mutant, why a survivor need not be killed. With `whole` all checks were run for every mutant. `notes`
    are remarks about the run, such as how it was narrowed. `losses` tells what the suite had and has no more.
    """

    started: str
    seconds: float
    baseline: Mapping[str, int]
    judged: tuple[tuple[Mutant, Verdict], ...]
    golden: tuple[Verdict, ...] = ()
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    whole: bool = False
    notes: tuple[str, ...] = ()
    losses: tuple[str, ...] = ()

    def verdicts(self, family: Family) -> tuple[Verdict, ...]:
        """Give what became of the mutants of one family."""
        if family is Family.GOLDEN:
            return self.golden
        return tuple(verdict for mutant, verdict in self.judged if mutant.family is family)

    def tally(self, family: Family) -> Tally:
        """Count what became of the mutants of one family."""
        return tally(self.verdicts(family), self.arguments if family is Family.GENERATED else None)

    def tallies_by_package(self) -> dict[str, Tally]:
        """Count what became of generated mutants by the package that they change, `cctest` being the core."""
        found: dict[str, list[Verdict]] = {}
        for mutant, verdict in self.judged:
            if mutant.family is Family.GENERATED and isinstance(mutant.change, SourceChange):
                found.setdefault(mutant.change.path.partition("/")[0], []).append(verdict)
        return {package: tally(verdicts, self.arguments) for package, verdicts in found.items()}

    def unargued(self) -> tuple[str, ...]:
        """Name the generated mutants that survived and ought to be found, as far as anybody has argued."""
        return tuple(
            verdict.mutant
            for verdict in self.verdicts(Family.GENERATED)
            if not verdict.killed and verdict.status is not Status.BROKE and not self._excused(verdict.mutant)
        )

    def argued_in_vain(self) -> tuple[str, ...]:
        """Name the generated mutants that are argued for, and are killed."""
        return tuple(
            verdict.mutant
            for verdict in self.verdicts(Family.GENERATED)
            if verdict.killed and verdict.mutant in self.arguments
        )

    def _excused(self, mutant: str) -> bool:
        return mutant in self.arguments and self.arguments[mutant].kind != GAP

    def exit(self) -> Exit:
        """Give the exit code: 0 if everything was killed as it should, and no argument is in vain."""
        catalogue = (Family.RULE, Family.SCHEMA, Family.GOLDEN)
        missed = [
            one for family in catalogue for one in self.verdicts(family) if one.status is not Status.KILLED
        ]
        generated = self.tally(Family.GENERATED)
        enough = generated.score is None or generated.score >= LEAST_SCORE
        wrong = missed or self.losses or not enough or self.unargued() or self.argued_in_vain()
        return Exit.FAILED if wrong else Exit.OK


def by_rule(report: MutationReport) -> dict[str, list[tuple[Mutant, Verdict]]]:
    """Give the mutants of the catalogue by the first rule that they break, in the order of the catalogue."""
    found: dict[str, list[tuple[Mutant, Verdict]]] = {}
    for mutant, verdict in report.judged:
        for rule in mutant.rules[:1]:
            found.setdefault(rule, []).append((mutant, verdict))
    return found


def to_json(report: MutationReport) -> dict[str, Any]:
    """Give the report as `schemas/mutation.schema.json` describes it."""
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "cctest", "version": __version__},
        "suite": {"version": SUITE_VERSION, "digest": suite_digest()},
        "started": report.started,
        "seconds": round(report.seconds, 3),
        "whole": report.whole,
        "exit": int(report.exit()),
        "baseline": [{"setup": setup, "passed": count} for setup, count in report.baseline.items()],
        "summary": {str(family): _figures(report.tally(family)) for family in Family},
        "notes": list(report.notes),
        "losses": list(report.losses),
        "mutants": [_mutant(report, mutant, verdict) for mutant, verdict in report.judged],
        "golden": [
            {
                "id": verdict.mutant,
                "status": str(verdict.status),
                "failed": [one.check for one in verdict.findings],
            }
            for verdict in report.golden
        ],
    }


def _figures(counted: Tally) -> dict[str, Any]:
    return {
        "total": counted.total,
        "score": None if counted.score is None else round(counted.score, 4),
        "strict": None if counted.strict is None else round(counted.strict, 4),
        "unkillable": counted.unkillable,
        "statuses": {str(status): count for status, count in counted.by_status.items()},
    }


def _mutant(report: MutationReport, mutant: Mutant, verdict: Verdict) -> dict[str, Any]:
    change = mutant.change
    argument = report.arguments.get(mutant.id)
    blamed = {(one.check, tuple(one.cell.items())) for one in unexplained(mutant, verdict)}
    return {
        "id": mutant.id,
        "family": str(mutant.family),
        "rules": list(mutant.rules),
        "entails": list(mutant.entails),
        "inverts": mutant.inverts,
        "where": f"schemas/{change.kind}.schema.json" if isinstance(change, SchemaChange) else change.path,
        "was": mutant.was,
        "becomes": mutant.becomes,
        "operator": mutant.operator,
        "setups": [str(setup) for setup in mutant.setups],
        "caught_by": mutant.caught_by,
        "status": str(verdict.status),
        "ran": verdict.ran,
        "whole": verdict.whole,
        "suspect": verdict.suspect,
        "note": verdict.note,
        "seconds": verdict.seconds,
        "argument": None if argument is None else {"kind": argument.kind, "why": argument.why},
        "failed": [
            _finding(one, explained=(one.check, tuple(one.cell.items())) not in blamed)
            for one in verdict.findings
        ],
    }


def _finding(finding: Finding, *, explained: bool) -> dict[str, Any]:
    return {
        "check": finding.check,
        "cell": dict(finding.cell),
        "rules": list(finding.rules),
        "message": finding.message[:160],
        "explained": explained,
    }
