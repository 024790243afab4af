"""Rendering the page: the drafts, the rules, and what a run showed of each."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from markupsafe import Markup

from cctest.report.coverage_words import evidence_words, reason_lines, result_words
from cctest.report.model import Report
from cctest.report.page.environment import coded, environment
from cctest.traceability.page.document import document_html
from cctest.traceability.sentences import Sentence
from cctest.traceability.trace import Tie, Trace
from cctest.traceability.untied import Untied
from cctest.traceability.words import holding_words
from cctest.verdict import Result

_TEMPLATE: Final = "annotated.html.jinja"
_NOTE: Final = "note.html.jinja"

_WORST_FIRST: Final = (
    Result.FAIL,
    Result.ERROR,
    Result.WARN,
    Result.INCONCLUSIVE,
    Result.UNSUPPORTED,
    Result.PASS,
)

Results = Mapping[str, Mapping[Result, int]]
"""What the checks of one run came to, by the name of the vector or the identifier of the check."""


@dataclass(frozen=True, slots=True)
class Held:
    """One vector or check that holds a rule, with its worst result in each run; None where it wasn't run."""

    name: str
    results: tuple[Result | None, ...]


@dataclass(frozen=True, slots=True)
class Holding:
    """What holds a rule: vectors, checks of cases, mutants."""

    tie: Tie
    vectors: tuple[Held, ...]
    checks: tuple[Held, ...]

    @property
    def counts(self) -> str:
        """How much there is of each."""
        return holding_words(self.tie)


@dataclass(frozen=True, slots=True)
class Written:
    """One draft on the page."""

    name: str
    title: str
    anchor: str
    text: Markup


def annotated_html(trace: Trace, untied: Sequence[Untied], reports: Sequence[tuple[str, Report]] = ()) -> str:
    """Write the page; `reports` are those that `trace` was made with."""
    shown = environment((coded, evidence_words, reason_lines, result_words), Path(__file__).parent)
    results = [_results(report) for _, report in reports]
    holdings = {name: _holding(tie, results) for name, tie in trace.ties.items()}
    names = {id(sentence): f"s{number}" for number, sentence in enumerate(trace.normative, 1)}
    note = shown.get_template(_NOTE)

    def noted(sentence: Sentence) -> Markup:
        held = [holdings[rule] for rule in sentence.rules if rule in holdings]
        return Markup(note.render(sentence=sentence, holdings=held, runs=trace.runs))  # noqa: S704 - escaped

    anchors = iter(names.values())
    written = [
        Written(
            draft.name,
            draft.title,
            f"draft-{number}",
            document_html(draft, f"d{number}-", anchors, noted),
        )
        for number, draft in enumerate(trace.drafts, 1)
    ]
    places = {
        rule: [(names[id(sentence)], sentence.where) for sentence in tie.sentences]
        for rule, tie in trace.ties.items()
    }
    return shown.get_template(_TEMPLATE).render(
        trace=trace, untied=untied, drafts=written, holdings=holdings, places=places
    )


def _results(report: Report) -> Results:
    found: dict[str, Counter[Result]] = {}
    for check in report.checks:
        name = check.id.partition("#")[0] if report.command == "vectors" else check.id
        found.setdefault(name, Counter())[check.result] += 1
    return found


def _holding(tie: Tie, results: Sequence[Results]) -> Holding:
    return Holding(tie, tuple(_held(tie.row.vectors, results)), tuple(_held(tie.row.checks, results)))


def _held(names: Sequence[str], results: Sequence[Results]) -> Iterator[Held]:
    for name in names:
        yield Held(name, tuple(_worst(each.get(name, {})) for each in results))


def _worst(results: Mapping[Result, int]) -> Result | None:
    return next((result for result in _WORST_FIRST if results.get(result)), None)
