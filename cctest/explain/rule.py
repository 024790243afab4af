"""Rules and readings in words, with what exercises or shows them."""

from collections.abc import Iterator, Sequence

from cctest.catalogue import ReadingRule, Requirement
from cctest.explain.finding import pointer_to
from cctest.explain.page import heading, item, line, term
from cctest.findings import finding_of
from cctest.probe.case import Case
from cctest.vectors.model import Vector


def rule_text(
    rule: Requirement, vectors: Sequence[Vector], cases: Sequence[Case], readings: Sequence[ReadingRule]
) -> Iterator[str]:
    """Yield the lines of a rule."""
    yield from line(f"{rule.id}: {rule.level}, section {rule.section}")
    yield from line(rule.text)
    yield ""
    yield from term("binds", ", ".join(rule.binds))
    seen = f"nothing: {rule.because}" if rule.because else ", ".join(rule.observable)
    yield from term("observable by", seen)
    exercising = [vector for vector in vectors if rule.id in vector.rules]
    yield from heading(f"Vectors ({len(exercising)})")
    for vector in exercising:
        yield from item("-", f"{vector.name}: {vector.title or vector.kind}")
    tied = [(case, _checks(case, rule.id)) for case in cases if rule.id in case.all_rules]
    yield from heading(f"Cases ({len(tied)})")
    for case, checks in tied:
        yield from item("-", f"{case.id}: {case.title} ({', '.join(checks) or 'no check of its own'})")
    concerned = [reading for reading in readings if rule.id in reading.rules]
    if concerned:
        yield from heading("What it leaves open")
    for reading in concerned:
        yield from item("-", f"{reading.id}: {reading.question}")


def _checks(case: Case, rule: str) -> list[str]:
    return [f"#{expectation.id}" for expectation in case.expectations if rule in expectation.rules]


def reading_text(reading: ReadingRule, cases: Sequence[Case]) -> Iterator[str]:
    """Yield the lines of a reading."""
    yield from line(f"{reading.id}: {reading.question}")
    yield from line(f"It concerns {', '.join(reading.rules)}. None of the answers is a failure.")
    yield from heading("Permitted")
    for option in reading.options:
        ours = " (the reference gateway's)" if option.key == reading.ours else ""
        yield from item("-", f"{option.key}: {option.text}{ours}")
    showing = [case for case in cases if any(spec.id == reading.id for spec in case.readings)]
    yield from heading(f"Cases that show which one a target takes ({len(showing)})")
    for case in showing:
        yield from item("-", f"{case.id}: {case.title}")
    finding = finding_of(reading.id)
    if finding is not None:
        yield from pointer_to(finding)
