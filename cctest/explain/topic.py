"""Finding what a name stands for, and explaining that."""

from collections.abc import Iterator

from cctest.catalogue import load_catalogue, load_readings
from cctest.explain.case import case_text
from cctest.explain.finding import finding_text
from cctest.explain.outside import OUTSIDE, outside_text
from cctest.explain.rule import reading_text, rule_text
from cctest.explain.vector import checks_of, generated_vectors, vector_text
from cctest.findings import load_findings
from cctest.probe.load import finding_cases, load_cases
from cctest.selection import select
from cctest.vectors.generated import is_generated
from cctest.vectors.load import bundled_vectors, finding_vectors


def explain(name: str) -> str:
    """Explain a case, a check, a rule, a reading, a finding or a vector.

    Raises UsageProblem, with the nearest name, where nothing is called so.
    """
    return "".join(f"{line.rstrip()}\n" for line in _lines(name))


def _lines(name: str) -> Iterator[str]:
    rules, readings, findings = load_catalogue(), load_readings(), load_findings()
    suite = load_cases()
    cases = (*suite, *finding_cases())
    bundled = bundled_vectors()
    vectors = {vector.name: vector for vector in (*bundled, *finding_vectors())} | generated_vectors()
    mine = vectors.get(name.partition("#")[0])
    checks_of_mine = checks_of(mine, vectors) if mine is not None and "#" in name else {}
    checks = {check: case for case in cases for check in case.checks}
    by_name = {case.id: case for case in cases}
    (wanted,) = select(
        [name],
        [*by_name, *checks, *rules, *readings, *findings, *vectors, *checks_of_mine, *OUTSIDE],
        "case, check, rule, reading, finding or vector",
    )
    if wanted in rules:
        return rule_text(rules[wanted], bundled, suite, tuple(readings.values()))
    if wanted in readings:
        return reading_text(readings[wanted], cases)
    if wanted in findings:
        return finding_text(findings[wanted])
    if wanted in by_name:
        return case_text(by_name[wanted], rules, readings, wanted)
    if wanted in checks:
        case = checks[wanted]
        only = case.without([check for check in case.checks if check != wanted])
        return case_text(only, rules, readings, wanted)
    if wanted in OUTSIDE:
        return outside_text(wanted)
    vector, check = vectors[wanted.partition("#")[0]], wanted if "#" in wanted else ""
    of_a_finding = vector not in bundled and not is_generated(vector.name)
    return vector_text(vector, check, checks_of_mine.get(check, ""), of_a_finding=of_a_finding)
