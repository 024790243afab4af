from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pytest

from cctest.problem import UsageProblem
from cctest.selection import Filter, Wanted, match, select

KNOWN = ("alpha", "beta", "gamma")
RULES = {"alpha": ("RET-1",), "beta": ("RET-1", "POL-2"), "gamma": ()}
CATALOGUE = ("RET-1", "RET-2", "POL-2")
GROUPS = {"alpha": "vowels", "beta": "consonants", "gamma": "consonants"}
BY_NAME: Filter[str] = Filter("case", str, lambda name: RULES[name], lambda name: GROUPS[name])


@dataclass(frozen=True)
class Thing:
    name: str
    checks: tuple[str, ...]

    def without(self, checks: Collection[str]) -> "Thing":
        return Thing(self.name, tuple(check for check in self.checks if check not in checks))


THINGS = (Thing("alpha", ("alpha#x", "alpha#y")), Thing("beta", ("beta#x",)))
BY_CHECK: Filter[Thing] = Filter(
    "case", lambda thing: thing.name, lambda _: (), lambda _: "", lambda thing: thing.checks, Thing.without
)


def narrow(**wanted: Sequence[str]) -> tuple[str, ...]:
    return BY_NAME.narrow(KNOWN, Wanted(**wanted), CATALOGUE)


def left_of(*excluded: str) -> dict[str, tuple[str, ...]]:
    return {thing.name: thing.checks for thing in BY_CHECK.narrow(THINGS, Wanted(excluded=excluded), ())}


def test_no_name_selects_everything_in_order() -> None:
    assert select((), KNOWN, "case") == KNOWN


def test_names_are_selected_in_the_order_of_what_is_known() -> None:
    assert select(("gamma", "alpha", "gamma"), KNOWN, "case") == ("alpha", "gamma")


def test_an_unknown_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageProblem) as caught:
        select(("Gama",), KNOWN, "case")
    assert str(caught.value) == "there is no case 'Gama'\n  did you mean 'gamma'?"


def test_a_glob_finds_every_name_that_it_fits() -> None:
    assert match(("*a", "al?ha"), ("alpha", "beta", "delta", "mu"), "case") == {"alpha", "beta", "delta"}


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("gamm", "there is no case 'gamm'\n  did you mean 'gamma'?"),
        ("gamm-*", "no case fits 'gamm-*'\n  did you mean 'gamma'?"),
        ("z*", "no case fits 'z*'\n  known: alpha, beta, gamma"),
        ("GAMMA", "there is no case 'GAMMA'\n  did you mean 'gamma'?"),
    ],
)
def test_a_pattern_that_finds_nothing_is_told_with_the_nearest(pattern: str, told: str) -> None:
    with pytest.raises(UsageProblem) as caught:
        match((pattern,), KNOWN, "case")
    assert str(caught.value) == told


def test_names_rules_and_groups_narrow_together() -> None:
    assert narrow() == KNOWN
    assert narrow(rules=("POL-2", "RET-2")) == ("beta",)
    assert narrow(names=("alpha", "gamma"), rules=("RET-1",)) == ("alpha",)
    assert narrow(rules=("RET-*",), groups=("cons*",)) == ("beta",)
    assert narrow(groups=("consonants",), excluded=("g*",)) == ("beta",)


def test_excluding_a_check_leaves_the_others_of_its_case() -> None:
    assert left_of("alpha#x") == {"alpha": ("alpha#y",), "beta": ("beta#x",)}
    assert left_of("*#x") == {"alpha": ("alpha#y",)}
    assert left_of("alpha") == {"beta": ("beta#x",)}


def test_a_check_to_exclude_that_nobody_knows_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageProblem, match="there is no check 'alpha#z'\n  did you mean 'alpha#"):
        left_of("alpha#z")


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (Wanted(rules=("RET-2",)), "no case exercises RET-2"),
        (Wanted(names=("alpha",), groups=("consonants",)), "no case among alpha of group consonants is left"),
        (Wanted(names=("alpha",), excluded=("a*",)), r"no case among alpha is left once a\* is excluded"),
    ],
)
def test_an_empty_selection_is_a_problem(wanted: Wanted, told: str) -> None:
    with pytest.raises(UsageProblem, match=told):
        BY_NAME.narrow(KNOWN, wanted, CATALOGUE)


def test_nothing_to_choose_from_is_a_problem() -> None:
    with pytest.raises(UsageProblem, match="there is no case at all"):
        BY_NAME.narrow((), Wanted(), CATALOGUE)


def test_an_unknown_rule_or_group_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageProblem, match="did you mean 'RET-2'"):
        narrow(rules=("ret-2",))
    with pytest.raises(UsageProblem, match="there is no group 'vowel'\n  did you mean 'vowels'"):
        narrow(groups=("vowel",))
