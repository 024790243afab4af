"""Generated mutants, and the arguments for those that survive."""

import ast
from pathlib import Path

import pytest

from cctest.mutation.catalogue import source_of
from cctest.mutation.generate import generate
from cctest.mutation.mutant import SourceChange
from cctest.mutation.scope import LEFT_OUT, SCOPE
from cctest.mutation.survivors import load_survivors, require_fresh
from cctest.mutation.worker import stages
from cctest.probe.load import load_cases
from cctest.problem import UsageProblem

MUTANTS = generate()


def test_there_are_many_each_with_a_name_of_its_own() -> None:
    assert len({mutant.id for mutant in MUTANTS}) == len(MUTANTS) > 1000
    assert {mutant.id.partition(":")[0] for mutant in MUTANTS} == SCOPE.keys()


def test_each_is_judged_by_every_case_and_again_with_the_intent_last_in_a_stream() -> None:
    cases = load_cases()
    first, last = stages(MUTANTS[-1], cases)
    assert [case.id for case in first] == [case.id for case in cases]
    assert {case.id for case in last} >= {"forwarding", "boundary-anywhere", "forbid-anywhere"}
    assert all(len(values) == 1 for case in (*first, *last) for values in case.axes.values())
    assert {case.axes["stream"] for case in last} == {("streamed",)}
    assert {case.axes["place"] for case in last} == {("parts",)}


def test_what_is_left_out_is_still_there() -> None:
    for name in LEFT_OUT:
        path, _, function = name.partition(":")
        assert f"def {function.rpartition('.')[2]}(" in source_of(path), name


@pytest.mark.parametrize("path", SCOPE)
def test_every_mutant_is_another_program(path: str) -> None:
    source = source_of(path)
    for mutant in MUTANTS:
        if isinstance(mutant.change, SourceChange) and mutant.change.path == path:
            edit = mutant.change.edit
            changed = source[: edit.start] + edit.text + source[edit.end :]
            assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(source)), mutant.id


def test_the_arguments_are_about_code_that_is_still_there() -> None:
    require_fresh(load_survivors(), {mutant.id for mutant in MUTANTS})


def test_an_argument_about_code_that_has_changed_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "survivors.yaml"
    file.write_text(
        "version: 1\nsurvivors:\n  - kind: equivalent\n    why: it was the same\n"
        '    mutants: ["cctest/contract/hints.py:_f:constant:0123456789"]\n'
    )
    with pytest.raises(UsageProblem, match="has changed") as told:
        require_fresh(load_survivors(file), {mutant.id for mutant in MUTANTS})
    assert "line 5" in told.value.where
