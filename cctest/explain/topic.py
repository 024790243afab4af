"""Finding what a name stands for, and explaining that."""

from collections.abc import Iterator

from cctest.catalogue import load_catalogue, load_readings
from cctest.explain.case import case_text
from cctest.explain.rule import reading_text, rule_text, vector_text
from cctest.probe.load import load_cases
from cctest.selection import select
from cctest.vectors.load import bundled_vectors


def explain(name: str) -> str:
    """Explain a case, a check, a rule, a reading or a vector.

    Raises UsageProblem, with the nearest name, where nothing is called so.
    """
    return "".join(f"{line.rstrip()}\n" for line in _lines(name))


def _lines(name: str) -> Iterator[str]:
    rules, readings, cases = load_catalogue(), load_readings(), load_cases()
    vectors = {vector.name: vector for vector in bundled_vectors()}
    checks = {check: case for case in cases for check in case.checks}
    by_name = {case.id: case for case in cases}
    (wanted,) = select(
        [name], [*by_name, *checks, *rules, *readings, *vectors], "case, check, rule, reading or vector"
    )
    if wanted in rules:
        return rule_text(rules[wanted], tuple(vectors.values()), cases, tuple(readings.values()))
    if wanted in readings:
        return reading_text(readings[wanted], cases)
    if wanted in by_name:
        return case_text(by_name[wanted], rules, readings, wanted)
    if wanted in checks:
        case = checks[wanted]
        only = case.without([check for check in case.checks if check != wanted])
        return case_text(only, rules, readings, wanted)
    return vector_text(vectors[wanted])
