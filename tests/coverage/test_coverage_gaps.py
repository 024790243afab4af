"""The suite has no gaps, and each kind of gap is found."""

from dataclasses import replace

import pytest

from cctest.catalogue import Level, Observable
from cctest.coverage.gaps import find_gaps
from cctest.coverage.suite import Suite, bundled_suite
from cctest.probe.case import Case


@pytest.fixture(scope="module")
def suite() -> Suite:
    return bundled_suite()


def gaps(suite: Suite) -> list[tuple[str, str]]:
    return [(gap.name, gap.message) for gap in find_gaps(suite)]


def without_checks_of(suite: Suite, rule: str) -> tuple[Case, ...]:
    gone = suite.checks_of({rule})
    return tuple(case.without(gone) for case in suite.cases)


def test_the_bundled_suite_has_no_gaps(suite: Suite) -> None:
    assert gaps(suite) == []


def test_a_must_that_a_document_shows_needs_a_vector(suite: Suite) -> None:
    for rule in suite.rules.values():
        if rule.level is Level.MUST and Observable.DOCUMENT in rule.observable:
            vectors = tuple(vector for vector in suite.vectors if rule.id not in vector.rules)
            found = gaps(replace(suite, vectors=vectors))
            assert (rule.id, "a MUST that a document shows, and no vector exercises it") in found


def test_a_must_that_an_exchange_shows_needs_a_check(suite: Suite) -> None:
    for rule in suite.rules.values():
        places = {*rule.observable} - {Observable.DOCUMENT, Observable.NONE}
        if rule.level is Level.MUST and places:
            found = gaps(replace(suite, cases=without_checks_of(suite, rule.id)))
            assert any(name == rule.id and "no check of a case judges it" in why for name, why in found)


def test_a_case_that_names_a_rule_without_a_check_for_it_does_not_count(suite: Suite) -> None:
    cases = (*without_checks_of(suite, "CMP-10"), replace(suite.cases[0], id="idle", rules=("CMP-10",)))
    assert [name for name, _ in gaps(replace(suite, cases=cases))] == ["CMP-10"]


def test_what_is_optional_or_cannot_be_observed_needs_nothing(suite: Suite) -> None:
    optional = {rule.id for rule in suite.rules.values() if rule.level is not Level.MUST or rule.because}
    bare = replace(suite, vectors=(), cases=())
    assert optional
    assert optional.isdisjoint(name for name, _ in gaps(bare))


def test_a_vector_or_a_case_that_names_an_unknown_rule_is_a_gap(suite: Suite) -> None:
    vector = replace(suite.vectors[0], rules=("INT-99",))
    case = replace(suite.cases[0], id="stray", rules=("ABC-1",))
    found = gaps(replace(suite, vectors=(*suite.vectors, vector), cases=(*suite.cases, case)))
    assert [name for name, _ in found] == [f"vector {vector.name}", "case stray"]
    assert "names INT-99, which is no rule" in found[0][1]
    assert found[1][1] == "names ABC-1, which is no rule"


def test_every_interoperability_test_is_a_case_and_no_other_number_is(suite: Suite) -> None:
    assert list(suite.topics.interoperability) == list(range(1, 11))
    renumbered = tuple(replace(case, appendix=11) if case.appendix == 4 else case for case in suite.cases)
    (missing, _), (stray, why) = gaps(replace(suite, cases=renumbered))
    assert missing == "interoperability test 4"
    assert (stray, why) == ("case exact-beats-approximate", "there is no interoperability test 11")


def test_what_no_schema_can_say_needs_a_vector(suite: Suite) -> None:
    vectors = tuple(vector for vector in suite.vectors if "NS-3" not in vector.rules)
    assert "no-normalisation" in [name for name, _ in gaps(replace(suite, vectors=vectors))]
