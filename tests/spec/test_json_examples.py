"""Every JSON example of the documents is what `cctest validate` says it is; invalid ones name the rule they break."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cctest.documents import Format, Source, find_documents
from cctest.markdown import Block, json_blocks

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted((*(ROOT / "spec").glob("*.md"), *ROOT.glob("*.md")))
INVALID = re.compile(r"(?:<!--|\{::comment\})\s*invalid: (\w+-\d+)\s*(?:-->|\{:/comment\})")
"""What stands on the line before an example that breaks a rule on purpose."""

CODES = ("cache_intent_invalid", "cache_intent_unsupported_version", "cache_intent_unenforceable")


def wrong_examples(name: str, text: str) -> Iterator[str]:
    """Yield what is wrong with the examples of a document, each with file and line."""
    for block in json_blocks(text):
        yield from wrong_with(name, block, said_to_break(text, block))


def said_to_break(text: str, block: Block) -> str | None:
    before = "\n".join(text.split("\n")[: block.line - 2]).rstrip().rpartition("\n")[2]
    marked = INVALID.fullmatch(before.strip())
    return marked[1] if marked else None


def wrong_with(name: str, block: Block, broken: str | None) -> Iterator[str]:
    above = "\n" * (block.line - 2)
    alone = f"{above}~~~ json\n{block.text}\n~~~\n"
    findings = find_documents(Source(name, alone.encode(), Format.MARKDOWN))
    lines = [line for finding in findings for line in finding.lines]
    if broken is not None:
        rules = {rule for finding in findings for fault in finding.faults for rule in fault.rules}
        if rules != {broken}:
            found = f"found: {'; '.join(lines)}" if lines else "it is valid"
            yield f"{name}:{block.line}: is to break {broken} and nothing else; {found}"
    elif not is_an_error(block.text):
        yield from lines


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
    assert any(INVALID.search(text) for text in texts)


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
    assert told == "x.md:6: is to break INT-12 and nothing else; it is valid"
    (told,) = wrong_examples("x.md", fenced(BAD, mark.replace("INT-12", "INT-7")))
    assert told.startswith("x.md:6: is to break INT-7 and nothing else; found: x.md:6:")
