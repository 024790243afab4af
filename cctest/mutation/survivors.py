"""Survivors among the generated mutants, and why each need not be killed (`vectors/survivors.yaml`).

A mutant's name holds a digest of the statement that it changes: where the code changes, the argument no
longer applies to anything, which is told.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from cctest import bundle, datafile
from cctest.problem import UsageProblem

UNKILLABLE: Final = frozenset({"equivalent", "conforming", "beyond the contract"})
"""Kinds of arguments by which a suite would be wrong to fail the mutant."""
GAP: Final = "gap"
"""The kind of a survivor that the suite ought to find, and doesn't yet."""


@dataclass(frozen=True, slots=True)
class Argument:
    """Why a survivor need not be killed, or that it should be; `survivors.schema.json` explains the kinds."""

    kind: str
    why: str
    where: str


def load_survivors(path: Path = bundle.SURVIVORS) -> Mapping[str, Argument]:
    """Read the arguments by mutant. Raises UsageProblem, with file, line and column."""
    file = datafile.read(path)
    datafile.require(file, datafile.validator("survivors.schema.json"), file.parsed.value)
    content: Any = file.parsed.value
    arguments: dict[str, Argument] = {}
    for index, group in enumerate(content["survivors"]):
        for place, name in enumerate(group["mutants"]):
            pointer = f"/survivors/{index}/mutants/{place}"
            if name in arguments:
                raise file.problem(pointer, f"`{name}` is argued for twice")
            arguments[name] = Argument(group["kind"], group["why"], file.where(pointer))
    return arguments


def require_fresh(arguments: Mapping[str, Argument], known: Collection[str]) -> None:
    """Raise UsageProblem for arguments about mutants that there are no more, since the code has changed."""
    stale = [(name, argument) for name, argument in arguments.items() if name not in known]
    if stale:
        name, argument = stale[0]
        more = f" (and {len(stale) - 1} more)" if len(stale) > 1 else ""
        raise UsageProblem(
            f"there is no mutant {name} any more{more}: the code that the argument is about has changed",
            where=argument.where,
            hint="run `cctest mutate --generated` and argue anew for what survives",
        )
