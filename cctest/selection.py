"""Choosing cases, vectors and rules by name; a name that nobody knows is a mistake, never an empty run."""

import difflib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Generic, TypeVar

from cctest.problem import UsageProblem

T = TypeVar("T")

_FEW: Final = 10
"""As many names are listed in a message."""

_GLOB: Final = frozenset("*?[")


def select(names: Sequence[str], known: Iterable[str], what: str) -> tuple[str, ...]:
    """Give the wanted names, all of `known` where none is wanted, in the order of `known`.

    `what` says what the names are, for example "case". Raises UsageProblem for an unknown name, with the
    nearest known one.
    """
    everything = tuple(dict.fromkeys(known))
    for name in names:
        if name not in everything:
            raise UsageProblem(f"there is no {what} {name!r}", hint=advice(name, everything, what))
    return tuple(name for name in everything if not names or name in names)


def match(patterns: Sequence[str], known: Iterable[str], what: str) -> frozenset[str]:
    """Give the known names that one of `patterns` is, or fits as a glob (`*`, `?`, `[...]`).

    Raises UsageProblem for a pattern that finds nothing, with the nearest known name.
    """
    everything = tuple(dict.fromkeys(known))
    found: set[str] = set()
    for pattern in patterns:
        if _GLOB.isdisjoint(pattern):
            found.update(select([pattern], everything, what))
            continue
        fitting = [name for name in everything if fnmatchcase(name, pattern)]
        if not fitting:
            raise UsageProblem(f"no {what} fits {pattern!r}", hint=advice(pattern, everything, what))
        found.update(fitting)
    return frozenset(found)


def advice(name: str, known: Sequence[str], what: str) -> str:
    """Say what would be right instead of an unknown name: the nearest one, all of a few, or where to look."""
    by_lower = {word.lower(): word for word in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    if near:
        return f"did you mean {by_lower[near[0]]!r}?"
    return f"known: {', '.join(known)}" if len(known) < _FEW else _whereabouts(what)


def _whereabouts(what: str) -> str:
    if what == "mutant":  # no part of the suite
        return (
            "vectors/mutants.yaml has every mutant, a JSON report of `mutate --generated` the generated ones"
        )
    return f"`cctest list` shows every {what}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for, each by name or glob. Nothing asked for means everything.

    `excluded` takes names, and identifiers of single checks (`case#expectation`).
    """

    names: Sequence[str] = ()
    rules: Sequence[str] = ()
    groups: Sequence[str] = ()
    excluded: Sequence[str] = ()

    def nothing(self, what: str) -> str:
        """Say that no `what` is of this kind."""
        among = f" among {', '.join(self.names)}" if self.names else ""
        group = f" of group {' or '.join(self.groups)}" if self.groups else ""
        verb = f"exercises {' or '.join(self.rules)}" if self.rules else "is left"
        excluded = f" once {', '.join(self.excluded)} is excluded" if self.excluded else ""
        return f"no {what}{among}{group} {verb}{excluded}"


def _no_checks(_item: object) -> tuple[str, ...]:
    return ()


def _unchanged(item: T, _checks: Collection[str]) -> T:
    return item


@dataclass(frozen=True, slots=True)
class Filter(Generic[T]):
    """Narrows things that have a name and a group and exercise rules; `what` is their name in messages.

    `checks_of` gives the identifiers of a thing's checks, `without` the thing with fewer of them.
    """

    what: str
    name_of: Callable[[T], str]
    rules_of: Callable[[T], Collection[str]]
    group_of: Callable[[T], str]
    checks_of: Callable[[T], Sequence[str]] = _no_checks
    without: Callable[[T, Collection[str]], T] = _unchanged

    def narrow(self, items: Sequence[T], wanted: Wanted, catalogue: Iterable[str]) -> tuple[T, ...]:
        """Keep the items that are named, of a named group, exercise a named rule, and aren't excluded.

        Of these conditions those apply for which anything is named. `catalogue` holds every rule that there
        is. Raises UsageProblem for unknown names, and where nothing is left.
        """
        if not items:
            raise UsageProblem(f"there is no {self.what} at all")
        names = match(wanted.names, map(self.name_of, items), self.what)
        groups = match(wanted.groups, filter(None, map(self.group_of, items)), "group")
        rules = match(wanted.rules, catalogue, "rule")
        kept = [
            item
            for item in items
            if (not wanted.names or self.name_of(item) in names)
            and (not wanted.groups or self.group_of(item) in groups)
            and (not wanted.rules or not rules.isdisjoint(self.rules_of(item)))
        ]
        left = self._without(items, kept, wanted.excluded)
        if not left:
            raise UsageProblem(wanted.nothing(self.what), hint=f"{_whereabouts(self.what)}, with its rules")
        return left

    def _without(self, items: Sequence[T], kept: Sequence[T], excluded: Sequence[str]) -> tuple[T, ...]:
        checks = {check: None for item in items for check in self.checks_of(item)}
        single = [name for name in excluded if "#" in name and checks]
        gone = match(single, checks, "check")
        gone |= match([name for name in excluded if name not in single], map(self.name_of, items), self.what)
        left = []
        for item in kept:
            own = self.checks_of(item)
            if self.name_of(item) in gone or (own and gone.issuperset(own)):
                continue
            left.append(item if gone.isdisjoint(own) else self.without(item, gone))
        return tuple(left)
