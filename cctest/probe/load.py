"""Reading behavioural cases from their files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cctest import bundle, datafile
from cctest.contract.source import JsonValue
from cctest.probe.case import (
    Attach,
    Case,
    Change,
    Expectation,
    FragmentSpec,
    Place,
    ReadingSpec,
    Role,
    Step,
    Variant,
    Wait,
)
from cctest.probe.documents import document_cases
from cctest.problem import UsageProblem
from cctest.vectors.load import bundled_vectors

DEFAULT_AXES: Mapping[str, tuple[str, ...]] = {
    "stream": ("plain", "streamed"),
    "place": ("tools", "messages"),
}

FINDING_GROUP = "findings"
"""The group of cases that belong to a finding and not to the suite: the name of their file."""

_RESERVED = frozenset({"check", "step", "control", "rules", "level"})


def load_cases(folder: Path | None = None) -> tuple[Case, ...]:
    """Read every case of a folder, in the order of file names and then of the files.

    Without a folder: the bundled cases, and those made of the bundled vectors. Raises UsageProblem for a
    file that can't be read or is not of the shape of `behaviour.schema.json`.
    """
    cases: list[Case] = []
    for path in sorted((folder or bundle.BEHAVIOUR).glob("*.yaml")):
        cases += _read_file(path)
    if folder is None:
        cases += document_cases(bundled_vectors())
    seen: set[str] = set()
    for case in cases:
        if case.id in seen:
            raise UsageProblem(f"two cases are called {case.id}", where=str(folder or bundle.BEHAVIOUR))
        seen.add(case.id)
    return tuple(cases)


def finding_cases() -> tuple[Case, ...]:
    """Give the cases that tell readings of a finding apart and are no part of the suite."""
    return load_cases(bundle.FINDING_INPUTS / bundle.BEHAVIOUR.name)


def _read_file(path: Path) -> Iterator[Case]:
    file = datafile.read(path)
    document: Any = file.parsed.value
    datafile.require(file, datafile.validator("behaviour.schema.json"), document)
    for index, item in enumerate(document["cases"]):
        case = replace(_case(item), group=path.stem)
        for message in _dangling(case):
            raise file.problem(f"/cases/{index}", f"case {case.id}: {message}")
        yield case


def _dangling(case: Case) -> Iterator[str]:
    """Yield what the case refers to and doesn't have."""
    steps: set[str] = set()
    if case.filler is not None and case.filler not in case.intents:
        yield f"no intent is called {case.filler}"
    for step in case.steps:
        if step.after is not None and step.after.step not in steps:
            yield f"step {step.id} waits for {step.after.step}, which isn't sent before it"
        for fragment in step.fragments:
            if fragment.text not in case.texts:
                yield f"no text is called {fragment.text}"
            if fragment.intent is not None and fragment.intent not in case.intents:
                yield f"no intent is called {fragment.intent}"
        steps.add(step.id)
    wanted = [(item.step, item.control) for item in case.expectations]
    wanted += [(item.step, item.control) for item in case.readings]
    for name in {name for pair in wanted for name in pair if name is not None} - steps:
        yield f"no step is called {name}"


def _case(item: Mapping[str, Any]) -> Case:
    axes = item.get("axes", DEFAULT_AXES)
    return Case(
        id=item["case"],
        title=item["title"],
        rules=tuple(item["rules"]),
        texts=item.get("texts", {"prefix": 1, "question": 0.05}),
        intents=item.get("intents", {}),
        steps=tuple(_step(step) for step in item.get("steps", ())),
        expectations=tuple(_expectation(expected, item["rules"]) for expected in item["expect"]),
        readings=tuple(_reading(reading) for reading in item.get("readings", ())),
        needs=tuple(item.get("needs", ())),
        filler=item.get("filler"),
        variants={
            name: Variant(variant["of"], Change(variant["change"]))
            for name, variant in item.get("variants", {}).items()
        },
        two_ended=item.get("engine", False),
        axes={axis: tuple(values) for axis, values in axes.items()},
        appendix=item.get("appendix"),
    )


def _step(item: Mapping[str, Any]) -> Step:
    after = item.get("after")
    return Step(
        id=item["step"],
        by=Role(item["by"]),
        fragments=tuple(_fragment(fragment) for fragment in item.get("fragments", ())),
        after=Wait(after["step"], after["seconds"]) if after else None,
        body=item.get("body", {}),
        headers=item.get("headers", {}),
        raw=item.get("raw"),
        misbehaviour=item.get("engine"),
        give_up=item.get("give_up"),
    )


def _fragment(item: Mapping[str, Any]) -> FragmentSpec:
    return FragmentSpec(
        text=item["text"],
        intent=item.get("intent"),
        place=Place(item["place"]) if "place" in item else None,
        attach=Attach(item.get("attach", "fragment")),
        members=item.get("with", {}),
    )


def _expectation(item: Mapping[str, Any], case_rules: Sequence[str]) -> Expectation:
    (predicate,) = item.keys() - _RESERVED
    arguments: dict[str, JsonValue] = item[predicate] or {}
    return Expectation(
        id=item["check"],
        predicate=predicate,
        rules=tuple(item.get("rules", case_rules)),
        arguments=arguments,
        level=item.get("level", "MUST"),
        step=item.get("step"),
        control=item.get("control"),
    )


def _reading(item: Mapping[str, Any]) -> ReadingSpec:
    known = {"reading", "observe", "step", "control", "options"}
    return ReadingSpec(
        id=item["reading"],
        observe=item["observe"],
        step=item["step"],
        options=item["options"],
        arguments={name: value for name, value in item.items() if name not in known},
        control=item.get("control"),
    )
