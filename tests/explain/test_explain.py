"""Explanations say everything that the data says."""

import re
import shlex
from collections.abc import Iterable

import pytest

from cctest.catalogue import load_catalogue, load_readings
from cctest.explain.accounts import EVIDENCE, account_of, load_accounts
from cctest.explain.case import case_text
from cctest.explain.prose import caller
from cctest.explain.rule import reading_text, rule_text
from cctest.explain.topic import explain
from cctest.probe.case import Case, Role
from cctest.probe.load import load_cases
from cctest.probe.predicates import PREDICATES
from cctest.problem import UsageProblem
from cctest.vectors.generated import generate
from cctest.vectors.load import bundled_vectors
from cctest.vectors.run import run_vector
from cctest.verdict import Source

RULES, READINGS, VECTORS = load_catalogue(), load_readings(), bundled_vectors()
CASES = {case.id: case for case in load_cases()}


def flat(lines: Iterable[str] | str) -> str:
    return " ".join((lines if isinstance(lines, str) else "\n".join(lines)).split())


def lines_of(case: Case) -> list[str]:
    return list(case_text(case, RULES, READINGS, case.id))


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_a_case_is_explained_whole(case: Case) -> None:
    told = flat(lines_of(case))
    wanted = [case.title, f"Group {case.group}", *case.checks, *case.intents, *sorted(case.all_rules)]
    wanted += [f"{step.id}: " for step in case.steps]
    wanted += [str(step.by) for step in case.steps]
    wanted += [spec.id for spec in case.readings]
    wanted += [f"{axis} {', '.join(values)}" for axis, values in case.axes.items()]
    wanted += [f"Positive control: {each.control} " for each in case.expectations if each.control]
    wanted += [
        f"{step.after.seconds:g} s after the response to {step.after.step}"
        for step in case.steps
        if step.after
    ]
    assert [each for each in wanted if each not in told] == []
    assert f"cctest probe --config target.yaml{' --engine URL' * case.two_ended} --case {case.id}" in told
    assert not re.search(r"\bFragmentSpec\(|\bmappingproxy\(|\{(step|fragment|control)\}", told)


def test_the_skeleton_is_one_shell_command_for_each_step() -> None:
    for case in CASES.values():
        commands = [line for line in lines_of(case) if "curl -sSi" in line]
        assert len(commands) == max(1, len(case.steps))
        for command in commands:
            assert "https://gateway.example/v1/" in " ".join(shlex.split(command))


def test_a_check_is_explained_without_the_others_of_its_case() -> None:
    told = explain("status-boundary#tenant")
    assert "Check status-boundary#tenant" in told
    assert "Check status-boundary#session" not in told
    assert "cctest replay report.json status-boundary#tenant" in told


def test_every_check_of_a_vector_is_explained() -> None:
    told = explain("digest-of-one-namespace#digest-0")
    assert "cctest vectors --case digest-of-one-namespace" in told
    assert "expected" in told
    for check in (check for vector in VECTORS[::40] for check in run_vector(vector).checks):
        assert explain(check.id).startswith(f"{check.id}: ")


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_generated_for_a_run_is_explained(seed: int) -> None:
    for vector in generate(seed)[::21]:
        assert f"cctest vectors --seed SEED --case {vector.name}" in explain(vector.name)
        assert "expected" not in explain(run_vector(vector).checks[-1].id)


@pytest.mark.parametrize("name", ["timing#no-faster-for-others", "preflight#capabilities"])
def test_names_that_reports_have_beside_cases_are_explained(name: str) -> None:
    assert explain(name).startswith(f"{name}: ")


@pytest.mark.parametrize(
    "name", ["digest-of-one-namespace#digest-99", "generated-digest-1#x", "generated-digest-999"]
)
def test_a_check_that_a_vector_has_not_is_unknown(name: str) -> None:
    with pytest.raises(UsageProblem, match="did you mean"):
        explain(name)


def test_a_rule_is_explained_with_all_that_exercises_it() -> None:
    for rule in RULES.values():
        told = flat(rule_text(rule, VECTORS, tuple(CASES.values()), tuple(READINGS.values())))
        assert flat(rule.text) in told
        assert f"{rule.level}, section {rule.section}" in told
        assert f"binds {', '.join(rule.binds)}" in told
        named = [vector.name for vector in VECTORS if rule.id in vector.rules]
        named += [case.id for case in CASES.values() if rule.id in case.all_rules]
        assert [name for name in named if f"- {name}: " not in told] == []


def test_a_reading_is_explained_with_its_answers() -> None:
    for reading in READINGS.values():
        told = flat(reading_text(reading, tuple(CASES.values())))
        assert flat(reading.question) in told
        assert all(f"- {option.key}: {flat(option.text)}" in told for option in reading.options)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("RET-3", "RET-3: MUST, section 4"),
        ("READ-5", "READ-5: An invalid intent"),
        ("tenant-boundary", "tenant-boundary: State shared"),
        ("max-age-of-one", "cctest vectors --case max-age-of-one"),
    ],
)
def test_a_name_of_any_kind_is_found(name: str, told: str) -> None:
    assert told in explain(name)


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageProblem, match="did you mean 'RET-3'"):
        explain("ret-3")
    with pytest.raises(UsageProblem, match="did you mean 'tenant-boundary#foreigner-computes'"):
        explain("tenant-boundary#foreigner-compute")


def test_every_predicate_has_an_account_and_no_account_is_left_over() -> None:
    """A predicate without one is explained by its docstring alone; give it an entry in spec/predicates.yaml."""
    assert sorted(load_accounts()) == sorted(PREDICATES)


def test_an_account_names_only_what_its_expectations_have() -> None:
    for case in CASES.values():
        for expectation in case.expectations:
            demands = account_of(expectation.predicate).demands
            known = {"step", "control", "codes", *expectation.arguments}
            assert set(re.findall(r"\{(\w+)\}", demands)) <= known, expectation.predicate


def test_every_caller_and_every_kind_of_evidence_has_words() -> None:
    assert all(caller(role) for role in Role)
    assert EVIDENCE.keys() == set(Source)
