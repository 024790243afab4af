"""What the suite itself lacks or gets wrong: unexercised rules and tests, and rules that don't exist."""

from collections.abc import Iterator

from cctest.catalogue import Level, Observable, Requirement
from cctest.coverage.model import Gap
from cctest.coverage.suite import Suite


def find_gaps(suite: Suite) -> Iterator[Gap]:
    """Yield every gap.

    A MUST that a document shows needs a vector, and one that an exchange, the engine or timing shows needs a
    case, so that a rule that can be seen in both places isn't left to one of them. A case counts for the
    rules that one of its checks judges.
    """
    for rule in suite.rules.values():
        yield from _unexercised(suite, rule)
    yield from _of_tests(suite)
    yield from _of_topics(suite)
    yield from _unknown_rules(suite)


def _unexercised(suite: Suite, rule: Requirement) -> Iterator[Gap]:
    if rule.level is not Level.MUST:
        return
    elsewhere = [place for place in rule.observable if place not in (Observable.DOCUMENT, Observable.NONE)]
    if Observable.DOCUMENT in rule.observable and not suite.vectors_of({rule.id}):
        yield Gap(rule.id, "a MUST that a document shows, and no vector exercises it")
    if elsewhere and not suite.checks_of({rule.id}):
        places = " or ".join(elsewhere)
        yield Gap(rule.id, f"a MUST that can be observed ({places}), and no check of a case judges it")


def _of_tests(suite: Suite) -> Iterator[Gap]:
    numbers = {case.appendix for case in suite.cases}
    for number in suite.topics.interoperability:
        if number not in numbers:
            yield Gap(f"interoperability test {number}", "no case has this number as its `appendix`")
    for case in suite.cases:
        if case.appendix is not None and case.appendix not in suite.topics.interoperability:
            yield Gap(f"case {case.id}", f"there is no interoperability test {case.appendix}")


def _of_topics(suite: Suite) -> Iterator[Gap]:
    for topic in suite.topics.beyond_schemas:
        for rule in topic.rules:
            if rule not in suite.rules:
                yield Gap(topic.name, f"names {rule}, which is no rule")
        if not suite.vectors_of(topic.rules):
            yield Gap(topic.name, "no schema can say it, and no vector exercises it")


def _unknown_rules(suite: Suite) -> Iterator[Gap]:
    for vector in suite.vectors:
        for rule in vector.rules:
            if rule not in suite.rules:
                yield Gap(f"vector {vector.name}", f"names {rule}, which is no rule ({vector.where})")
    for case in suite.cases:
        for rule in sorted(case.all_rules - suite.rules.keys()):
            yield Gap(f"case {case.id}", f"names {rule}, which is no rule")
