"""What isn't tied is named exactly, whichever end of the tie was taken away."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from cctest.catalogue import Level, load_readings
from cctest.coverage.compute import cover
from cctest.coverage.suite import Suite, bundled_suite
from cctest.mutation.catalogue import load_mutants
from cctest.mutation.mutant import Mutant
from cctest.traceability.source import Draft, read_draft
from cctest.traceability.trace import Trace, bundled_trace, make_trace
from cctest.traceability.untied import find_untied


@pytest.fixture(scope="module")
def trace() -> Trace:
    return bundled_trace()


@pytest.fixture(scope="module")
def suite() -> Suite:
    return bundled_suite()


@pytest.fixture(scope="module")
def mutants() -> tuple[Mutant, ...]:
    return load_mutants()


def draft(text: str) -> Draft:
    return read_draft("draft-x.md", f"---\ntitle: x\n\n--- abstract\n\n{text}\n")


With = Callable[[str], list[str]]


@pytest.fixture
def saying(trace: Trace) -> With:
    """Give what a sentence more in another draft would leave untied."""

    def said(text: str) -> list[str]:
        drafts = (*trace.drafts, draft(text))
        more = make_trace(drafts, trace.coverage, trace.mutants, trace.readings)
        return [str(each) for each in find_untied(more)]

    return said


def test_everything_is_tied(trace: Trace) -> None:
    assert [str(each) for each in find_untied(trace)] == []
    assert len(trace.drafts) == 2
    assert all(tie.sentences for tie in trace.ties.values())


def test_a_sentence_without_an_identifier(saying: With) -> None:
    assert saying("It MUST be, and SHOULD\nwell be.") == [
        "draft-x.md:6: says MUST and SHOULD and ends in no identifier of a rule: "
        '"It MUST be, and SHOULD well be."'
    ]


@pytest.mark.parametrize("text", ["It MUST be (RET-1, RET-99).", "As RET-99 says."])
def test_an_identifier_that_the_catalogue_lacks(saying: With, text: str) -> None:
    told = f'draft-x.md:6: names RET-99, which is no rule of requirements.yaml: "{text}"'
    assert saying(text) == [told]


def test_other_names_with_a_number_are_no_identifiers(saying: With) -> None:
    assert saying("It is UTF-8 and SHA-256, as BCP-14 has it (RET-1).") == []


def test_an_open_question_that_there_is_not(saying: With) -> None:
    assert saying("It is open (READ-99).") == [
        "draft-x.md:6: names READ-99, which is no open question of readings.yaml"
    ]


def test_a_sentence_that_says_more_than_its_rule(saying: With) -> None:
    text = "State MUST be kept (RET-2)."
    assert saying(text) == [f'draft-x.md:6: says MUST and rests on RET-2, at most a MAY: "{text}"']


def test_a_rule_without_a_sentence_and_a_question_without_a_mention(trace: Trace) -> None:
    alone = make_trace((draft("It MUST NOT be (RET-1)."),), trace.coverage, trace.mutants, trace.readings)
    told = {str(each) for each in find_untied(alone)}
    expected = {
        f"{name}: a {tie.rule.level}, and no sentence of a draft states it"
        for name, tie in trace.ties.items()
        if name != "RET-1"
    }
    assert told == expected | {
        f"{name}: an open question, and no draft mentions it" for name in load_readings()
    }


def test_a_rule_whose_sentences_say_less(trace: Trace, suite: Suite, mutants: tuple[Mutant, ...]) -> None:
    rules = {**suite.rules, "RET-2": replace(suite.rules["RET-2"], level=Level.SHOULD)}
    other = make_trace(trace.drafts, cover(replace(suite, rules=rules)), mutants, trace.readings)
    (told,) = map(str, find_untied(other))
    assert told.startswith("RET-2: a SHOULD, and none of the sentences that end in it says so (spec/draft-")


def test_a_must_without_a_mutant_and_a_mutant_without_a_rule(trace: Trace) -> None:
    kept = tuple(mutant for mutant in trace.mutants if "RET-1" not in mutant.rules)
    astray = replace(kept[0], rules=(*kept[0].rules, "RET-99"))
    other = make_trace(trace.drafts, trace.coverage, (astray, *kept[1:]), trace.readings)
    assert "RET-1: a MUST that can be observed (document or response or engine), and no mutant breaks it" in {
        str(each) for each in find_untied(other)
    }
    assert f"mutant {astray.id}: breaks RET-99, which is no rule" in {
        str(each) for each in find_untied(other)
    }


def test_what_the_suite_lacks_is_told_too(trace: Trace, suite: Suite) -> None:
    vectors = tuple(replace(vector, rules=("NO-1",)) for vector in suite.vectors)
    other = make_trace(trace.drafts, cover(replace(suite, vectors=vectors)), trace.mutants, trace.readings)
    told = {str(each) for each in find_untied(other)}
    assert "DIG-1: a MUST that a document shows, and no vector exercises it" in told
    assert any("names NO-1, which is no rule" in each for each in told)
