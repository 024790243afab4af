"""No normative sentence goes, comes or changes unnoticed: each is named, with its rule, its document and its words."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from cctest import bundle
from cctest.problem import UsageProblem
from cctest.traceability.changes import find_changes
from cctest.traceability.record import load_record, record_text
from cctest.traceability.sentences import Sentence, sentences
from cctest.traceability.source import read_draft

DRAFTS = tuple(
    read_draft(f"spec/{name}.md", (bundle.SPEC / f"{name}.md").read_text("utf-8"))
    for name in ("draft-cache-intent", "draft-cache-intent-chat")
)
RECORD = load_record()
READ = {draft.name: tuple(sentences(draft)) for draft in DRAFTS}
NORMATIVE = [each for read in READ.values() for each in read if each.normative]
SENTENCES = [pytest.param(each, id=f"{','.join(each.rules)} {each.where}") for each in NORMATIVE]

each_sentence = pytest.mark.parametrize("sentence", SENTENCES)


def rewritten(sentence: Sentence, becomes: str) -> list[Sentence]:
    """Read the drafts with other words in the one place where this sentence stands."""
    words = re.compile(r"\s+".join(map(re.escape, sentence.text.split())))
    found = [(draft, token) for draft in DRAFTS for token in draft.tokens if words.search(token.content)]
    ((draft, token),) = found
    other = token.copy(content=words.sub(lambda _: becomes, token.content))
    tokens = [other if each is token else each for each in draft.tokens]
    read = READ | {draft.name: tuple(sentences(replace(draft, tokens=tokens)))}
    return [each for those in read.values() for each in those]


def told(sentence: Sentence, becomes: str) -> list[str]:
    return [str(each) for each in find_changes(RECORD, rewritten(sentence, becomes))]


def test_the_record_is_of_the_drafts_as_they_are() -> None:
    assert bundle.SENTENCES.read_text("utf-8") == record_text(NORMATIVE)
    assert list(find_changes(RECORD, NORMATIVE)) == []


@each_sentence
def test_a_sentence_that_goes_is_named(sentence: Sentence) -> None:
    assert told(sentence, "") == [
        f"{', '.join(sentence.rules)}: {sentence.document} lacks a normative sentence that spec/sentences.md has: "
        f'"{sentence.text}"; if that is meant, `make sentences`'
    ]


@each_sentence
def test_a_sentence_without_its_identifiers_is_named(sentence: Sentence) -> None:
    untagged = re.sub(r"\s*\([^()]*\)([.:;!?]?[*_]*)$", r"\1", sentence.text)
    (line,) = told(sentence, untagged)
    lost = " and ".join(sentence.rules)
    assert line.startswith(
        f"{', '.join(sentence.rules)}: {sentence.where} has other words than spec/sentences.md, "
        f'and no longer ends in {lost}: "{untagged}"'
    )


@each_sentence
def test_a_sentence_that_says_less_is_named(sentence: Sentence) -> None:
    keyword = sentence.keywords[0]
    weaker = "can" if keyword != "MAY" else "MUST"
    (line,) = told(sentence, sentence.text.replace(keyword, weaker, 1))
    assert line.startswith(f"{', '.join(sentence.rules)}: {sentence.document}")
    assert f'"{sentence.text}"' in line


@each_sentence
def test_a_sentence_more_is_named(sentence: Sentence) -> None:
    more = f"Nobody MUST ask ({sentence.rules[0]})."
    (line,) = told(sentence, f"{sentence.text} {more}")
    assert line.startswith(f"{sentence.rules[0]}: {sentence.document}:")
    assert f' is a normative sentence that spec/sentences.md lacks: "{more}"' in line


def test_line_breaks_and_places_are_no_matter() -> None:
    moved = [replace(each, line=each.line + 7) for each in reversed(NORMATIVE)]
    assert list(find_changes(RECORD, moved)) == []
    assert list(find_changes(RECORD, rewritten(NORMATIVE[0], NORMATIVE[0].text.replace(" ", "\n")))) == []


def test_how_often_a_sentence_stands_there_matters() -> None:
    first = NORMATIVE[0]
    (twice,) = find_changes(RECORD, [*NORMATIVE, first])
    assert "is a normative sentence that spec/sentences.md lacks" in twice.message


def test_a_sentence_in_the_other_draft_is_gone_and_new() -> None:
    first = NORMATIVE[0]
    other = replace(first, document="spec/draft-other.md")
    gone, new = find_changes(RECORD, [other, *NORMATIVE[1:]])
    assert (gone.name, new.name) == (first.rules[0], first.rules[0])
    assert first.document in gone.message
    assert other.where in new.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# Sentences\n\n## spec/draft-x.md\n\n<<<<<<< HEAD\n", ":5"),
        ("# Sentences\n\n## spec/draft-x.md\n* It MUST be (RET-1).\nAnd so on.\n", ":5"),
    ],
)
def test_what_is_no_record_is_told_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "sentences.md"
    path.write_text(text)
    with pytest.raises(UsageProblem, match="is neither") as problem:
        load_record(path)
    assert problem.value.where == f"{path}{told}"


def test_a_record_that_is_not_there_is_a_problem_and_not_a_pass(tmp_path: Path) -> None:
    with pytest.raises(UsageProblem, match="can't be read") as problem:
        load_record(tmp_path / "sentences.md")
    assert problem.value.hint == "make sentences"
