"""spec/adapter.md: its lines are of the protocol, every operation has some, and our core answers them so."""

import json
import re
from typing import Any

import pytest
from python_adapter import answer_to

from cctest import bundle, datafile
from cctest.adapter.wire import Operation

TEXT = (bundle.ROOT / "spec" / "adapter.md").read_text("utf-8")
BLOCKS = re.findall(r"^```jsonl\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
LINES = [json.loads(line) for block in BLOCKS for line in block.splitlines()]
PAIRS = list(zip(LINES[::2], LINES[1::2], strict=True))
KNOWN = [pair for pair in PAIRS if pair[0]["op"] in set(Operation)]


def faults(value: Any, definition: str) -> list[str]:
    return [
        error.message for error in datafile.validator("adapter.schema.json", definition).iter_errors(value)
    ]


def test_every_operation_has_a_worked_example() -> None:
    assert {request["op"] for request, _ in KNOWN} == set(Operation)


@pytest.mark.parametrize(("request_", "answer"), KNOWN, ids=lambda line: str(line["id"]))
def test_a_worked_example_is_what_the_schema_describes(request_: Any, answer: Any) -> None:
    assert faults(request_, "request") == []
    assert faults(answer, "response") == []
    assert faults(answer["result"], f"{request_['op']}_result") == []


@pytest.mark.parametrize(("request_", "answer"), PAIRS, ids=lambda line: str(line["id"]))
def test_our_core_answers_a_worked_example_so(request_: Any, answer: Any) -> None:
    ours = json.loads(answer_to(json.dumps(request_)))
    assert ours.keys() == answer.keys()
    assert ours["id"] == answer["id"]
    if "refused" in answer.get("result", {}):
        assert "refused" in ours["result"]
    elif request_["op"] != Operation.HELLO:
        assert ours == answer


def test_the_schema_knows_the_operations_that_are_asked_for() -> None:
    schema = json.loads((bundle.SCHEMAS / "adapter.schema.json").read_bytes())
    definitions = schema["$defs"]
    assert definitions["request"]["properties"]["op"]["enum"] == [*Operation]
    for operation in Operation:
        assert {f"{operation}_input", f"{operation}_result"} <= definitions.keys()
