"""The result of `cctest mutate` as the page shows it."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cctest.problem import UsageProblem

KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change made on purpose. `check` was to catch it; `killed_by` did."""

    id: str
    rules: tuple[str, ...]
    words: str
    status: str
    check: str
    killed_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mutation:
    """All mutants of one run, and their number by status."""

    mutants: tuple[Mutant, ...]
    counts: Mapping[str, int]

    @property
    def left(self) -> tuple[Mutant, ...]:
        """Those that their own check didn't catch."""
        return tuple(mutant for mutant in self.mutants if mutant.status != KILLED)


def load_mutation(path: Path) -> Mutation:
    """Read what `cctest mutate --json` wrote. Raises UsageProblem for a file that isn't that."""
    try:
        document = json.loads(path.read_bytes())
        mutants = tuple(map(_mutant, document["mutants"]))
    except OSError as error:
        raise UsageProblem(f"can't be read: {error.strerror}", where=str(path)) from None
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise UsageProblem(
            "is no result of `cctest mutate`", where=str(path), hint="`cctest mutate --json FILE` writes one"
        ) from None
    return Mutation(mutants, Counter(mutant.status for mutant in mutants))


def _mutant(members: Mapping[str, Any]) -> Mutant:
    rules = members.get("rules", members.get("rule", ()))
    return Mutant(
        id=str(members["id"]),
        rules=(rules,) if isinstance(rules, str) else tuple(map(str, rules)),
        words=str(members.get("words", "")),
        status=str(members["status"]),
        check=str(members.get("check", members.get("caught_by", ""))),
        killed_by=tuple(map(str, members.get("killed_by") or ())),
    )
