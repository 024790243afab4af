"""`cctest vectors`: the contract's test vectors against the core, or against an adapter."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Final

import click

from cctest import __version__
from cctest.catalogue import load_catalogue
from cctest.cli.filters import filter_options, findings_option
from cctest.cli.outputs import Outputs, output_options
from cctest.datafile import SUFFIXES
from cctest.report.model import Report
from cctest.selection import Filter, Wanted
from cctest.vectors.generated import generate, is_generated
from cctest.vectors.implementation import Implementation
from cctest.vectors.load import bundled_vectors, finding_vectors, load_vectors
from cctest.vectors.model import Vector
from cctest.vectors.run import CORE, run_vectors
from cctest.verdict import Claim, Exit, decide

BY_NAME: Filter[Vector] = Filter(
    "vector", lambda vector: vector.name, lambda vector: vector.rules, lambda vector: vector.kind
)
_SECONDS: Final = 10.0


@click.command("vectors", short_help="Run the contract's test vectors against the core, or an adapter.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--adapter",
    metavar="COMMAND",
    help="Judge the implementation behind this command, which speaks the protocol of spec/adapter.md.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True, max=3600),
    help=f"Seconds that the adapter has for each answer; {_SECONDS:g} by default.",
)
@click.option("--seed", type=int, help="Makes the generated vectors repeatable; random by default.")
@findings_option
@filter_options
@output_options
def command(
    *,
    paths: Sequence[str],
    adapter: str | None,
    timeout: float | None,
    seed: int | None,
    findings: bool,
    wanted: Wanted,
    json_path: str | None,
    junit: str | None,
    quiet: bool,
) -> Exit:
    """Run test vectors against cctest's own core, or against any implementation that has an adapter.

    The vectors are the bundled ones and some that are generated from the seed; or those of the given files
    and folders.
    """
    if timeout is not None and adapter is None:
        raise click.UsageError("--timeout is for an adapter: give --adapter")
    if adapter is not None and any(
        not Path(path).is_dir() and Path(path).suffix not in SUFFIXES for path in paths
    ):
        raise click.UsageError(
            f"{paths[0]} holds no vectors: if it belongs to the adapter, quote the whole command line,"
            f" as in --adapter '{adapter} {paths[0]}'"
        )
    if findings and paths:
        raise click.UsageError("--findings has vectors of its own: leave out the paths")
    if seed is not None and (paths or findings):
        raise click.UsageError("--seed is for generated vectors, which go with the bundled ones only")
    outputs = Outputs(json_path, junit, quiet)
    outputs.check(*paths)
    started, clock = datetime.now(UTC), monotonic()
    seed = None if findings else _seed(seed, paths)
    everything = finding_vectors() if findings else _vectors(paths, seed)
    chosen = BY_NAME.narrow(everything, wanted, load_catalogue())
    with _under_test(adapter, _SECONDS if timeout is None else timeout) as subject:
        checks, readings, unasserted = run_vectors(chosen, subject.implementation)
    return outputs.publish(
        Report(
            command="vectors",
            started=started.isoformat(timespec="seconds"),
            seconds=monotonic() - clock,
            verdict=decide(checks),
            checks=checks,
            readings=readings,
            notes=(*subject.notes, *_notes(chosen, everything, seed)),
            partial=findings or len(chosen) != len(everything),
            unasserted=unasserted,
            seed=seed,
            target=adapter,
            implementation=subject.claim,
        )
    )


@dataclass(slots=True)
class _Subject:
    """What is judged; `notes` are complete once it is over."""

    implementation: Implementation
    claim: Claim
    notes: tuple[str, ...] = ()


@contextmanager
def _under_test(adapter: str | None, seconds: float) -> Iterator[_Subject]:
    if adapter is None:
        yield _Subject(CORE, Claim("cctest's own core", __version__))
        return
    from cctest.adapter.implementation import Adapter
    from cctest.adapter.session import Session

    session = Session(adapter, seconds)
    with session:
        subject = _Subject(Adapter(session), session.claim)
        yield subject
    subject.notes = (f"judged: {session.claim}, by its own word; run as `{adapter}`", *session.notes)


def _seed(seed: int | None, paths: Sequence[str]) -> int | None:
    if paths:
        return None
    return secrets.randbelow(2**32) if seed is None else seed


def _vectors(paths: Sequence[str], seed: int | None) -> tuple[Vector, ...]:
    if seed is None:
        return load_vectors(map(Path, paths))
    return (*bundled_vectors(), *generate(seed))


def _notes(chosen: Sequence[Vector], everything: Sequence[Vector], seed: int | None) -> Iterator[str]:
    generated = sum(is_generated(vector.name) for vector in chosen)
    if generated and seed is not None:
        yield f"{generated} of the vectors were generated; `--seed {seed}` makes the same ones again"
    if len(chosen) != len(everything):
        yield f"{len(chosen)} of {len(everything)} vectors were selected: this is no verdict on the others"
