"""Normative sentences are read from the source of a draft: each with its line, its keywords and its rules."""

import pytest

from cctest.problem import UsageProblem
from cctest.traceability.sentences import Keyword, Sentence, sentences
from cctest.traceability.source import read_draft

FRONT = '---\ntitle: "A draft"\nabbrev: MUST\n\n--- abstract\n\nIt is short.\n\n--- middle\n\n'
FIRST = FRONT.count("\n") + 1
"""The line on which the text after FRONT begins."""


def normative(text: str) -> list[Sentence]:
    return [each for each in sentences(read_draft("spec/draft-x.md", FRONT + text)) if each.normative]


def test_a_sentence_has_its_place_keywords_and_rules() -> None:
    (found,) = normative("Nothing here. State MUST NOT\nbe kept, and it MAY go (RET-1,\nRET-2). Nor here.\n")
    assert found.where == f"spec/draft-x.md:{FIRST}"
    assert found.text == "State MUST NOT be kept, and it MAY go (RET-1, RET-2)."
    assert found.keywords == (Keyword.MUST_NOT, Keyword.MAY)
    assert found.rules == ("RET-1", "RET-2")


def test_a_keyword_may_be_broken_over_lines() -> None:
    (found,) = normative("First.\nA cache MUST\nNOT leak (RET-1).\n")
    assert found.keywords == (Keyword.MUST_NOT,)
    assert found.line == FIRST + 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("* one\n* it MUST be (RET-1)\n", 1),
        ("* one\n\n  it MUST be (RET-1).\n", 2),
        ("1. one\n   + it MUST be (RET-1);\n", 1),
        ("| a | b |\n|---|---|\n| c | d |\n| e | it MUST be (RET-1) |\n{: #table title='MUST'}\n", 3),
        ("> it MUST be (RET-1)\n", 0),
        ("Term:\n: it MUST be (RET-1)\n", 1),
        ("# It MUST be (RET-1)\n", 0),
        ("It *MUST* be (RET-1).\n", 0),
        ("text\n\n    it MUST be (RET-1)\n", 2),
    ],
    ids=[
        "item",
        "second paragraph",
        "inner item",
        "cell",
        "quote",
        "definition",
        "heading",
        "bold",
        "indented",
    ],
)
def test_sentences_stand_anywhere(text: str, line: int) -> None:
    (found,) = normative(text)
    assert (found.line, found.rules) == (FIRST + line, ("RET-1",))


@pytest.mark.parametrize(
    "text",
    [
        "~~~ json\nit MUST be\n~~~\n",
        "```\nit MUST be\n\n~~~\nMUST\n```\n",
        "~~~\nit MUST be\n",
        "{::boilerplate bcp14-tagged}\n",
        'The key words "MUST" and "MAY" are to be interpreted as described in BCP\n14.\n',
        "the word `MUST` and ``a ` MUST`` in code\n",
        "<!-- it MUST be\n\nit MUST be -->\n",
        "{::comment}\nit MUST be\n{:/comment}\n",
        "it must be, in May; MUSTARD and MAYBE\n",
    ],
)
def test_what_is_no_sentence_states_no_rule(text: str) -> None:
    assert normative(text) == []


def test_lines_are_counted_across_what_is_left_out() -> None:
    left_out = "<!-- two\nlines -->\n\n~~~\nfenced\n~~~\n{: #figure}\n\n{::boilerplate bcp14-tagged}\n\n"
    (found,) = normative(left_out + "It MUST be (RET-1).\n")
    assert found.line == FIRST + left_out.count("\n")


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("It MUST be (RET-1), and so on.", ()),
        ("It MUST be RET-1.", ()),
        ("It MUST be (see RET-1).", ()),
        ("It MUST be `(RET-1)`.", ()),
        ("It MUST be as follows (RET-1):", ("RET-1",)),
        ("A value, e.g. `x`, MUST be (RET-1).", ("RET-1",)),
        ("It MUST be (RET-1, READ-5).", ("RET-1",)),
    ],
)
def test_only_parentheses_at_the_end_tie(text: str, rules: tuple[str, ...]) -> None:
    (found,) = normative(text)
    assert found.rules == rules


def test_two_rules_in_one_breath_are_two_sentences() -> None:
    first, second = normative("It MUST be. `x` MUST be too (RET-1).")
    assert (first.rules, second.rules) == ((), ("RET-1",))


def test_mentions_are_told_from_ties() -> None:
    (found,) = [
        each
        for each in sentences(read_draft("x", FRONT + "As RET-3 says (READ-1), `RET-4`."))
        if each.mentions
    ]
    assert (found.mentions, found.rules, found.normative) == (("RET-3", "READ-1"), (), False)


@pytest.mark.parametrize("source", ["# A page\n\nIt MUST be.\n", "---\nabbrev: x\n\n--- abstract\n", ""])
def test_what_is_no_draft_is_refused(source: str) -> None:
    with pytest.raises(UsageProblem, match="front matter"):
        read_draft("spec/draft-x.md", source)
