"""Readings of one rule, as small functions side by side: the smallest input on which they differ, if there is one.

Each is the input of a finding in `spec/findings.md`, found here by property-based search, and each function is
a reading that can be defended. They are models: what a target does is the probe's affair.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from cctest.contract.capabilities import Capabilities, unenforceable
from cctest.contract.composition import NO_POLICY, compose
from cctest.contract.digest import NamespaceDigest
from cctest.contract.eligibility import eligible
from cctest.contract.intent import Constraints, Retention
from cctest.contract.sharing import Context, RetainedState, boundary, may_read
from cctest.contract.vocabulary import OnUnenforceable, RetentionMode, Reuse, Scope
from cctest.findings import load_findings

SEARCH = settings(
    max_examples=5_000,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
SECONDS = st.integers(0, 1_000)
BOUNDS = st.integers(1, 1_000)

ALLOW = Retention(RetentionMode.ALLOW)
BOUNDED = Retention(RetentionMode.ALLOW, 60)
FORBID = Retention(RetentionMode.FORBID)


@dataclass(frozen=True)
class Question:
    """Readings of a rule over the same inputs, and the smallest input on which no two of them agree."""

    finding: str
    inputs: st.SearchStrategy[Any]
    readings: tuple[Callable[..., object], ...]
    smallest: tuple[Any, ...]

    def differ(self, given: tuple[Any, ...]) -> bool:
        answers = [reading(*given) for reading in self.readings]
        return all(one != other for place, one in enumerate(answers) for other in answers[:place])


def shared(fragments: Sequence[Scope | None]) -> list[Scope | None]:
    """The boundary of the state after each fragment, by the core; None for a fragment without an intent."""
    policies = compose(
        None if scope is None else Constraints(ALLOW, Reuse.EXACT, scope) for scope in fragments
    )
    return [None if policy is NO_POLICY else policy.share_max for policy in policies]


def shared_with_silence_narrowed(fragments: Sequence[Scope | None]) -> list[Scope | None]:
    spoken = [scope is not None for scope in fragments]
    first = spoken.index(True) if True in spoken else len(spoken)
    return shared([*fragments[:first], *(scope or Scope.TENANT for scope in fragments[first:])])


def shared_with_beginnings_narrowed(fragments: Sequence[Scope | None]) -> list[Scope | None]:
    spoken = [scope is not None for scope in fragments]
    first = spoken.index(True) if True in spoken else len(spoken)
    told = shared([*(Scope.TENANT for _ in fragments[:first]), *fragments[first:]])
    return [None] * first + told[first:]


def age_within(bound: int, extended: int, read: int, *, carries_over: bool) -> bool:
    """Whether what was computed at `extended` from state of instant 0 can be read at `read`."""
    made = extended < bound and read >= extended
    return made and read - extended < bound and (read < bound or not carries_over)


def lists_the_mode(listed: list[str], asked: str) -> bool:
    return asked in listed


def lists_it_or_a_stricter(listed: list[str], asked: str) -> bool:
    return asked in listed or "forbid" in listed


def lists_a_scope_within(listed: list[Scope], asked: Scope) -> bool:
    return any(scope.rank <= asked.rank for scope in listed)


def without_bounds(retention: Retention, scope: Scope) -> bool:
    """Whether the core can enforce an intent on an implementation that bounds no age."""
    offered = Capabilities(
        versions=(1,),
        retention_modes=tuple(RetentionMode),
        reuse=(Reuse.NONE, Reuse.EXACT),
        share_max=tuple(Scope),
        on_unenforceable=OnUnenforceable.REJECT,
    )
    return not unenforceable(offered, Constraints(retention, Reuse.EXACT, scope))


def each_is_enforceable(fragments: list[Retention]) -> bool:
    return all(without_bounds(retention, Scope.TENANT) for retention in fragments)


def the_composition_is(fragments: list[Retention]) -> bool:
    policy = compose([Constraints(retention, Reuse.EXACT, Scope.TENANT) for retention in fragments])[-1]
    assert policy is not NO_POLICY
    return without_bounds(policy.retention, Scope.TENANT)


def digest(namespaces: Sequence[str | None]) -> str | None:
    whole = NamespaceDigest()
    for namespace in namespaces:
        if namespace is not None:
            whole.add(namespace)
    return whole.hexdigest()


def hint_within(seconds: int, maximum: int, *, without_effect: bool) -> str:
    if seconds > maximum:
        return "clipped"
    return "ignored" if without_effect else "accepted"


QUESTIONS = (
    Question(
        "F-1",
        st.tuples(st.lists(st.none() | st.sampled_from(Scope), max_size=4)),
        (shared, shared_with_silence_narrowed),
        ([Scope.PUBLIC, None],),
    ),
    Question(
        "F-2",
        st.tuples(st.lists(st.none() | st.sampled_from(Scope), max_size=4)),
        (shared, shared_with_beginnings_narrowed),
        ([None, Scope.PUBLIC],),
    ),
    Question(
        "F-3",
        st.tuples(BOUNDS, SECONDS, SECONDS),
        (
            lambda bound, extended, read: age_within(bound, extended, read, carries_over=False),
            lambda bound, extended, read: age_within(bound, extended, read, carries_over=True),
        ),
        (2, 1, 2),
    ),
    Question(
        "F-10",
        st.tuples(
            st.lists(st.sampled_from(("forbid", "allow")), min_size=1, unique=True),
            st.sampled_from(("forbid", "allow")),
        ),
        (lists_the_mode, lists_it_or_a_stricter),
        (["forbid"], "allow"),
    ),
    Question(
        "F-15",
        st.tuples(SECONDS, SECONDS, st.booleans()),
        (
            lambda asked, most, _forbidden: hint_within(asked, most, without_effect=False),
            lambda asked, most, forbidden: hint_within(asked, most, without_effect=forbidden),
        ),
        (0, 0, True),
    ),
    Question(
        "F-16",
        st.tuples(SECONDS, SECONDS, SECONDS),
        (eligible, lambda made, bound, now: made <= now and eligible(made, bound, now)),
        (1, 1, 0),
    ),
    Question(
        "F-21",
        st.tuples(st.lists(st.booleans(), max_size=5)),
        (
            sum,
            lambda intents: len(intents) - intents.index(True) if True in intents else 0,
            len,
        ),
        ([False, True, False],),
    ),
    Question(
        "F-24",
        st.tuples(st.text(max_size=3)),
        (len, lambda text: len(text.encode("utf-16-le")) // 2, lambda text: len(text.encode())),
        ("\U00010000",),
    ),
    Question(
        "F-33",
        st.tuples(st.none() | BOUNDS, st.none() | BOUNDS, SECONDS),
        (
            lambda writer, _reader, age: eligible(0, writer, age),
            lambda writer, reader, age: eligible(0, writer, age) and eligible(0, reader, age),
        ),
        (None, 1, 1),
    ),
    Question(
        "F-44",
        st.tuples(st.lists(st.sampled_from((ALLOW, BOUNDED, FORBID)), min_size=1, max_size=4)),
        (each_is_enforceable, the_composition_is),
        ([BOUNDED, FORBID],),
    ),
    Question(
        "F-50",
        st.tuples(
            st.lists(st.none() | st.text(min_size=1, max_size=2), min_size=1, max_size=3),
            st.lists(st.none() | st.text(min_size=1, max_size=2), min_size=1, max_size=3),
        ),
        (
            lambda one, other: digest(one[:1]) == digest(other[:1]),
            lambda one, other: digest(one) == digest(other),
        ),
        ([None], [None, "0"]),
    ),
    Question(
        "F-53",
        st.tuples(st.none() | SECONDS, SECONDS),
        (lambda reader, _age: reader != 0, lambda _reader, _age: True),
        (0, 0),
    ),
    Question(
        "F-54",
        st.tuples(BOUNDS, SECONDS, SECONDS),
        (
            lambda bound, lasted, waited: eligible(0, bound, lasted + waited),
            lambda bound, lasted, waited: eligible(lasted, bound, lasted + waited),
        ),
        (1, 1, 0),
    ),
    Question(
        "F-55",
        st.tuples(BOUNDS, SECONDS, SECONDS),
        (
            lambda bound, found, _used: eligible(0, bound, found),
            lambda bound, found, used: eligible(0, bound, found + used),
        ),
        (1, 0, 1),
    ),
    Question(
        "F-56",
        st.tuples(BOUNDS, BOUNDS, BOUNDS),
        (
            lambda _bound, asked, most: hint_within(asked, most, without_effect=False),
            lambda bound, asked, most: hint_within(asked, most, without_effect=bound < asked),
        ),
        (1, 2, 2),
    ),
    Question(
        "F-58",
        st.tuples(st.lists(st.sampled_from(Scope), min_size=1, unique=True), st.sampled_from(Scope)),
        (
            lists_a_scope_within,
            lambda listed, asked: asked is Scope.REQUEST or lists_a_scope_within(listed, asked),
        ),
        ([Scope.SESSION], Scope.REQUEST),
    ),
    Question(
        "F-59",
        st.tuples(st.none() | BOUNDS, st.sampled_from(Scope)),
        (
            lambda bound, scope: without_bounds(replace(ALLOW, max_age=bound), scope),
            lambda bound, scope: (
                scope is Scope.REQUEST or without_bounds(replace(ALLOW, max_age=bound), scope)
            ),
        ),
        (1, Scope.REQUEST),
    ),
    Question(
        "F-61",
        st.tuples(BOUNDS, SECONDS),
        (lambda _end, _begin: "later", lambda end, begin: "later" if begin >= end else "beside it"),
        (1, 0),
    ),
    Question(
        "F-68",
        st.tuples(st.integers(0, 2**70)),
        (lambda _bound: "valid", lambda bound: "valid" if bound < 2**63 else "at fault"),
        (2**63,),
    ),
    Question(
        "F-74",
        st.tuples(BOUNDS, SECONDS, SECONDS),
        (
            lambda bound, again, read: again < bound and read >= again and eligible(again, bound, read),
            lambda bound, again, read: again < bound and read >= again and eligible(0, bound, read),
        ),
        (2, 1, 2),
    ),
)


@pytest.mark.parametrize("question", QUESTIONS, ids=[question.finding for question in QUESTIONS])
def test_the_readings_differ_first_on(question: Question) -> None:
    assert question.finding in load_findings()
    assert question.differ(question.smallest)
    assert find(question.inputs, question.differ, settings=SEARCH) == question.smallest


@given(
    st.sampled_from((ALLOW, BOUNDED, FORBID)),
    st.sampled_from(Reuse),
    st.sampled_from(Scope),
    st.sampled_from((Context("a", "a"), Context("a", "a", "a"), Context("a", "b", "a"), Context("b", "a"))),
    SECONDS,
)
def test_three_ways_to_keep_nothing_are_one(
    retention: Retention, reuse: Reuse, scope: Scope, later: Context, age: int
) -> None:
    """F-19: whatever else an intent says, no later request reads what was computed under any of the three."""
    asked = Constraints(retention, reuse, scope)
    for constraints in (
        replace(asked, retention=FORBID),
        replace(asked, retention=replace(ALLOW, max_age=0)),
        replace(asked, share_max=Scope.REQUEST),
    ):
        kept = constraints.retention.mode is RetentionMode.ALLOW
        place = boundary(constraints.share_max, Context("a", "a", "a"), "first")
        state = RetainedState(place, None, 0, constraints.retention.max_age)
        assert not (kept and may_read(state, later, "second", None, age))
