"""Every JSON example of the documents is what `cctest validate` says it is; invalid ones name the rule they break."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cctest.documents import Format, Source, find_documents
from cctest.markdown import json_blocks

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted((*(ROOT / "spec").glob("*.md"), *ROOT.glob("*.md")))
CODES = ("cache_intent_invalid", "cache_intent_unsupported_version", "cache_intent_unenforceable")


def wrong_examples(name: str, text: str) -> Iterator[str]:
    """Yield what `cctest validate` says of the examples of a document, each with file and line."""
    errors = [block.line for block in json_blocks(text) if is_an_error(block.text)]
    for finding in find_documents(Source(name, text.encode(), Format.MARKDOWN)):
        if finding.kind is not None or finding.position.line not in errors:
            yield from finding.lines


def is_an_error(text: str) -> bool:
    """Whether it is the body of a rejection, with a code that BND-9 knows."""
    try:
        body: Any = json.loads(text)
        return body.keys() == {"error"} and body["error"]["code"] in CODES
    except (ValueError, AttributeError, KeyError, TypeError):
        return False


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_examples_of_a_document(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    assert list(wrong_examples(name, path.read_text("utf-8"))) == []


def test_the_drafts_have_examples_of_each_kind() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / "spec").glob("draft-*.md")]
    bodies = [json.loads(block.text) for text in texts for block in json_blocks(text)]
    for member in ("cache_intent", "cache_intent_capabilities", "cache_status", "messages", "error"):
        assert any(member in body for body in bodies), member
    assert any("<!-- invalid: " in text for text in texts)


GOOD = (
    '{"cache_intent": {"version": 1, "constraints": '
    '{"retention": {"mode": "allow"}, "reuse": "exact", "share_max": "tenant"}}}'
)
BAD = GOOD.replace("exact", "exactly")
ON_A_MESSAGE = f'{{"messages": [{{"role": "user", "content": "hi", {BAD[1:-1]}}}]}}'


def fenced(text: str, before: str = "Example:") -> str:
    return f"# Title\n\n{before}\n\n~~~ json\n{text}\n~~~\n"


@pytest.mark.parametrize("before", ["Good:", "{: #example}", "<!-- invalid: INT-12 --> no more:"])
def test_a_good_one_passes(before: str) -> None:
    assert list(wrong_examples("x.md", fenced(GOOD, before))) == []


@pytest.mark.parametrize("text", [BAD, ON_A_MESSAGE], ids=["alone", "on a message"])
def test_a_bad_one_is_named_by_file_and_line(text: str) -> None:
    (told,) = wrong_examples("x.md", fenced(text))
    assert told.startswith("x.md:6:")
    assert "/constraints/reuse: " in told
    assert told.endswith("[INT-12]")


@pytest.mark.parametrize("text", ["{}", "[1]", "{...}", '{"error": {"code": "cache_intent_wrong"}}'])
def test_what_is_no_document_is_told_too(text: str) -> None:
    (told,) = wrong_examples("x.md", fenced(text))
    assert told.startswith("x.md:6:")
    assert "not validated: " in told


@pytest.mark.parametrize("mark", ["<!-- invalid: INT-12 -->", "{::comment}invalid: INT-12{:/comment}"])
def test_one_that_is_invalid_on_purpose_breaks_the_rule_that_it_names(mark: str) -> None:
    assert list(wrong_examples("x.md", fenced(BAD, mark))) == []
    (told,) = wrong_examples("x.md", fenced(GOOD, mark))
    assert told == "x.md:6:1: is marked as breaking INT-12 and nothing else: it is valid"
    (told,) = wrong_examples("x.md", fenced(BAD, mark.replace("INT-12", "INT-7")))
    assert told.startswith("x.md:6:1: is marked as breaking INT-7 and nothing else: ")
