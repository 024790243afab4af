"""`cctest mutate`: our own implementation broken on purpose, to see the suite turn red."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import click

from cctest.bundle import suite_digest
from cctest.catalogue import load_catalogue
from cctest.mutation.catalogue import load_mutants
from cctest.mutation.earlier import load_earlier
from cctest.mutation.elements import elements_text
from cctest.mutation.generate import generate
from cctest.mutation.golden import judge_golden
from cctest.mutation.losses import load_census, losses
from cctest.mutation.mutant import Mutant, Verdict
from cctest.mutation.report import MutationReport, to_json
from cctest.mutation.session import WORKERS, Progress, run
from cctest.mutation.state import State
from cctest.mutation.survivors import load_survivors, require_fresh
from cctest.mutation.text import markdown_text, terminal_text
from cctest.mutation.worker import Suite
from cctest.probe.load import load_cases
from cctest.report.destination import check_destinations, complain, say, write_report
from cctest.selection import Filter, Wanted
from cctest.vectors.load import bundled_vectors
from cctest.verdict import Exit

BY_NAME: Filter[Mutant] = Filter(
    "mutant", lambda mutant: mutant.id, lambda mutant: mutant.rules, lambda mutant: mutant.family
)


@click.command("mutate", short_help="Break our own implementation, and see the suite find it.")
@click.option(
    "--mutant", "names", metavar="NAME", multiple=True, help="Only the one of this name, or a glob."
)
@click.option("--rule", "rules", metavar="ID", multiple=True, help="Only mutants that break this rule.")
@click.option(
    "--generated", is_flag=True, help="Only mutants that operators make of the source: many, and long."
)
@click.option(
    "--sample", type=click.IntRange(1), metavar="N", help="With --generated: only N, drawn by the suite."
)
@click.option("--whole", is_flag=True, help="Run every check for every mutant, not only until it is killed.")
@click.option("--jobs", type=click.IntRange(1, 64), default=WORKERS, help="Mutants judged at a time.")
@click.option(
    "--state",
    metavar="FILE",
    help="Keep what is found out there, and go on from it. A file of another kind is refused.",
)
@click.option(
    "--earlier",
    metavar="REPORT",
    help="Take over what an earlier JSON report says of mutants that are the same still, and judge those that"
    " it lacks, and those that are named. It is read before, so --json may replace it.",
)
@click.option("--json", "json_path", metavar="PATH", help="Write a JSON report; - is standard output.")
@click.option(
    "--elements-json", "elements", metavar="PATH", help="Write it in the mutation-testing report schema."
)
@click.option("--markdown", metavar="PATH", help="Write a report in Markdown.")
@click.option("-q", "--quiet", is_flag=True, help="Print the figures only.")
def command(
    *,
    names: Sequence[str],
    rules: Sequence[str],
    generated: bool,
    sample: int | None,
    whole: bool,
    jobs: int,
    state: str | None,
    earlier: str | None,
    json_path: str | None,
    elements: str | None,
    markdown: str | None,
    quiet: bool,
) -> Exit:
    """Break our core and our gateway, one rule at a time, and see whether the suite finds it.

    A mutant counts as killed only if the very check that is there for it fails. A crash kills nothing.
    """
    if generated and rules:
        raise click.UsageError(
            "generated mutants are made for no rule: leave out --rule, or name them by --mutant"
        )
    written = [path for path in (json_path, elements, markdown) if path is not None]
    check_destinations(written, (state,))
    check_destinations([path for path in written if path != json_path], (earlier,))
    vectors, cases = bundled_vectors(), load_cases()
    catalogue = generate() if generated else load_mutants()
    arguments = load_survivors() if generated else {}
    require_fresh(arguments, {mutant.id for mutant in catalogue})
    chosen = BY_NAME.narrow(catalogue, Wanted(names, rules), load_catalogue())
    if sample is not None and sample < len(chosen):
        chosen = tuple(random.Random(suite_digest()).sample(chosen, sample))  # noqa: S311 - no secret
    taken: Mapping[str, Verdict] = {}
    if earlier is not None:
        again = {mutant.id for mutant in chosen} if names or rules else set()
        taken = {name: told for name, told in load_earlier(Path(earlier)).items() if name not in again}
        chosen = tuple(catalogue)
    started, clock = datetime.now(UTC), monotonic()
    kept = State(None if state is None else Path(state), chosen, whole=whole)
    try:
        with _progress(quiet=quiet) as tell:

            def note(progress: Progress) -> None:
                if progress.verdict is not None:
                    kept.note(progress.verdict)
                tell(progress)

            suite = Suite(vectors, cases, whole=whole)
            baseline, verdicts = run(chosen, suite, note, known={**taken, **kept.known}, workers=jobs)
    finally:
        kept.close()
    report = MutationReport(
        started=started.isoformat(timespec="seconds"),
        seconds=monotonic() - clock,
        baseline=baseline.checks,
        judged=tuple(zip(chosen, verdicts, strict=True)),
        golden=tuple(judge_golden(vectors)) if len(chosen) == len(catalogue) and not generated else (),
        arguments=arguments,
        losses=() if generated else tuple(losses(catalogue, load_census(), vectors, cases)),
        whole=whole,
        notes=_notes(chosen, catalogue, kept, taken),
    )
    for path, text in ((json_path, _json_text), (elements, elements_text), (markdown, markdown_text)):
        if path is not None:
            write_report(path, text(report))
    say(terminal_text(report, quiet=quiet))
    return report.exit()


def _json_text(report: MutationReport) -> str:
    return json.dumps(to_json(report), ensure_ascii=False, indent=1) + "\n"


def _notes(
    chosen: Sequence[Mutant], everything: Sequence[Mutant], kept: State, taken: Mapping[str, Verdict]
) -> tuple[str, ...]:
    notes = []
    if len(chosen) != len(everything):
        notes.append(
            f"{len(chosen)} of {len(everything)} mutants were selected: this says nothing about the others"
        )
    if kept.known:
        notes.append(
            f"{len(kept.known)} verdicts are from an earlier part of the run, with the same code and suite"
        )
    over = sum(mutant.id in taken and mutant.id not in kept.known for mutant in chosen)
    if over:
        notes.append(
            f"{over} verdicts are of earlier runs: the mutants are the same still, while suite and setups may"
            " have changed"
        )
    return tuple(notes)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """Say on standard error how far the run has come, a line for each mutant."""

    def tell(progress: Progress) -> None:
        verdict = progress.verdict
        if not quiet and verdict is not None:
            complain(
                f"{progress.done}/{progress.total} {verdict.mutant}: {verdict.status},"
                f" {verdict.seconds:.1f} s\n"
            )

    yield tell
