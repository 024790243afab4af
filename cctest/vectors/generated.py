"""Vectors made at run time from a seed, so that nobody can know the answers beforehand.

What they expect comes from the oracle. They exercise what every implementation answers alike: a namespace is
never longer than 256, whatever is counted (READ-4), and nothing is `public` where a fragment has no intent
(READ-19, READ-31).
"""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, Final

from cctest.vectors.model import Vector, VectorKind
from cctest.vectors.oracle import REUSE, SCOPES, digest_of, policy_after

_PREFIX: Final = "generated-"
"""What the name of every generated vector, and of no other, begins with."""

DIGESTS: Final = 64
COMPOSITIONS: Final = 64

_LONGEST: Final = 256
_ALPHABETS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "0123456789",
    "0123456789:",
    "AaBb :/._-",
    "éüñßÅİıſ",
    "e\u0301a\u0308A\u030a\u0300n\u0303",  # base letters and combining marks
    "漢字かなカナ한글",
    "\u212a\u2126\ufb01\u1e9b\u0323",  # what normalisation would replace
    "😀🔒𝒳𐍈\U0010fffd",
    "\x00\t\n\x1f\x7f\u00a0\u2028\ufeff\u200d",
    "aé漢😀:7\u0301",
)
_BOUNDS: Final = (0, 1, 9, 10, 59, 60, 3600, 86400, 2**31, 2**32 + 1, 2**53 + 1, 10**18 + 1)
_DIGEST_RULES: Final = ("DIG-1", "DIG-2", "NS-3")
_COMPOSITION_RULES: Final = (
    *("CMP-1", "CMP-2", "CMP-3", "CMP-4", "CMP-5", "CMP-6", "CMP-7", "CMP-8"),
    *("DIG-1", "DIG-2", "DIG-3"),
)


def generate(seed: int) -> tuple[Vector, ...]:
    """Make the vectors of a seed: the same seed gives the same ones, in whatever order they are run."""
    return (
        *(_vector(seed, VectorKind.DIGEST, number, _digest) for number in range(1, DIGESTS + 1)),
        *(
            _vector(seed, VectorKind.COMPOSITION, number, _composition)
            for number in range(1, COMPOSITIONS + 1)
        ),
    )


def is_generated(name: str) -> bool:
    """Tell the name of a generated vector from one that can be looked up."""
    return name.startswith(_PREFIX)


def _vector(
    seed: int, kind: VectorKind, number: int, content: Callable[[Random], Mapping[str, Any]]
) -> Vector:
    name = f"{_PREFIX}{kind}-{number}"
    rules = _DIGEST_RULES if kind is VectorKind.DIGEST else _COMPOSITION_RULES
    random = Random(f"{seed} {name}")  # noqa: S311 - to be repeatable is the point
    made = {"name": name, "kind": str(kind), "rules": list(rules), **content(random)}
    return Vector(name, kind, rules, "", made, f"seed {seed}")


def _digest(random: Random) -> Mapping[str, Any]:
    namespaces = [_namespace(random) for _ in range(random.choice((1, 1, 2, 2, 3, 4, 8)))]
    if len(namespaces) > 2 and random.random() < 0.3:
        namespaces[-1] = namespaces[0]
    case = {"namespaces": namespaces, "digest": digest_of(namespaces)}
    return {"cases": [case], "expected": {"digests_match": True}}


def _namespace(random: Random) -> str:
    """Make a namespace, now and then one that has 256 characters, or as many bytes."""
    alphabet = random.choice(_ALPHABETS)
    size = random.choice((1, 2, 3, 5, 8, 9, 10, 11, 16, 99, 100, 101, _LONGEST, _LONGEST))
    made = "".join(random.choices(alphabet, k=size))
    while len(made.encode()) > _LONGEST:
        made = made[:-1]
    return made


def _composition(random: Random) -> Mapping[str, Any]:
    number = random.choice((1, 2, 2, 3, 3, 4, 5, 8))
    silent = [random.random() < 0.25 for _ in range(number)] if random.random() < 0.6 else [False] * number
    scopes = SCOPES[:-1] if any(silent) else SCOPES
    # Mostly one member is strict somewhere, not every member everywhere: else all policies come out alike.
    lenient = random.random() < 0.6
    fragments = [{} if mute else _fragment(random, scopes, lenient=lenient) for mute in silent]
    if not any("namespace" in fragment.get("constraints", {}) for fragment in fragments):
        fragments[-1] = _fragment(random, scopes, lenient=lenient)
        fragments[-1]["constraints"]["namespace"] = _namespace(random)  # else the policy could be guessed
    expected = {f"after_fragment_{index}": policy_after(fragments[: index + 1]) for index in range(number)}
    return {"fragments": fragments, "expected": expected}


def _fragment(random: Random, scopes: Sequence[str], *, lenient: bool) -> dict[str, Any]:
    loose = lenient and random.random() < 0.6
    constraints: dict[str, Any] = {
        "retention": _retention(random, loose=loose),
        "reuse": REUSE[-1] if loose else random.choice(REUSE),
        "share_max": scopes[-1] if loose else random.choice(scopes),
    }
    if random.random() < 0.6:
        constraints["namespace"] = _namespace(random)
    return {"constraints": constraints}


def _retention(random: Random, *, loose: bool) -> dict[str, Any]:
    if not loose and random.random() < 0.2:
        return {"mode": "forbid"}
    if random.random() < 0.4:
        return {"mode": "allow"}
    return {"mode": "allow", "max_age": random.choice(_BOUNDS)}
