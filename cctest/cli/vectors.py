"""`cctest vectors`: the contract's test vectors against the core."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

import click

from cctest.catalogue import load_catalogue
from cctest.cli.filters import filter_options
from cctest.cli.outputs import Outputs, output_options
from cctest.report.model import Report
from cctest.selection import Filter, Wanted
from cctest.vectors.load import bundled_vectors, load_vectors
from cctest.vectors.model import Vector
from cctest.vectors.run import run_vectors
from cctest.verdict import Exit, decide

BY_NAME: Filter[Vector] = Filter(
    "vector", lambda vector: vector.name, lambda vector: vector.rules, lambda vector: vector.kind
)


@click.command("vectors", short_help="Run the contract's test vectors against the core.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@filter_options
@output_options
def command(
    *,
    paths: Sequence[str],
    wanted: Wanted,
    json_path: str | None,
    junit: str | None,
    quiet: bool,
) -> Exit:
    """Run the bundled test vectors, or those of the given files and folders, against cctest's own core."""
    outputs = Outputs(json_path, junit, quiet)
    outputs.check()
    started, clock = datetime.now(UTC), monotonic()
    everything = load_vectors(map(Path, paths)) if paths else bundled_vectors()
    chosen = BY_NAME.narrow(everything, wanted, load_catalogue())
    checks, readings, unasserted = run_vectors(chosen)
    return outputs.publish(
        Report(
            command="vectors",
            started=started.isoformat(timespec="seconds"),
            seconds=monotonic() - clock,
            verdict=decide(checks),
            checks=checks,
            readings=readings,
            notes=_notes(chosen, everything),
            partial=len(chosen) != len(everything),
            unasserted=unasserted,
        )
    )


def _notes(chosen: Sequence[Vector], everything: Sequence[Vector]) -> tuple[str, ...]:
    if len(chosen) == len(everything):
        return ()
    return (f"{len(chosen)} of {len(everything)} vectors were selected: this is no verdict on the others",)
