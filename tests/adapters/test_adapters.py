"""Implementations behind adapters: each passes every vector, and they agree with one another and with our core."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from python_adapter import OPERATIONS
from under_test import JAVASCRIPT, javascript, script

from cctest.adapter.implementation import Adapter
from cctest.adapter.session import Session
from cctest.bundle import SCHEMAS
from cctest.datafile import validator
from cctest.report.recorded import load_report
from cctest.vectors.core import Core
from cctest.vectors.generated import COMPOSITIONS, DIGESTS, generate
from cctest.vectors.implementation import Implementation
from cctest.vectors.load import bundled_vectors
from cctest.vectors.run import run_vectors
from cctest.verdict import Result

SECONDS = 60.0
BUNDLED = bundled_vectors()

COMMANDS: dict[str, str] = {"python": script("python_adapter.py")}
if JAVASCRIPT.exists() and (command := javascript()):
    COMMANDS["javascript"] = command


def test_the_adapter_in_javascript_is_among_them_where_it_can_be() -> None:
    if JAVASCRIPT.exists() and "javascript" not in COMMANDS:
        assert not os.environ.get("NODE_REQUIRED"), "there is no node"
        pytest.skip("there is no node: the adapter in JavaScript is not run")


@pytest.fixture(scope="module")
def implementations() -> Iterator[Mapping[str, Implementation]]:
    with ExitStack() as stack:
        yield {"core": Core()} | {
            name: Adapter(stack.enter_context(Session(command, SECONDS)))
            for name, command in COMMANDS.items()
        }


@pytest.mark.parametrize("name", COMMANDS)
def test_an_adapter_passes_every_vector(name: str, implementations: Mapping[str, Implementation]) -> None:
    checks, _, _ = run_vectors([*BUNDLED, *generate(1)], implementations[name])
    # Where a document is at fault need not be told.
    wanting = [check for check in checks if (check.result, check.id[-8:]) != (Result.UNSUPPORTED, "#pointer")]
    assert [(each.id, each.message) for each in wanting if each.result is not Result.PASS] == []
    assert len(checks) > 900


def test_thirty_lines_pass_what_they_know_and_the_rest_counts_as_unsupported() -> None:
    with Session(script("first_adapter.py"), SECONDS) as session:
        checks, _, _ = run_vectors([*BUNDLED, *generate(1)], Adapter(session))
    assert {check.result for check in checks} == {Result.PASS, Result.UNSUPPORTED}
    assert sum(check.result is Result.PASS for check in checks) > DIGESTS


def test_all_that_is_asked_is_described_by_the_schema(implementations: Mapping[str, Implementation]) -> None:
    asked: list[str] = []
    for vector in (*BUNDLED, *generate(2)):
        run_vectors([vector], _Listening(implementations["python"], asked))
    requests = validator("adapter.schema.json", "request")
    assert [line for line in asked if not requests.is_valid(json.loads(line))] == []
    assert {json.loads(line)["op"] for line in asked} == OPERATIONS.keys() - {"hello"}
    assert all(line.isascii() for line in asked)


class _Listening:
    """An implementation whose request lines are kept."""

    def __init__(self, implementation: Implementation, heard: list[str]) -> None:
        self._implementation = implementation
        self._heard = heard

    def __getattr__(self, name: str) -> Any:
        return getattr(self._implementation, name)

    def asked(self) -> tuple[str, ...]:
        lines = self._implementation.asked()
        self._heard.extend(lines)
        return lines


# --- the same input, pairwise ---------------------------------------------------------------------------------------

# At most 256 bytes of UTF-8, so that it is no longer than 256 however characters are counted (READ-4).
namespaces = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=64)
seconds = st.integers(min_value=0, max_value=2**70)
instants = st.one_of(
    st.integers(min_value=-(2**60), max_value=2**60),
    st.integers(min_value=-4000, max_value=4000).map(lambda quarters: quarters / 4),
)


def intents(scopes: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    allowing = st.fixed_dictionaries({"mode": st.just("allow")}, optional={"max_age": seconds})
    constraints = st.fixed_dictionaries(
        {
            "retention": allowing | st.just({"mode": "forbid"}),
            "reuse": st.sampled_from(["none", "exact", "approximate"]),
            "share_max": st.sampled_from(scopes),
        },
        optional={"namespace": namespaces},
    )
    return st.fixed_dictionaries(
        {"version": st.just(1), "constraints": constraints},
        optional={"id": namespaces, "hints": st.dictionaries(st.text("abc"), st.none() | st.booleans())},
    )


NARROW = ["request", "session", "principal", "tenant"]
requests = st.one_of(
    st.lists(intents([*NARROW, "public"]), min_size=1, max_size=6),
    # Where a fragment has no intent, what becomes of `public` is open (READ-19, READ-31).
    st.lists(st.none() | intents(NARROW), min_size=1, max_size=6),
)
AS_OFTEN = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def all_agree(answers: Mapping[str, Any]) -> None:
    for one, other in combinations(answers, 2):
        assert answers[one] == answers[other], f"{one} and {other} differ"


@AS_OFTEN
@given(request=requests)
def test_policies_agree_pairwise(implementations: Mapping[str, Implementation], request: Any) -> None:
    all_agree({name: [*each.compose(request)] for name, each in implementations.items()})


@AS_OFTEN
@given(sequence=st.lists(namespaces, max_size=6))
def test_digests_agree_pairwise(implementations: Mapping[str, Implementation], sequence: list[str]) -> None:
    all_agree({name: each.digest(sequence) for name, each in implementations.items()})


@AS_OFTEN
@given(made=instants, bound=st.none() | seconds, now=instants)
def test_eligibility_agrees_pairwise(
    implementations: Mapping[str, Implementation], made: float, bound: int | None, now: float
) -> None:
    all_agree({name: each.eligible(made, bound, now) for name, each in implementations.items()})


# --- an answer key --------------------------------------------------------------------------------------------------


def answer_key(path: Path) -> str:
    """Write down the right answer to everything that the bundled vectors ask; give an adapter that reads it."""
    known: dict[str, Any] = {}

    class Recording:
        def ask(self, operation: str, **members: Any) -> Any:
            request = json.loads(json.dumps(members))
            try:
                answer = json.loads(json.dumps(OPERATIONS[operation](**request)))
            except ValueError as refusal:
                answer = {"refused": str(refusal)}
            known[json.dumps([operation, request])] = answer
            return answer

        def asked(self) -> tuple[str, ...]:
            return ()

    Recording().ask("hello", protocol=1)
    run_vectors(BUNDLED, Adapter(Recording()))  # type: ignore[arg-type]
    path.write_text(json.dumps(known))
    return script("answer_key.py", str(path))


def test_an_answer_key_passes_the_bundled_vectors_and_fails_on_the_generated_ones(tmp_path: Path) -> None:
    with Session(answer_key(tmp_path / "key.json"), SECONDS) as session:
        published, _, _ = run_vectors(BUNDLED, Adapter(session))
        generated, _, _ = run_vectors(generate(3), Adapter(session))
    assert {check.result for check in published} == {Result.PASS}
    failed = {check.id.partition("#")[0] for check in generated if check.result is Result.FAIL}
    undone = {check.id.partition("#")[0] for check in generated if check.result is not Result.PASS}
    assert failed
    assert len(undone) == DIGESTS + COMPOSITIONS


# --- the command ----------------------------------------------------------------------------------------------------


def run(*arguments: str, cwd: Path) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "cctest", "vectors", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


def test_the_reports_say_which_implementation_was_judged(tmp_path: Path) -> None:
    command = COMMANDS["python"]
    code, out, err = run(
        *("--adapter", command, "--seed", "5", "--case", "generated-digest-*"),
        *("--json", "out.json", "--junit", "out.xml"),
        cwd=tmp_path,
    )
    assert (code, err) == (0, "")
    assert "note: judged: cctest's core by an adapter 0.1.0, by its own word" in out
    assert "64 of the vectors were generated; `--seed 5`" in out
    document = json.loads((tmp_path / "out.json").read_text())
    schema = json.loads((SCHEMAS / "report.schema.json").read_text())
    assert list(Draft202012Validator(schema).iter_errors(document)) == []
    assert document["implementation"] == {"name": "cctest's core by an adapter", "version": "0.1.0"}
    assert (document["target"], document["seed"]) == (command, 5)
    read_back = load_report(tmp_path / "out.json")
    assert str(read_back.implementation) == "cctest's core by an adapter 0.1.0"
    [told] = ElementTree.parse(tmp_path / "out.xml").iterfind(".//property[@name='implementation']")
    assert told.get("value") == "cctest's core by an adapter 0.1.0"


@pytest.mark.parametrize(
    ("fault", "selected", "code", "message"),
    [
        ("none", "bound-of-*", 0, "conformant"),
        ("declines", "bound-of-one-second", 3, "nothing was shown to hold"),
        ("declines", "*bound*", 0, "unsupported"),
        ("wrong", "bound-of-one-second", 1, "nonconformant"),
        ("fails", "bound-of-one-second", 4, "no check was completed"),
        ("fails", "*bound*", 3, "ended in an error"),
    ],
)
def test_the_exit_code_says_what_came_of_it(
    tmp_path: Path, fault: str, selected: str, code: int, message: str
) -> None:
    command = script("faulty_adapter.py", fault)
    done, out, _ = run("-q", "--adapter", command, "--case", selected, cwd=tmp_path)
    assert (done, message in out) == (code, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--adapter", "/no/such/adapter"], 2, "error: /no/such/adapter: the adapter can't be started: No such file"),
        (["--adapter", ""], 2, "the adapter's command line is empty"),
        (["--timeout", "5"], 2, "--timeout is for an adapter"),
        (["--adapter", "true", "--timeout", "0"], 2, "--timeout"),
        (["--seed", "1", "."], 2, "--seed is for generated vectors"),
        (["--adapter", "true"], 4, "error: the adapter ended with exit code 0"),
        (["--adapter", "echo hello"], 4, "hello"),
        (["--adapter", script("faulty_adapter.py", "other-version")], 4, "speaks version 2 of the protocol, not 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_told(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    done, out, err = run(*arguments, "--json", "report.json", cwd=tmp_path)
    assert (done, out) == (code, "")
    assert message in err
    assert list(tmp_path.iterdir()) == []
