"""The whole trace: each rule with the sentences that state it, and with what holds it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cctest import bundle
from cctest.catalogue import ReadingRule, Requirement, load_readings
from cctest.coverage.compute import cover
from cctest.coverage.model import Coverage, Row, Run
from cctest.coverage.suite import bundled_suite
from cctest.mutation.catalogue import load_mutants
from cctest.mutation.mutant import Mutant
from cctest.problem import UsageProblem
from cctest.report.model import Report
from cctest.traceability.sentences import Sentence, sentences
from cctest.traceability.source import Draft, read_draft


@dataclass(frozen=True, slots=True)
class Tie:
    """One rule, the normative sentences that state it, what exercises it, and the mutants that break it."""

    rule: Requirement
    sentences: tuple[Sentence, ...]
    row: Row
    mutants: tuple[Mutant, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that can be tied, before it is looked for what isn't.

    `sentences` are all of the drafts', in order. The rows of `ties` have an entry for each of `runs`.
    """

    drafts: tuple[Draft, ...]
    sentences: tuple[Sentence, ...]
    ties: Mapping[str, Tie]
    readings: Mapping[str, ReadingRule]
    coverage: Coverage
    mutants: tuple[Mutant, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs whose results are shown."""
        return self.coverage.runs

    @property
    def normative(self) -> tuple[Sentence, ...]:
        """The sentences with a keyword of BCP 14."""
        return tuple(sentence for sentence in self.sentences if sentence.normative)


def bundled_trace(reports: Sequence[tuple[str, Report]] = ()) -> Trace:
    """Tie what ships with cctest; each report comes with the name by which its results are shown.

    Raises UsageProblem where files are unsound, or there is no draft.
    """
    drafts = tuple(_bundled_drafts())
    if not drafts:
        raise UsageProblem("there is no draft", where=str(bundle.SPEC), hint="its name is `draft-*.md`")
    return make_trace(drafts, cover(bundled_suite(), reports), load_mutants(), load_readings())


def make_trace(
    drafts: Sequence[Draft],
    coverage: Coverage,
    mutants: Sequence[Mutant],
    readings: Mapping[str, ReadingRule],
) -> Trace:
    """Tie drafts to the rules of `coverage`, and both to mutants."""
    found = tuple(sentence for draft in drafts for sentence in sentences(draft))
    return Trace(
        drafts=tuple(drafts),
        sentences=found,
        ties={
            each.rule.id: Tie(
                each.rule,
                tuple(one for one in found if one.normative and each.rule.id in one.rules),
                each.row,
                tuple(mutant for mutant in mutants if each.rule.id in mutant.rules),
            )
            for each in coverage.rules
        },
        readings=readings,
        coverage=coverage,
        mutants=tuple(mutants),
    )


def _bundled_drafts() -> Iterator[Draft]:
    for path in sorted(bundle.SPEC.glob("draft-*.md"), key=lambda each: each.stem):
        yield read_draft(path.relative_to(bundle.ROOT).as_posix(), _text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise UsageProblem("is no UTF-8", where=str(path)) from None
