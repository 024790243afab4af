"""Hypothesis strategies for the objects of the contract, valid and mutated."""

from typing import Any

from hypothesis import strategies as st

from cctest.contract.intent import Constraints, Retention
from cctest.contract.source import JsonValue
from cctest.contract.vocabulary import (
    HintReport,
    Kind,
    OnUnenforceable,
    Outcome,
    RetentionMode,
    RetentionReport,
    Reuse,
    Scope,
)

LABELS = st.one_of(
    st.text(min_size=1, max_size=8),
    st.sampled_from(["a" * 255, "a" * 256, "é" * 256, "\U0001f512" * 256, "e\u0301" * 128]),
)
SECONDS = st.one_of(st.integers(0, 3), st.integers(0, 2**60))
RETENTIONS = st.one_of(
    st.just(Retention(RetentionMode.FORBID)),
    st.builds(Retention, st.just(RetentionMode.ALLOW), st.none() | SECONDS),
)
CONSTRAINTS = st.builds(
    Constraints, RETENTIONS, st.sampled_from(Reuse), st.sampled_from(Scope), st.none() | LABELS
)
FRAGMENTS = st.lists(st.none() | CONSTRAINTS, max_size=8)

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def _words(vocabulary: Any) -> Any:
    return st.sampled_from([str(word) for word in vocabulary])


def _arrays(vocabulary: Any) -> Any:
    return st.lists(_words(vocabulary), min_size=1, max_size=5, unique=True)


_INTEGRAL = SECONDS | st.integers(0, 1000).map(float)
_RETENTION_OBJECTS = st.one_of(
    st.just({"mode": "forbid"}),
    st.fixed_dictionaries({"mode": st.just("allow")}, optional={"max_age": _INTEGRAL}),
)
_CONSTRAINT_OBJECTS = st.fixed_dictionaries(
    {"retention": _RETENTION_OBJECTS, "reuse": _words(Reuse), "share_max": _words(Scope)},
    optional={"namespace": LABELS},
)
INTENT_OBJECTS = st.fixed_dictionaries(
    {"version": st.sampled_from([1, 1.0]), "constraints": _CONSTRAINT_OBJECTS},
    optional={"id": LABELS, "hints": st.dictionaries(st.sampled_from(["reuse_within", "x"]), JSON)},
)
CAPABILITIES_OBJECTS = st.fixed_dictionaries(
    {
        "versions": st.lists(st.integers(1, 9), min_size=1, unique=True),
        "constraints": st.fixed_dictionaries(
            {},
            optional={
                "retention_modes": _arrays(RetentionMode),
                "retention_max_age": st.booleans(),
                "reuse": _arrays(Reuse),
                "share_max": _arrays(Scope),
                "namespace": st.booleans(),
            },
        ),
        "on_unenforceable": _words(OnUnenforceable),
    },
    optional={
        "status": st.booleans(),
        "per_fragment_share": st.booleans(),
        "hints": st.fixed_dictionaries({}, optional={"reuse_within_max": _INTEGRAL, "other": JSON}),
    },
)
STATUS_ARRAYS = st.lists(
    st.fixed_dictionaries(
        {"outcome": _words(Outcome), "constraint_result": st.just("satisfied")},
        optional={
            "id": LABELS,
            "effective_share": _words(Scope),
            "retention": _words(RetentionReport),
            "hints": st.dictionaries(st.text(max_size=5), _words(HintReport), max_size=3),
        },
    ),
    max_size=3,
)
_INNER = {
    Kind.CACHE_INTENT: INTENT_OBJECTS,
    Kind.CACHE_INTENT_CAPABILITIES: CAPABILITIES_OBJECTS,
    Kind.CACHE_STATUS: STATUS_ARRAYS,
}


def documents(kind: Kind) -> st.SearchStrategy[Any]:
    """Valid documents of one kind."""
    return _INNER[kind].map(lambda inner: {str(kind): inner})


_JUNK: st.SearchStrategy[Any] = JSON | st.sampled_from(
    ["", "a" * 257, "Exact", "forbid", 0, -1, 1.5, 2, True, False, None, [], {}, [1, 1], ["none", "none"]]
)


@st.composite
def mutated(draw: st.DrawFn, originals: st.SearchStrategy[Any]) -> JsonValue:
    """A document with one to three places replaced, removed or joined by something else."""
    document: JsonValue = draw(originals)
    for _ in range(draw(st.integers(1, 3))):
        document = _mutate(draw, document)
    return document


def _mutate(draw: st.DrawFn, value: Any) -> Any:
    if not isinstance(value, dict | list) or not value or draw(st.integers(0, 5)) == 0:
        return draw(_JUNK)
    if isinstance(value, list):
        index = draw(st.integers(0, len(value) - 1))
        again = [value[index]] if draw(st.booleans()) else []
        return [*value[:index], _mutate(draw, value[index]), *value[index + 1 :], *again]
    name = draw(st.sampled_from(sorted(value)))
    match draw(st.integers(0, 5)):
        case 0:
            return {inner: value[inner] for inner in value if inner != name}
        case 1:
            return {**value, draw(st.sampled_from(["max_age", "future", "a/b~c", ""])): draw(_JUNK)}
        case _:
            return {**value, name: _mutate(draw, value[name])}
