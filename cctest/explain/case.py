"""A case in words: what it is about, what is sent, what must hold, how to fix and reproduce it."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cctest.catalogue import ReadingRule, Requirement
from cctest.explain.accounts import EVIDENCE, account_of, all_of
from cctest.explain.page import heading, item, line, term
from cctest.explain.prose import caller, literal, rest, sent
from cctest.explain.skeleton import curl_skeleton
from cctest.findings import finding_of
from cctest.probe.case import Case, Expectation, ReadingSpec
from cctest.probe.cells import cells_of
from cctest.probe.load import FINDING_GROUP

_SAID: Final = (
    *("id", "title", "rules", "texts", "intents", "steps", "expectations", "readings", "needs", "filler"),
    *("variants", "two_ended", "axes", "appendix", "group"),
)


def case_text(
    case: Case, rules: Mapping[str, Requirement], readings: Mapping[str, ReadingRule], name: str
) -> Iterator[str]:
    """Yield the lines of a case; `name` is what was asked for, the case or one of its checks."""
    yield from line(f"{case.id}: {case.title}")
    yield from _about(case)
    yield from heading("Rules")
    for rule in _rules_of(case):
        yield from term(rule, f"{rules[rule].level}. {rules[rule].text}" if rule in rules else "")
    yield from _callers(case)
    yield from _needs(case)
    yield from _axes(case)
    yield from _intents(case)
    if case.steps:
        yield from heading("Steps")
    for number, step in enumerate(case.steps, 1):
        yield from item(f"{number}.", f"{step.id}: {sent(case, step)}")
    for expectation in case.expectations:
        yield from _check(case, expectation)
    yield from _readings(case.readings, readings)
    yield from _reproduce(case, name)


def _rules_of(case: Case) -> list[str]:
    named = [*case.rules, *(rule for expectation in case.expectations for rule in expectation.rules)]
    return list(dict.fromkeys(named))


def _about(case: Case) -> Iterator[str]:
    few, all_of_them = len(list(cells_of([case]))), len(list(cells_of([case], full=True)))
    cells = f"{few} cell{'' if few == 1 else 's'}"
    if all_of_them > few:
        cells += f" (every pair of values), {all_of_them} with --full"
    yield from line(f"Group {case.group}; {cells}.")
    if case.appendix is not None:
        yield from line(f"This is interoperability test {case.appendix} of the contract's appendix.")
    if case.two_ended:
        yield from line("It needs an instrumented engine behind the target (--engine).")
    for more in rest(case, _SAID):
        yield from line(f"{more}.")


def _callers(case: Case) -> Iterator[str]:
    roles = dict.fromkeys(step.by for step in case.steps)
    if roles:
        yield from heading("Callers")
    for role in roles:
        yield from term(str(role), caller(role))


def _needs(case: Case) -> Iterator[str]:
    if case.needs:
        yield from heading("Capabilities")
        yield from line("A target that says it lacks one of these makes what can't be shown unsupported.")
        for need in case.needs:
            member, _, value = need.partition("=")
            yield from item("-", f"constraints.{member}" + (f" holds {value}" if value else " is true"))


def _axes(case: Case) -> Iterator[str]:
    if case.axes:
        yield from heading("Axes")
    for axis, values in case.axes.items():
        yield from term(axis, ", ".join(values))


def _intents(case: Case) -> Iterator[str]:
    if case.intents:
        yield from heading("Intents")
    for name, intent in case.intents.items():
        yield from term(name, literal(intent))
    if case.filler is not None:
        yield from line(f"Filler fragments around the governed one carry `{case.filler}`.")
    for text, variant in case.variants.items():
        yield from line(f"The text {text} is {variant.of} with a change: {variant.change.replace('-', ' ')}.")


def _check(case: Case, expectation: Expectation) -> Iterator[str]:
    account = account_of(expectation.predicate)
    yield from heading(f"Check {case.id}#{expectation.id}")
    level = "a failure" if expectation.level == "MUST" else "a warning, for it is a SHOULD"
    yield from line(f"{account.of(expectation)} Otherwise: {level} ({', '.join(expectation.rules)}).")
    provided = expectation.arguments.get("provided")
    if provided:
        hit = all_of(provided)
        yield from line(f"A hit means nothing unless {hit} hit as well, for it would have left fresh state.")
    maker = expectation.arguments.get("only_if_reused")
    if maker:
        yield from line(f"It shows nothing where {maker} computed afresh: that left state of its own.")
    if expectation.control is not None:
        text = expectation.arguments.get("control_fragment", expectation.arguments.get("fragment", "it"))
        yield from line(
            f"Positive control: {expectation.control} has to show reuse of {text}, in the same run and cell. "
            "Without that the check is inconclusive."
        )
    if account.judged_by:
        seen = ", ".join(EVIDENCE[source] for source in account.judged_by)
        yield from line(f"Judged by, strongest first: {seen}.")
    if account.causes:
        yield from line("If it doesn't hold:")
    for cause in account.causes:
        yield from item("-", cause)


def _readings(specs: Sequence[ReadingSpec], readings: Mapping[str, ReadingRule]) -> Iterator[str]:
    if specs:
        yield from heading("Readings that it shows; none is a failure")
    for spec in specs:
        question = readings[spec.id].question if spec.id in readings else _title(spec.id)
        taken = "; ".join(f"{seen}: {key}" for seen, key in spec.options.items())
        yield from term(spec.id, f"{question} Seen in {spec.step}: {taken}.")


def _title(reading: str) -> str:
    finding = finding_of(reading)
    return "" if finding is None else f"{finding.title[:1].upper()}{finding.title[1:]}."


def _reproduce(case: Case, name: str) -> Iterator[str]:
    of_a_finding = case.group == FINDING_GROUP
    option = f"{'--findings ' if of_a_finding else ''}--case {case.id}"
    engine = " --engine URL" if case.two_ended else ""
    yield from heading("Reproduce")
    yield from item("$", f"cctest probe --config target.yaml{engine} {option}")
    if not of_a_finding:
        yield from item("$", f"cctest replay report.json {name} --config target.yaml{engine}")
    yield ""
    yield from line("By hand, in the first cell; these texts are too short for a cache to hold:")
    for command in curl_skeleton(case):
        yield textwrap.indent(command, "  ")
