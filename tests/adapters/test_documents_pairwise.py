"""Documents with and without faults: our two readers and the implementation in JavaScript say the same of them.

Only what no reading leaves open is generated: no `60.0`, no odd hints, no duplicate outside an object of ours, and no
`id` in a status that couldn't be an intent's (F-6).
"""

import os
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from under_test import javascript

from cctest.adapter.implementation import Adapter
from cctest.adapter.session import Session
from cctest.contract.vocabulary import Kind
from cctest.vectors.core import Core
from cctest.vectors.implementation import Document

SECONDS = 60.0
WRONG = ("null", "null", "true", "true", "[]", "{}", '""', "-1", "1.5")

Members = Sequence[tuple[str, st.SearchStrategy[str]]]


@pytest.fixture(scope="module")
def second() -> Iterator[Adapter]:
    command = javascript()
    if command is None:
        assert not os.environ.get("NODE_REQUIRED"), "there is no node"
        pytest.skip("there is no node: nothing is compared with the implementation in JavaScript")
    with Session(command, SECONDS) as session:
        yield Adapter(session)


def spelt(name: str) -> st.SearchStrategy[str]:
    """Write a name as it is or, seldom, with its first letter escaped."""
    return st.sampled_from([name] * 9 + [f"\\u{ord(name[0]):04x}{name[1:]}"])


@st.composite
def objects(draw: st.DrawFn, members: Members, wrong: Sequence[str] = WRONG) -> str:
    """Write an object: its members, perhaps one of them missing, wrong or there twice, or one that is unknown."""
    flaw = draw(st.sampled_from(["none"] * 8 + ["missing", "wrong", "wrong", "twice", "unknown"]))
    at = draw(st.integers(0, len(members) - 1))
    pairs = [(name, draw(value)) for name, value in members]
    match flaw:
        case "missing":
            del pairs[at]
        case "wrong":
            pairs[at] = (pairs[at][0], draw(st.sampled_from(wrong)))
        case "twice":
            pairs.append(pairs[at])
        case "unknown":
            pairs.append((draw(st.sampled_from(["tenant", "__proto__", "toString", "1"])), "1"))
    written = [f'"{draw(spelt(name))}": {text}' for name, text in draw(st.permutations(pairs))]
    return f"{{{', '.join(written)}}}"


def words(*allowed: str) -> st.SearchStrategy[str]:
    return st.sampled_from([f'"{word}"' for word in allowed])


def lists(*allowed: str) -> st.SearchStrategy[str]:
    items = st.lists(st.sampled_from(allowed), min_size=1, max_size=3, unique=True)
    return items.map(lambda chosen: f"[{', '.join(chosen)}]")


SCOPES = ("request", "session", "principal", "tenant", "public")
REUSES = ("none", "exact", "approximate")
labels = st.sampled_from(["x", "caf\u00e9", " ", "a" * 256, "a" * 257]).map(lambda label: f'"{label}"')
seconds = st.sampled_from(["0", "60", "9007199254740993", "9" * 40])
booleans = st.sampled_from(["true", "false"])
retentions = objects([("mode", words("allow"))]) | objects(
    [("mode", words("allow", "allow", "forbid")), ("max_age", seconds)]
)
CONSTRAINTS: Members = [("retention", retentions), ("reuse", words(*REUSES)), ("share_max", words(*SCOPES))]
constraints = objects(CONSTRAINTS) | objects([*CONSTRAINTS, ("namespace", labels)])
INTENT: Members = [("version", st.just("1")), ("constraints", constraints)]
intents = objects(INTENT) | objects([*INTENT, ("id", labels)])
promises = objects(
    [
        ("retention_modes", lists('"allow"', '"forbid"')),
        ("retention_max_age", booleans),
        ("reuse", lists(*(f'"{word}"' for word in REUSES))),
        ("share_max", lists(*(f'"{word}"' for word in SCOPES))),
        ("namespace", booleans),
    ]
)
capabilities = objects(
    [
        ("versions", lists("1", "2")),
        ("constraints", promises),
        ("on_unenforceable", words("reject", "bypass")),
        ("status", booleans),
        ("per_fragment_share", booleans),
    ]
)
entries = objects(
    [
        ("outcome", words("bypass", "miss", "exact_hit", "approximate_hit", "unobserved")),
        ("constraint_result", words("satisfied")),
        ("id", labels.filter(lambda label: len(label) <= len('""') + 256)),
        ("effective_share", words(*SCOPES)),
        ("retention", words("forbidden", "declined", "retained", "unobserved")),
    ],
    [value for value in WRONG if value != '""'],
)
statuses = st.lists(entries, max_size=3).map(lambda items: f"[{', '.join(items)}]")
documents = st.one_of(
    st.tuples(st.just(Kind.CACHE_INTENT), intents),
    st.tuples(st.just(Kind.CACHE_INTENT_CAPABILITIES), capabilities),
    st.tuples(st.just(Kind.CACHE_STATUS), statuses),
)


@settings(max_examples=500)
@given(document=documents)
def test_documents_are_valid_for_all_or_for_none(second: Adapter, document: tuple[Kind, str]) -> None:
    kind, text = document
    asked = Document(kind, raw=f'{{"{kind}": {text}}}'.encode())
    opinions = {opinion.who: opinion.valid for opinion in (*Core().validate(asked), *second.validate(asked))}
    assert len(opinions) == 3
    assert len(set(opinions.values())) == 1, opinions
