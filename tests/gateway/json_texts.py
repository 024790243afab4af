"""JSON texts for hypothesis: every way to spell a string, numbers that a reader might round, names given twice.

Strategies are made once and drawn from in plain functions, since making them is what takes the time.
"""

import json
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

Texts = SearchStrategy[str]
Member = tuple[str, str]
"""A name and the text of its value."""

NUMBERS = (
    *("0", "-0", "1", "1.0", "1.10", "1e2", "1E+05", "-1.5e-300", "60.0", "0e0", "5e-324", "1e308"),
    *("9007199254740993", "123456789012345678901234567890", "-170141183460469231731687303715884105729"),
    *("0.1000000000000000055511151231257827", "0.30000000000000004", "3.14159265358979323846264338327950288"),
)
WORDS = (
    *("", "x", "user", "cache_salt", "cache_intent", "tenant", "a/b~c", '"\\', "é", "e\u0301", "漢字", "🙂"),
    *("\0", "\u2028", "\ufeff", "\uffff"),
)
LOOK_ALIKES = (
    *("Cache_Intent", "cache-intent", "cache_intent ", "cacheIntent", "cache_salts", "xcache_salt"),
    *("cache_int\u0435nt", "cache_salt\0", "cache\uff3fsalt"),
)
TOO_FAR = (
    *("1e400", "-1e999", "NaN", "-Infinity", "01", "+1", "1.", ".5", "0x1", "tru", "", "'x'", "{,}", "[1,]"),
    *('"\\ud800"', '"\\udc00x"', '"\\ud800\\u0041"', '"\\x"', '"\t"', '{"a":1,"\\u0061":2}'),
)


def escaped(text: str) -> str:
    """Spell a string with an escape for every character."""
    units = text.encode("utf-16-be").hex()
    return '"' + "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4)) + '"'


SPELLINGS: tuple[Callable[[str], str], ...] = (
    json.dumps,
    lambda text: json.dumps(text, ensure_ascii=False),
    escaped,
    lambda text: json.dumps(text).replace("/", "\\/"),
)
STYLES = ((",", ":", ""), (", ", ": ", ""), (" ,\n", "\t: ", "\r\n "), (",", " :", " "))


@cache
def seldom(odds: int) -> SearchStrategy[bool]:
    """True once in so many times."""
    return st.integers(0, odds - 1).map(lambda drawn: drawn == odds // 2)


@cache
def one_of(*texts: str) -> Texts:
    return st.sampled_from(texts)


styles = st.sampled_from(STYLES)
spellings = st.sampled_from(SPELLINGS)
orders = st.integers(0, 2**16)
booleans = st.booleans()

words = st.one_of(st.sampled_from(WORDS), st.text(max_size=12))
strings = st.builds(lambda text, spell: spell(text), words, spellings)
floats = st.floats(allow_nan=False, allow_infinity=False).map(repr)
numbers = st.one_of(st.sampled_from(NUMBERS), st.integers().map(str), floats)
scalars = st.one_of(one_of("null", "true", "false"), numbers, strings)
names = st.one_of(
    st.sampled_from((*LOOK_ALIKES, "x", "X_unknown", "seed", "id", "type")),
    words.map(lambda text: f"x{text}"),
)


def an_object(draw: DrawFn, members: Sequence[Member]) -> str:
    """Spell an object, most often plainly, seldom with the names escaped or one of them twice."""
    comma, colon, pad = draw(styles)
    spell = draw(spellings) if draw(seldom(8)) else json.dumps
    again = draw(seldom(200))
    if members and again:
        members = [*members, members[draw(orders) % len(members)]]
    return "{" + pad + comma.join(f"{spell(name)}{colon}{value}" for name, value in members) + pad + "}"


def shuffled(draw: DrawFn, members: Sequence[Member]) -> list[Member]:
    """Put members in another order, or leave them."""
    order = draw(orders)
    return Random(order).sample(members, len(members)) if order else list(members)


def arrays(elements: list[str]) -> str:
    return f"[{', '.join(elements)}]"


objects = st.composite(an_object)


def _containers(inner: Texts) -> Texts:
    members = st.lists(st.tuples(names, inner), max_size=3, unique_by=lambda one: one[0])
    return st.one_of(st.lists(inner, max_size=3).map(arrays), members.flatmap(objects))


values = st.recursive(scalars, _containers, max_leaves=6)
deep = st.builds(lambda depth, value: "[" * depth + value + "]" * depth, st.integers(1, 90), scalars)
anything = st.one_of(values, deep, st.sampled_from(TOO_FAR))


def usually(draw: DrawFn, good: Texts, odds: int = 120) -> str:
    """Draw a good text, or once in so many times anything."""
    drawn: Texts = anything if draw(seldom(odds)) else good
    return draw(drawn)
