"""Mutation runs with real processes: the implementation as it is, mutants of core and gateway, and a bad suite."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cctest.mutation.by_vectors import run_forked
from cctest.mutation.catalogue import load_mutants, source_change, source_of
from cctest.mutation.mutant import Edit, Family, Judge, Mutant, Setup, SourceChange, Status, Verdict
from cctest.mutation.report import MutationReport, tally
from cctest.mutation.session import BaselineError, run
from cctest.mutation.state import State
from cctest.mutation.worker import Suite
from cctest.probe.case import Expectation
from cctest.probe.load import load_cases
from cctest.vectors.load import bundled_vectors
from cctest.vectors.model import Vector

VECTORS = bundled_vectors()
CASES = load_cases()
BY_NAME = {mutant.id: mutant for mutant in load_mutants()}
OF_VECTORS = [
    BY_NAME[name]
    for name in ("largest-bound-holds", "digest-trims", "everybody-is-inside", "version-of-true")
]
OF_GATEWAY = [BY_NAME[name] for name in ("forbid-ignored", "refused-with-422")]


def judged(mutants: Sequence[Mutant], suite: Suite, **more: Any) -> list[Verdict]:
    return run(mutants, suite, lambda _: None, workers=2, **more)[1]


def statuses(verdicts: Iterable[Verdict]) -> dict[str, Status]:
    return {verdict.mutant: verdict.status for verdict in verdicts}


def test_mutants_of_core_and_gateway_are_killed_by_their_checks() -> None:
    mutants = [*OF_VECTORS, *OF_GATEWAY]
    verdicts = judged(mutants, Suite(VECTORS, CASES))
    assert statuses(verdicts) == {mutant.id: Status.KILLED for mutant in mutants}
    assert not any(verdict.suspect for verdict in verdicts)


def test_what_only_an_engine_with_regions_shows_is_judged_on_one() -> None:
    path = "reference_gateway/lowering/regions.py"
    source, right = source_of(path), "self._salts.shared(terms.partition, model)"
    start = source.index(right)
    change = source_change(path, Edit(start, start + len(right), '"one salt for all"'))
    mutant = replace(
        OF_GATEWAY[0],
        change=change,
        setups=(Setup(Judge.FORWARDING, regions=True),),
        caught_by="public-then-tenant#tenant-part-computed",
    )
    assert statuses(judged([mutant], Suite(VECTORS, CASES))) == {mutant.id: Status.KILLED}


class Anything(dict[str, Any]):
    """Whatever the core says is among what is permitted."""

    def __contains__(self, _: object) -> bool:
        return True

    def __getitem__(self, _: object) -> list[str]:
        return []


def useless(vector: Vector) -> Vector:
    """The vector with an expectation that any answer meets."""
    anything = {"permitted": Anything()}
    content = {**vector.content}
    if "cases" in content:
        member = "eligible" if vector.kind == "eligibility" else "digest"
        content["cases"] = [{**case, member: anything} for case in content["cases"]]
    if vector.kind == "composition":
        content["expected"] = dict.fromkeys({"refused"} & content["expected"].keys(), anything)
    elif vector.kind == "fail_closed":
        content["expected"] = anything
    elif vector.kind != "digest" and "expected" in content:
        content["expected"] = dict.fromkeys(content["expected"], anything)
    return replace(vector, content=content)


def test_a_useless_suite_scores_nothing() -> None:
    vectors = tuple(useless(vector) for vector in VECTORS if not _expects_by_itself(vector))
    anything = Expectation("read-computes", "answered", ("RET-1",), {}, step="repeat")
    case = next(case for case in CASES if case.id == "forbid")
    steps = [step.id for step in case.steps]
    cases = (replace(case, expectations=(replace(anything, step=steps[0]),)),)
    of_vectors = [one for one in BY_NAME.values() if one.setups[0].judge is Judge.VECTORS]
    mutants = [*of_vectors[::6], BY_NAME["nothing-is-inherited"], OF_GATEWAY[0]]
    assert {mutant.family for mutant in mutants} == {Family.RULE, Family.SCHEMA}
    verdicts = judged(mutants, Suite(vectors, cases))
    assert statuses(verdicts) == {mutant.id: Status.SURVIVED for mutant in mutants}
    assert tally(verdicts).score == 0
    report = MutationReport("", 1.0, {}, tuple(zip(mutants, verdicts, strict=True)))
    assert report.exit() == 1


def _expects_by_itself(vector: Vector) -> bool:
    """Whether it can fail whatever is expected: reader and schema must agree; a null asks for no policy."""
    absent = vector.kind == "composition" and None in vector.content["expected"].values()
    return vector.kind == "document" or absent


def test_nothing_is_judged_where_the_implementation_itself_fails() -> None:
    vector = next(one for one in VECTORS if one.name == "same-namespace-matches")
    wrong = replace(vector, content={**vector.content, "expected": {"cache_match": False}})
    with pytest.raises(BaselineError, match=r"doesn't pass \(vectors\)"):
        judged(OF_VECTORS[:1], Suite((*VECTORS[:5], wrong), ()))


def test_a_change_in_a_module_that_is_never_loaded_says_nothing() -> None:
    path = "cctest/cli/init.py"
    change = source_change(path, Edit(0, 0, '""" """\n'))
    unloaded = replace(OF_VECTORS[0], change=change)
    assert [one.status for one in judged([unloaded], Suite(VECTORS[:5], ()))] == [Status.NOT_APPLIED]


def test_a_core_that_does_not_load_or_hangs_kills_nothing() -> None:
    path = "cctest/contract/digest.py"
    end = len(source_of(path))

    def with_line(line: str) -> SourceChange:
        return source_change(path, Edit(end, end, line))

    assert "ZeroDivisionError" in run_forked(with_line("1 / 0\n"), VECTORS[:5]).broke
    hanging = run_forked(with_line("while True:\n    pass\n"), VECTORS[:5], seconds=1)
    assert hanging.late
    assert not hanging.checks


def test_a_change_made_for_another_source_is_refused() -> None:
    change = source_change("cctest/contract/digest.py", Edit(0, 0, "\n"))
    stale = replace(change, digest="0" * 64)
    assert "is not the one that the mutant is for" in run_forked(stale, VECTORS[:5]).broke


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "state"
    first = State(file, OF_VECTORS, whole=False)
    done = judged(OF_VECTORS[:2], Suite(VECTORS, ()))
    for verdict in done:
        first.note(verdict)
    first.close()
    file.write_text(file.read_text() + '{"mutant": "cut sh')
    again = State(file, OF_VECTORS, whole=False)
    again.close()
    assert [*again.known.values()] == done
    asked: list[str] = []
    run(
        OF_VECTORS,
        Suite(VECTORS, ()),
        lambda state: asked.append(state.verdict.mutant) if state.verdict else None,
        known=again.known,
        workers=1,
    )
    assert asked == [mutant.id for mutant in OF_VECTORS[2:]]
    other = State(file, OF_VECTORS, whole=True)
    other.close()
    assert other.known == {}, "what was found out by another way of running doesn't count"


def test_a_changed_mutant_is_judged_anew(tmp_path: Path) -> None:
    file = tmp_path / "state"
    state = State(file, OF_VECTORS[:1], whole=False)
    state.note(Verdict(OF_VECTORS[0].id, Status.KILLED, 1))
    state.close()
    changed = replace(OF_VECTORS[0], setups=(Setup(Judge.VECTORS, ("other",)),))
    again = State(file, [changed], whole=False)
    again.close()
    assert again.known == {}


@pytest.mark.parametrize(
    "content", [b"", b'{"key": "of another run"}\n{"mutant": "x"}\n'], ids=["new", "other"]
)
def test_the_state_of_another_run_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "state"
    file.write_bytes(content)
    state = State(file, OF_VECTORS[:1], whole=False)
    state.note(Verdict(OF_VECTORS[0].id, Status.KILLED, 1))
    state.close()
    assert b"another" not in file.read_bytes()
    again = State(file, OF_VECTORS[:1], whole=False)
    again.close()
    assert [*again.known] == [OF_VECTORS[0].id]


def test_a_verdict_that_is_none_is_found_out_again(tmp_path: Path) -> None:
    file = tmp_path / "state"
    state = State(file, OF_VECTORS[:1], whole=False)
    state.note(Verdict(OF_VECTORS[0].id, Status.KILLED, 1))
    state.close()
    file.write_text(file.read_text().replace("killed", "unheard of"))
    again = State(file, OF_VECTORS[:1], whole=False)
    again.close()
    assert again.known == {}
