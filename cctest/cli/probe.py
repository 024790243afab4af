"""`cctest probe`: a server over HTTP."""

import secrets
from dataclasses import replace
from pathlib import Path

import click

from cctest.baseline.file import load_baseline
from cctest.baseline.judge import excuse, stand
from cctest.cli.baseline import today
from cctest.cli.dry_run import estimate_text
from cctest.cli.filters import filter_options, findings_option
from cctest.cli.outputs import Outputs, output_options
from cctest.cli.target import ChosenTarget, target_options
from cctest.cli.two_ends import ChosenEngine, engine_options
from cctest.probe.choice import choose, left_out
from cctest.probe.estimate import estimate
from cctest.probe.load import finding_cases, load_cases
from cctest.probe.run import DEFAULT_JOBS, ProbePlan, run_probe
from cctest.report.destination import say
from cctest.report.progress import progress
from cctest.selection import Wanted
from cctest.verdict import Exit


@click.command("probe", short_help="Test a server over HTTP.")
@target_options
@engine_options
@findings_option
@filter_options
@click.option("--seed", type=int, help="Makes the order and every choice repeatable; random by default.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=DEFAULT_JOBS,
    show_default=True,
    help="Exchanges under way at a time.",
)
@click.option(
    "--full", is_flag=True, help="Run every combination of a case's axes, not every pair of values."
)
@click.option(
    "--baseline", metavar="FILE", help="Known failures, which don't fail the run; see cctest baseline."
)
@click.option(
    "--timing",
    type=click.IntRange(0, 10_000),
    default=0,
    help="Also compare response times, in so many trials of four requests; 40 is a start.",
)
@click.option("--dry-run", is_flag=True, help="Say what the probe would cost, and send nothing.")
@output_options
def command(
    *,
    chosen: ChosenTarget,
    engine: ChosenEngine,
    findings: bool,
    wanted: Wanted,
    seed: int | None,
    jobs: int,
    full: bool,
    timing: int,
    dry_run: bool,
    baseline: str | None,
    json_path: str | None,
    junit: str | None,
    quiet: bool,
) -> Exit:
    """Send requests to a server and judge by its responses whether it keeps the contract.

    Isolation between tenants needs credentials of two tenants in the configuration file.
    """
    outputs = Outputs(json_path, junit, quiet)
    outputs.check(chosen.file, baseline)
    engine.check(bundled=chosen.bundled)
    everything = finding_cases() if findings else load_cases()
    cases = choose(everything, wanted)
    known = load_baseline(Path(baseline)) if baseline is not None else None
    if dry_run:
        if json_path or junit:
            raise click.UsageError("--dry-run makes no report: leave out --json and --junit")
        configuration = chosen.read()
        say(
            estimate_text(
                estimate(configuration, cases, jobs, full=full, engine=engine.two_ended), configuration.rate
            )
        )
        return Exit.OK
    with engine.opened() as ends, chosen.opened(ends.gateway) as configuration:
        plan = ProbePlan(
            configuration=configuration,
            cases=cases,
            total=len(everything),
            seed=secrets.randbelow(2**32) if seed is None else seed,
            jobs=jobs,
            full=full,
            engine=ends.record,
            timing=timing,
        )
        with progress(quiet=quiet) as tell:
            report = run_probe(plan, lambda state: tell(state.cells, state.checks))
        engine_notes = ends.gateway.notes()
    notes = (*report.notes, *engine_notes, *left_out(everything, cases))
    report = replace(report, notes=notes, partial=report.partial or findings or cases != everything)
    if known is not None:
        report = excuse(report, stand(known, everything, report.checks, today()))
    return outputs.publish(report)
