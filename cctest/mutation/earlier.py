"""What an earlier report says of mutants that are the same still: a run needs to judge only the others.

A mutant's name holds a digest of the statement that it changes, so one of the same name is the same change.
Who judged it may have changed since; that is told, and settled by running it again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cctest import datafile
from cctest.mutation.mutant import Finding, Status, Verdict

_HINT: Final = "`cctest mutate --json FILE` writes one"


def load_earlier(path: Path) -> Mapping[str, Verdict]:
    """Read the verdicts, by mutant, of a report that `cctest mutate --json` has written.

    Raises UsageProblem if it is none.
    """
    told = datafile.read_result(path, "mutation.schema.json", what="report of `cctest mutate`", hint=_HINT)
    return {one["id"]: _verdict(one) for one in told["mutants"]}


def _verdict(told: Mapping[str, Any]) -> Verdict:
    return Verdict(
        mutant=told["id"],
        status=Status(told["status"]),
        ran=told["ran"],
        findings=tuple(
            Finding(one["check"], tuple(one["rules"]), one["message"], one["cell"]) for one in told["failed"]
        ),
        whole=told["whole"],
        suspect=told["suspect"],
        note=told["note"],
        seconds=told["seconds"],
    )
