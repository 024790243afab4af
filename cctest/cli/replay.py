"""`cctest replay`: what didn't pass in an earlier run, once more."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click

from cctest.bundle import suite_digest
from cctest.cli.outputs import Outputs, output_options
from cctest.cli.target import ChosenTarget, target_options
from cctest.cli.two_ends import ChosenEngine, engine_options
from cctest.probe.load import load_cases
from cctest.probe.replay import replay_of
from cctest.probe.run import DEFAULT_JOBS, ProbePlan, run_probe
from cctest.report.destination import STDOUT, complain, say
from cctest.report.model import Report, cell_name
from cctest.report.plain import plain
from cctest.report.progress import progress
from cctest.report.recorded import load_report
from cctest.verdict import Check, Exit


@click.command("replay", short_help="Run again what didn't pass in a report.")
@click.argument("report", metavar="REPORT")
@click.argument("name", metavar="CASE|CHECK")
@target_options
@engine_options
@click.option("--all", "everything", is_flag=True, help="Run the cells that passed as well.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=DEFAULT_JOBS,
    show_default=True,
    help="Exchanges under way at a time.",
)
@output_options
def command(
    *,
    report: str,
    name: str,
    chosen: ChosenTarget,
    engine: ChosenEngine,
    everything: bool,
    jobs: int,
    json_path: str | None,
    junit: str | None,
    quiet: bool,
) -> Exit:
    """Run one case again, in the cells of it that didn't pass in REPORT, which `cctest probe --json` wrote.

    The seed is the report's, but every text is new: nothing of the earlier run can be found in a cache. Says
    for each check what it was and what it is. The exit code is that of the new run.
    """
    outputs = Outputs(json_path, junit, quiet)
    outputs.check(report, chosen.file)
    engine.check(bundled=chosen.bundled)
    earlier, cases = load_report(Path(report)), load_cases()
    again = replay_of(earlier, name, cases, everything=everything)
    if again.case.two_ended and not engine.two_ended:
        raise click.UsageError(f"{again.case.id} looks at the engine behind the target: give --engine URL")
    with engine.opened() as ends, chosen.opened(ends.gateway) as configuration:
        plan = ProbePlan(
            configuration=configuration,
            cases=(again.case,),
            total=len(cases),
            seed=earlier.seed or 0,
            jobs=jobs,
            full=True,
            only=again.wants,
            engine=ends.record,
        )
        with progress(quiet=quiet) as tell:
            later = run_probe(plan, lambda state: tell(state.cells, state.checks))
    notes = (*later.notes, *_differences(earlier, later))
    show = complain if STDOUT in (json_path, junit) else say
    show("".join(f"{plain(line)}\n" for line in _lines(tuple(again.compare(later.checks)))))
    return outputs.publish(replace(later, notes=notes))


def _lines(pairs: Sequence[tuple[Check, Check]]) -> Iterator[str]:
    yield f"{'then':<13} {'now':<13}"
    for then, now in pairs:
        cell = cell_name(now.cell)
        yield f"{then.result:<13} {now.result:<13} {now.id}{f' [{cell}]' if cell else ''}"
    yield ""


def _differences(earlier: Report, later: Report) -> Iterator[str]:
    if earlier.target != later.target:
        yield f"the report was of another target: {earlier.target}"
    if earlier.suite_digest != suite_digest():
        yield "the report was made with another version of the suite"
