"""What coverage has tables of beside the rules (`spec/topics.yaml`)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cctest import bundle, datafile


@dataclass(frozen=True, slots=True)
class Topic:
    """Something about documents that no schema can say, and the rules that say it."""

    name: str
    text: str
    rules: tuple[str, ...]
    because: str


@dataclass(frozen=True, slots=True)
class Topics:
    """The interoperability tests by number, and what is beyond schemas."""

    interoperability: Mapping[int, str]
    beyond_schemas: tuple[Topic, ...]


def load_topics(path: Path = bundle.TOPICS) -> Topics:
    """Read the topics. Raises UsageProblem for what the schema doesn't allow and for a number given twice."""
    file = datafile.read(path)
    datafile.require(file, datafile.validator("topics.schema.json"), file.parsed.value)
    content: Any = file.parsed.value
    tests: dict[int, str] = {}
    for index, test in enumerate(content["interoperability"]):
        if test["number"] in tests:
            raise file.problem(f"/interoperability/{index}/number", f"test {test['number']} is listed twice")
        tests[test["number"]] = test["text"]
    topics = (
        Topic(topic["name"], topic["text"], tuple(topic["rules"]), topic["because"])
        for topic in content["beyond_schemas"]
    )
    return Topics(tests, tuple(topics))
