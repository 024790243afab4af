"""What a flip is: one rule of the core turned round, and vectors that have to notice."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True, slots=True)
class Flip:
    """`apply` breaks the core for one test; `caught_by` names vectors that must go red, not all that do."""

    name: str
    apply: Callable[[pytest.MonkeyPatch], None]
    caught_by: frozenset[str]


def flip(name: str, apply: Callable[[pytest.MonkeyPatch], None], *caught_by: str) -> Flip:
    return Flip(name, apply, frozenset(caught_by))
